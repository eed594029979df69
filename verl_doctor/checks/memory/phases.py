"""The phases of a step on one GPU, where trainer, critic and engine take turns."""

from __future__ import annotations

from . import engine, training
from .plan import Plan, Role
from .spans import NOTHING, Part, Phase, Span


def phases(plan: Plan, gpu: float | None) -> tuple[Phase, ...]:
    """The phases in the order of a step.

    Takes the bytes of a GPU, None where they aren't known: then the engine's share isn't either.
    verl loads what it offloaded before it works with it, and of the optimizer's states for the
    update alone (`BaseEngineCtx`, verl/workers/engine/base.py). The reference model stays on the
    host under FSDP (`CPUOffload`, transformer_impl.py) and passes as the actor's log_prob does.
    """
    actor, critic = plan.actor, plan.critic
    waiting = critic.resting if critic else NOTHING
    engine_off = Part("engine", _asleep(plan, gpu))
    found = [
        Phase(
            "rollout",
            (
                Part("trainer", actor.resting + waiting),
                Part("engine", _awake(plan, gpu)),
            ),
        ),
        _phase("log_prob", _looking(actor), Part("critic", waiting), engine_off),
        _phase(
            "update",
            training.update(actor.model, actor.update),
            Part("critic", waiting),
            engine_off,
        ),
    ]
    if critic:
        at_rest = Part("actor", actor.resting)
        found += [
            _phase("values", _looking(critic), at_rest, engine_off),
            _phase(
                "critic update",
                training.update(critic.model, critic.update),
                at_rest,
                engine_off,
            ),
        ]
    return (*found, _weight_sync(plan, waiting))


def _phase(name: str, own: Phase, *others: Part) -> Phase:
    return Phase(name, (*own.parts, *others))


def _looking(role: Role) -> Phase:
    states = role.model.optimizer.times(0 if role.states_leave else 1)
    found = training.look(role.model, role.look)
    return Phase(found.name, (*found.parts, Part("optimizer", states)))


def _weight_sync(plan: Plan, waiting: Span) -> Phase:
    actor, shape = plan.actor, plan.actor.model.shape
    states = actor.model.optimizer.times(0 if actor.states_leave else 1)
    copy = engine.transfer(shape, plan.bucket)
    held = Span.exactly(plan.engine.weights) if plan.engine else _awake(plan, None)
    return Phase(
        "weight sync",
        (
            Part("weights", actor.model.weights),
            Part("optimizer", states),
            Part("copy", copy),
            Part("engine's weights", held),
            Part("critic", waiting),
        ),
    )


def _awake(plan: Plan, gpu: float | None) -> Span | None:
    if plan.engine is None:
        return None if plan.engine_why else NOTHING  # it stands on GPUs of its own
    if gpu is None:
        return None
    return Span.exactly(plan.engine.share * gpu)


def _asleep(plan: Plan, gpu: float | None) -> Span | None:
    asleep = plan.engine_sleeps and (plan.engine is not None or plan.engine_why)
    return engine.asleep() if asleep else _awake(plan, gpu)
