"""Troubles injected into simulated healthy runs: how many are found, how soon, how well dated.

usage: python -m benchmarks.inject_troubles [RUNS]       prints the table of docs/metrics.md

A run is a healthy one of simulate_runs.py (noise, spikes, resumes) of 80 steps or more. At a random
step the trouble begins and stays; it is read line by line, as a live log is, for 40 more steps.
`10 steps` is the share of runs in which one of the rules named says so at most 10 step lines after
the onset, `40 steps` the same for 40, `delay` the median number of step lines until then, `dated`
the share of the found in which the first bad step lies within 3 steps of the true one.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.simulate_runs import Row, healthy_rows, step_line
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.knowledge.load import load
from verl_doctor.pipeline import Session
from verl_doctor.scan.database import Scanner

FOLLOWED = 40
"""Step lines read after the onset."""
SOON = 10
DATED = 3
"""Steps by which the first bad step may be off."""

Values = dict[str, float]
Change = Callable[[Values, int, random.Random], None]
"""Makes a step's metrics bad: takes them, the steps since the onset (1 the first), chance."""
VALIDATION = "val-core/simulated/acc/mean@1"


@dataclass(frozen=True)
class Trouble:
    """A way in which a run goes wrong, and the rules any of which names it."""

    name: str
    rules: tuple[str, ...]
    change: Change
    ppo: bool = False
    """Only runs with a critic have it."""
    before: Change | None = None
    """What the metrics of every step have beside the simulation's; takes the step itself."""
    samples: Callable[[int], str] | None = None
    """Lines printed before the step line, of a step since the onset."""


@dataclass(frozen=True)
class Found:
    """What became of one injected run."""

    delay: int | None
    """Step lines from the onset until it was said, None if never."""
    off: int
    """Steps between the first bad step that was named and the true one."""


def _set(**values: float) -> Change:
    named = {key.replace("__", "/"): value for key, value in values.items()}
    return lambda metrics, k, rng: metrics.update(named)


def _times(key: str, factor: Callable[[int], float]) -> Change:
    def change(metrics: Values, k: int, rng: random.Random) -> None:
        metrics[key] = metrics[key] * factor(k)

    return change


def _around(key: str, level: float, noise: float = 0.05) -> Change:
    """The metric moves to another level, with noise relative to it."""
    return lambda metrics, k, rng: metrics.update({key: level * rng.uniform(1 - noise, 1 + noise)})


def _between(key: str, low: float, high: float) -> Change:
    return lambda metrics, k, rng: metrics.update({key: rng.uniform(low, high)})


def _validates(metrics: Values, step: int, rng: random.Random) -> None:
    if step % 5 == 0:
        metrics[VALIDATION] = rng.uniform(0.4, 0.5)


def _validation_frozen(metrics: Values, k: int, rng: random.Random) -> None:
    if VALIDATION in metrics:
        metrics[VALIDATION] = 0.4375


def _reward(value: float, spread: float) -> Change:
    def change(metrics: Values, k: int, rng: random.Random) -> None:
        for name in ("score", "rewards"):
            metrics[f"critic/{name}/mean"] = value
            metrics[f"critic/{name}/max"] = value + spread
            metrics[f"critic/{name}/min"] = value - spread
        if not spread:
            metrics.update({"critic/advantages/max": 0.0, "critic/advantages/min": 0.0})
            metrics["critic/advantages/mean"] = metrics["actor/pg_loss"] = 0.0

    return change


def _reward_at_ceiling(metrics: Values, k: int, rng: random.Random) -> None:
    for name in ("score", "rewards"):
        metrics[f"critic/{name}/mean"] = rng.uniform(0.99, 0.999)
        metrics[f"critic/{name}/max"] = 1.0


def _lengths_explode(metrics: Values, k: int, rng: random.Random) -> None:
    metrics["response_length/mean"] *= 1 + 0.35 * k
    metrics["response_length/clip_ratio"] = min(0.8, 0.05 * k)


