"""Will it fit? Memory of a GPU by phase, with the error stated."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import Fix, Severity, Text
from ..config.settings import Settings
from ..config.sizes import ACTOR, ROLLOUT
from ..types import Result, ok, unknown
from . import megatron
from .engine import Engine
from .phases import phases
from .plan import Unreadable, of_megatron, plan
from .spans import GIB, Phase

__all__ = ["CHECK", "check"]

CHECK = "config.memory"
MODEL = "actor_rollout_ref.model.path"
NEAR = 1.2
"""Lower bound over the GPU's memory from which it is told: measured peaks were up to 14 % below it
(docs/checks.md)."""
FAR = 1.4
"""From here on no change of a detail would make it fit."""


def check(settings: Settings, gpu: float | None) -> Iterator[Result]:
    """The table of the phases, and what clearly does not fit.

    Takes the settings of the run and the bytes of one of its GPUs, None where they aren't known.
    Nothing is said of a run that names no model of its own.
    """
    if not settings.name.startswith("ppo") or MODEL not in settings.given:
        return
    try:
        if settings.get(f"{ACTOR}.strategy") == "megatron":
            shape = of_megatron(settings)
            yield _judged((megatron.update(shape, settings),), (), gpu, padded=True)
            return
        found = plan(settings)
    except Unreadable as missing:
        yield unknown(CHECK, f"No estimate: {missing.en}.", f"无法估算：{missing.zh}。")
        return
    cache: tuple[str, ...] = (found.engine.row(gpu),) if found.engine and gpu else ()
    if found.engine_why:
        cache = (f"{'engine':<13} not estimated ({found.engine_why}): in no number above",)
    yield _judged(phases(found, gpu), cache, gpu, padded=found.padded)
    if found.engine and gpu:
        yield from _cache(found.engine, gpu)


def _judged(
    found: tuple[Phase, ...], cache: tuple[str, ...], gpu: float | None, *, padded: bool
) -> Result:
    rows = (*(phase.row() for phase in found), *cache)
    fullest = max(found, key=lambda phase: phase.known.low)
    low = fullest.known.low
    if gpu is None or low <= NEAR * gpu:
        return _open(found, rows, gpu)
    severity: Severity = "high" if low > FAR * gpu else "medium"
    if not padded and low - _of_tokens(fullest) <= NEAR * gpu:
        severity = "medium"
    return Result(
        CHECK,
        "fault",
        Text(
            f"{fullest.name} needs at least {low / GIB:.0f} GiB on each GPU at full sequence "
            f"length, a GPU has {gpu / GIB:.0f}.",
            f"{fullest.name} 阶段（序列取满长）每张卡至少需要 {low / GIB:.0f} GiB，"
            f"而单卡只有 {gpu / GIB:.0f} GiB。",
        ),
        severity,
        rows,
        _fix(fullest),
        "CUD001",
    )


def _open(found: tuple[Phase, ...], rows: tuple[str, ...], gpu: float | None) -> Result:
    """No clear fault: it fits, or that can't be told."""
    peak = max(found, key=lambda phase: phase.known.high)
    size = peak.known.gib() if peak.complete else f"{peak.known.low / GIB:.1f} + ?"
    of = f" of {gpu / GIB:.0f}" if gpu else ""
    en, zh = "Memory of a GPU", "单卡显存"
    say = ok
    if gpu and (peak.known.high > gpu or not all(phase.complete for phase in found)):
        en, zh = "Whether it fits can't be told: memory of a GPU", "无法断定能否放下：单卡显存"
        say = unknown
    return say(
        CHECK,
        f"{en} at full sequence length: {size}{of} GiB in the fullest phase ({peak.name}).",
        f"{zh}（序列取满长）：占用最多的阶段（{peak.name}）为 {size}{of} GiB。",
        *rows,
    )


def _of_tokens(phase: Phase) -> float:
    """The bytes that shorter sequences would save, lower bound."""
    return sum(size.low for name in ("activations", "logits") if (size := phase.of(name)))


def _fix(phase: Phase) -> Fix:
    """The setting that lowers the largest part."""
    largest = max(phase.parts, key=lambda part: part.size.low if part.size else 0.0)
    if largest.name == "logits":
        return Fix(
            Text(
                "Fewer tokens at once (micro batch), or never build the full logits:",
                "减少一次处理的 token（micro batch），或不生成完整 logits：",
            ),
            set="actor_rollout_ref.model.use_fused_kernels=True",
            risk="medium",
        )
    if largest.name == "activations":
        return Fix(
            Text(
                "Fewer tokens at once (micro batch), gradient checkpointing on, or sequences split "
                "over GPUs:",
                "减少一次处理的 token（micro batch）、开启 gradient checkpointing，"
                "或把序列切分到多卡：",
            ),
            set=f"{ACTOR}.ulysses_sequence_parallel_size=2",
        )
    if phase.name in ("rollout", "weight sync"):
        return Fix(
            Text(
                "Let the trainer leave the GPU while the engine works, or give the engine a "
                "smaller share.",
                "让训练侧在推理期间离开 GPU，或调小推理引擎的占比。",
            ),
            set=f"{ACTOR}.fsdp_config.param_offload=True "
            f"{ACTOR}.fsdp_config.optimizer_offload=True {ROLLOUT}.gpu_memory_utilization=0.4",
        )
    return Fix(
        Text(
            "Shard over more GPUs, or keep parameters and states on the host (FSDP2):",
            "分片到更多 GPU，或用 FSDP2 把参数与优化器状态留在主机内存：",
        ),
        set=f"{ACTOR}.strategy=fsdp2 {ACTOR}.fsdp_config.offload_policy=True",
        risk="medium",
    )


def _cache(engine: Engine, gpu: float) -> Iterator[Result]:
    """An engine whose cache can't hold one full sequence: vLLM refuses to start."""
    if engine.tokens(gpu) >= engine.length:
        return
    yield Result(
        CHECK,
        "fault",
        Text(
            f"The engine's share ({engine.share:g} of {gpu / GIB:.0f} GiB) less its weights "
            f"({engine.weights / GIB:.1f} GiB) holds {engine.tokens(gpu):,} tokens of KV cache, "
            f"less than one sequence of prompt + response ({engine.length:,}).",
            f"推理引擎的份额（{gpu / GIB:.0f} GiB 的 {engine.share:g}）减去权重"
            f"（{engine.weights / GIB:.1f} GiB）后，KV cache 只能放 {engine.tokens(gpu):,} 个 "
            f"token，不足一条完整序列（{engine.length:,}）。",
        ),
        "high",
        (engine.row(gpu),),
        Fix(
            Text("Cut the model over more GPUs.", "把模型切分到更多 GPU。"),
            set=f"{ROLLOUT}.tensor_model_parallel_size={2 * engine.tensor}",
        ),
        "VLM006",
    )