def _truncated_without_signal(metrics: Values, k: int, rng: random.Random) -> None:
    _reward(0.0, 0.0)(metrics, k, rng)
    metrics["response_length/clip_ratio"] = rng.uniform(0.97, 1.0)


def _reward_collapses(metrics: Values, k: int, rng: random.Random) -> None:
    for name in ("score", "rewards"):
        metrics[f"critic/{name}/mean"] = abs(rng.gauss(0.001, 0.0005))


def _slow_reward(metrics: Values, k: int, rng: random.Random) -> None:
    metrics["timing_s/reward"] = rng.uniform(300, 400)
    metrics["timing_s/step"] += metrics["timing_s/reward"]


def _slow_rollout(metrics: Values, k: int, rng: random.Random) -> None:
    metrics["timing_s/gen"] = rng.uniform(1500, 2000)
    metrics["timing_s/step"] = metrics["timing_s/gen"] * rng.uniform(1.03, 1.07)


def _repeats(k: int) -> str:
    return f"[prompt] q{k}\n[response] {'!' * 300}\n[ground_truth] {k}\n[score] 0.0\n"


NAN = math.nan
TROUBLES = (
    Trouble("gradient norm NaN", ("MET001",), _set(actor__grad_norm=NAN)),
    Trouble("loss NaN", ("MET002",), _set(actor__pg_loss=NAN)),
    Trouble("rewards NaN", ("MET003",), _set(critic__score__mean=NAN, critic__rewards__mean=NAN)),
    Trouble("entropy and KL NaN", ("MET004",), _set(actor__entropy=NAN, actor__kl_loss=NAN)),
    Trouble(
        "KL explodes", ("MET006",), lambda m, k, rng: m.update({"actor/kl_loss": 0.3 * 1.6**k})
    ),
    Trouble("KL drifts away", ("MET007",), _around("actor/kl_loss", 0.9, 0.3)),
    Trouble("ppo_kl large", ("MET008",), _around("actor/ppo_kl", 0.5, 0.3)),
    Trouble("KL coefficient runs away", ("MET047",),
            lambda m, k, rng: m.update({"actor/reward_kl_penalty_coeff": 0.001 * 1.6**k}),
            before=_set(actor__reward_kl_penalty_coeff=0.001)),
    Trouble("entropy collapses", ("MET009",), _around("actor/entropy", 0.002, 0.5)),
    Trouble("entropy explodes", ("MET011",), _around("actor/entropy", 7.0, 0.2)),
    Trouble("gradient norm explodes", ("MET012",), _times("actor/grad_norm", lambda k: 1.9**k)),
    Trouble("gradient norm 0", ("MET013",), _set(actor__grad_norm=0.0)),
    Trouble("reward exactly 0", ("MET020", "MET023"), _reward(0.0, 0.0)),
    Trouble("reward stands still", ("MET021",), _reward(0.4375, 0.0)),
    Trouble("reward is the penalty", ("MET022",), _reward(-1.0, 0.0)),
    Trouble("reward collapses", ("MET060", "MET044"), _reward_collapses),
    Trouble("reward at its ceiling", ("MET048",), _reward_at_ceiling),
    Trouble("advantages all 0", ("MET023",),
            _set(critic__advantages__max=0.0, critic__advantages__min=0.0)),
    Trouble("groups without variance", ("MET049",),
            _between("frac_reward_zero_std", 0.85, 1.0),
            before=_between("frac_reward_zero_std", 0.2, 0.5)),
    Trouble("many responses cut", ("MET025",), _around("response_length/clip_ratio", 0.6, 0.2)),
    Trouble("all cut, no signal", ("MET024",), _truncated_without_signal),
    Trouble("responses grow into the limit", ("MET056",), _lengths_explode),
    Trouble("responses shrink to nothing", ("MET026",), _around("response_length/mean", 4.0, 0.2)),
    Trouble("responses empty", ("MET036",), _around("response/aborted_ratio", 0.8, 0.1),
            before=_set(response__aborted_ratio=0.0)),
    Trouble("rollout/trainer gap", ("MET028",), _around("training/rollout_probs_diff_mean", 0.03)),
    Trouble("clip fraction high", ("MET030",), _around("actor/pg_clipfrac", 0.5, 0.2)),
    Trouble("value loss explodes", ("MET032",), _times("critic/vf_loss", lambda k: 4.0**k),
            ppo=True),
    Trouble("learning rate 0", ("MET033",), _set(actor__lr=0.0)),
    Trouble("throughput steps down", ("MET053", "MET034"),
            _times("perf/throughput", lambda k: 0.5)),
    Trouble("MFU steps down", ("MET052",), _times("perf/mfu/actor", lambda k: 0.5)),
    Trouble("reward takes half the step", ("MET050",), _slow_reward),
    Trouble("rollout takes the whole step", ("MET051",), _slow_rollout),
    Trouble("host memory creeps", ("MET035",),
            _times("perf/cpu_memory_used_gb", lambda k: 1 + 0.012 * k)),
    Trouble("GPU memory creeps", ("MET054",),
            _times("perf/max_memory_reserved_gb", lambda k: 1 + 0.01 * k)),
    Trouble("validation frozen (every 5 steps)", ("MET037",), _validation_frozen,
            before=_validates),
    Trouble("responses repeat themselves", ("MET057",), lambda m, k, rng: None, samples=_repeats),
)  # fmt: skip


def injected(trouble: Trouble, rng: random.Random) -> tuple[list[Row], int]:
    """A healthy run that the trouble strikes; the rows, and the index of the first bad one."""
    while True:
        rows = list(healthy_rows(rng))
        if len(rows) > 80 and (not trouble.ppo or "critic/vf_loss" in rows[0][1]):
            break
    onset = rng.randrange(40, len(rows) - FOLLOWED) if len(rows) > 90 else 40
    rows = rows[: onset + FOLLOWED]
    for step, values in rows:
        if trouble.before is not None:
            trouble.before(values, step, rng)
    for k, (_, values) in enumerate(rows[onset:], 1):
        trouble.change(values, k, rng)
    return rows, onset


def strike(trouble: Trouble, seed: int, base: RuleBase, scanner: Scanner) -> Found:
    """Injects the trouble into a run, reads it as it would grow, and says what was found."""
    rng = random.Random(f"{trouble.name} {seed}")
    rows, onset = injected(trouble, rng)
    session = Session(base, scanner)
    session.begin("run", [])
    session.feed("".join(step_line(*row) + "\n" for row in rows[:onset]).encode())
    before = _steps(session, trouble)
    for k, row in enumerate(rows[onset:], 1):
        samples = trouble.samples(k) if trouble.samples else ""
        session.feed((samples + step_line(*row) + "\n").encode())
        found = {rule: step for rule, step in _steps(session, trouble) if rule not in dict(before)}
        if found:
            return Found(k, min(abs(step - rows[onset][0]) for step in found.values()))
    return Found(None, 0)


def _steps(session: Session, trouble: Trouble) -> list[tuple[str, int]]:
    """The trouble's rules that hold, each with the first bad step that it names."""
    report = session.report()
    return [
        (one.rule, one.curve.first_bad if one.curve else report.phase.step or 0)
        for one in report.findings
        if one.rule in trouble.rules
    ]


def table(runs: int, base: RuleBase, scanner: Scanner) -> Iterator[str]:
    """The table as Markdown, a line at a time."""
    yield "| trouble | rule | 10 steps | 40 steps | delay | dated |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for trouble in TROUBLES:
        found = [strike(trouble, seed, base, scanner) for seed in range(runs)]
        delays = [one.delay for one in found if one.delay is not None]
        soon = sum(delay <= SOON for delay in delays)
        dated = sum(one.delay is not None and one.off <= DATED for one in found)
        yield (
            f"| {trouble.name} | {', '.join(trouble.rules)} | {soon / runs:.0%} "
            f"| {len(delays) / runs:.0%} | {median(delays) if delays else '-'} "
            f"| {dated / max(1, len(delays)):.0%} |"
        )


def main() -> None:
    """Prints the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    for line in table(runs, *load()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
