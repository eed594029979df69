"""The batch arithmetic: one table, and the assertion that verl would stop at.

What each release asserts was read in its sources: `validate_config` (in ray_trainer.py up to 0.5,
verl/utils/config.py from 0.6), the normalisation in the FSDP and Megatron workers (up to 0.7.1) and
the engine workers (`train_mini_batch`, from 0.8; prepare_micro_batches).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from packaging.version import Version

from ...model import Fix, Text
from ..types import Result, ok, unknown
from .settings import UNKNOWN, Settings
from .sizes import ACTOR, ROLLOUT, Sizes, sizes, table, uses_critic

CHECK = "config.batch"
MAX_TRIED = 10_000
"""Sizes that are tried for one that divides another."""
ENGINE_WORKERS = Version("0.8")
"""From here on only the engine workers exist; before, the legacy workers are the default."""


def check(settings: Settings) -> Iterator[Result]:
    """The assertions of this release that the sizes would run into, first those that come first."""
    if not settings.name.startswith("ppo"):
        return
    found = sizes(settings)
    faults = validation(settings)
    faults += _workers(found, settings) if not faults else ()
    yield from faults
    if faults:
        return
    missing = [key for key in _KEYS if settings.get(key) is UNKNOWN]
    if missing:
        yield unknown(
            CHECK,
            "These sizes could not be told, so the arithmetic was checked only in part.",
            "以下数值无法得知，批大小只做了部分检查。",
            *missing,
            *table(found),
        )
    else:
        yield ok(CHECK, "The batch sizes fit together.", "各批大小相互匹配。", *table(found))


def validation(settings: Settings) -> list[Result]:
    """The faults that verl's own validation would stop at, before anything is started."""
    return list(_validate(sizes(settings), settings))


_KEYS = (
    "trainer.n_gpus_per_node",
    "trainer.nnodes",
    "data.train_batch_size",
    f"{ROLLOUT}.n",
    f"{ACTOR}.ppo_mini_batch_size",
    f"{ROLLOUT}.tensor_model_parallel_size",
)


def _validate(found: Sizes, settings: Settings) -> Iterator[Result]:
    """What `validate_config` and the config classes assert, before anything is started."""
    version = Version(settings.release)
    samples, gpus = found.samples(found.train), found.gpus
    if (not found.dynamic or version < Version("0.6")) and gpus:
        smallest: int | None = gpus
        if found.megatron and found.model_parallel:
            if gpus % found.model_parallel:
                yield _fault(
                    found,
                    f"{gpus} GPUs can't be cut into model-parallel groups of "
                    f"{found.model_parallel}.",
                    f"{gpus} 张卡无法按模型并行组大小 {found.model_parallel} 整除。",
                    f"n_gpus ({gpus}) must be divisible by model_parallel_size",
                    "VRL003",
                )
                return
            if settings.get(f"{ACTOR}.ppo_micro_batch_size_per_gpu") is None:
                yield _fault(
                    found,
                    f"Megatron needs {ACTOR}.ppo_micro_batch_size_per_gpu, and it is not set.",
                    f"Megatron 必须设置 {ACTOR}.ppo_micro_batch_size_per_gpu。",
                    "unsupported operand type(s) for *: 'int' and 'NoneType'",
                    "VRL010",
                    f"{ACTOR}.ppo_micro_batch_size_per_gpu=1",
                )
                return
            smallest = (
                found.data_parallel * found.micro if found.data_parallel and found.micro else None
            )
        if samples is not None and smallest and samples % smallest:
            yield _fault(
                found,
                f"{samples} samples a step (train_batch_size {found.train} x n {found.n}) can't be "
                f"shared out: they must be a multiple of {smallest}.",
                f"每步 {samples} 条样本（train_batch_size {found.train} × n {found.n}）必须是 "
                f"{smallest} 的倍数。",
                f"real_train_batch_size ({samples}) must be divisible by minimal possible batch "
                f"size ({smallest})",
                "VRL002",
                f"data.train_batch_size={_multiple(found.train, found.n, smallest)}",
            )
    if found.dynamic:
        return
    yield from _micro_given(found, settings)
    if found.train and found.mini and found.train < found.mini:
        yield _fault(
            found,
            f"The mini batch ({found.mini} prompts) is larger than the batch ({found.train}).",
            f"mini batch（{found.mini} 个 prompt）大于整个 batch（{found.train}）。",
            f"train_batch_size ({found.train}) must be >= actor.ppo_mini_batch_size ({found.mini})",
            "VRL004" if version >= Version("0.6") else "VRL005",
            f"{ACTOR}.ppo_mini_batch_size={found.train}",
        )
    if found.micro_all and found.mini and found.mini % found.micro_all:
        yield _fault(
            found,
            f"ppo_mini_batch_size {found.mini} is no multiple of "
            f"ppo_micro_batch_size {found.micro_all}.",
            f"ppo_mini_batch_size {found.mini} 不是 ppo_micro_batch_size "
            f"{found.micro_all} 的倍数。",
            f"ppo_mini_batch_size ({found.mini}) must be divisible by ppo_micro_batch_size "
            f"({found.micro_all})",
            "VRL007",
        )
    yield from _critic(found, settings)
    sequence = 1 if found.megatron else (found.model_parallel or 1)
    if found.micro_all and gpus and found.micro_all * sequence < gpus:
        yield _fault(
            found,
            f"ppo_micro_batch_size {found.micro_all} is less than one sample a GPU ({gpus} GPUs).",
            f"ppo_micro_batch_size {found.micro_all} 不足每卡一条样本（{gpus} 张卡）。",
            f"ppo_micro_batch_size ({found.micro_all}) * ulysses_sequence_parallel_size "
            f"({sequence}) must be >= n_gpus ({gpus})",
            "VRL009",
        )


def _micro_given(found: Sizes, settings: Settings) -> Iterator[Result]:
    """Micro batch sizes that must be given, and not twice."""
    wanted = [(ACTOR, "ppo_micro_batch_size"), (ROLLOUT, "log_prob_micro_batch_size")]
    in_reward = settings.get("algorithm.use_kl_in_reward") is True
    if in_reward or settings.get(f"{ACTOR}.use_kl_loss") is True:
        wanted.append(("actor_rollout_ref.ref", "log_prob_micro_batch_size"))
    if uses_critic(settings) and settings.get("critic.use_dynamic_bsz") is not True:
        wanted.append(("critic", "ppo_micro_batch_size"))
    for section, name in wanted:
        by = f"{section if section == 'critic' else ACTOR}.use_dynamic_bsz"
        old, new = (settings.get(f"{section}.{name}{end}") for end in ("", "_per_gpu"))
        said = "actor" if section == ACTOR else section
        called = "micro_batch_size" if section == "critic" else name  # as verl's message has it
        if old is None and new is None and not settings.incomplete:
            yield _fault(
                found,
                f"Neither {section}.{name}_per_gpu nor {by} is set.",
                f"{section}.{name}_per_gpu 与 {by} 均未设置。",
                f"[{said}] Please set at least one of '{said}.{called}' or "
                f"'{said}.{called}_per_gpu'",
                "VRL010",
                f"{section}.{name}_per_gpu=1",
            )
        elif UNKNOWN not in (old, new) and old is not None and new is not None:
            yield _fault(
                found,
                f"{section}.{name} and {section}.{name}_per_gpu are both set.",
                f"{section}.{name} 与 {section}.{name}_per_gpu 同时被设置。",
                f"[{said}] You have set both '{said}.{called}' AND '{said}.{called}_per_gpu'",
                "VRL011",
                f"{section}.{name}=null",
            )


def _critic(found: Sizes, settings: Settings) -> Iterator[Result]:
    mini = settings.get("critic.ppo_mini_batch_size")
    if not uses_critic(settings) or settings.get("critic.use_dynamic_bsz") is True:
        return
    if isinstance(mini, int) and found.train and found.train < mini:
        yield _fault(
            found,
            f"The critic's mini batch ({mini} prompts) is larger than the batch ({found.train}).",
            f"critic 的 mini batch（{mini} 个 prompt）大于整个 batch（{found.train}）。",
            f"train_batch_size ({found.train}) must be >= critic.ppo_mini_batch_size ({mini})",
            "VRL004" if Version(settings.release) >= Version("0.6") else "VRL005",
            f"critic.ppo_mini_batch_size={found.train}",
        )


def _workers(found: Sizes, settings: Settings) -> Iterator[Result]:
    """What the workers assert, after the models have been loaded or in the first update."""
    gpus, parts = found.gpus, found.data_parallel
    if gpus and found.rollout_gpus and gpus % found.rollout_gpus:
        yield _fault(
            found,
            f"{gpus} GPUs can't be cut into rollout engines of {found.rollout_gpus}.",
            f"{gpus} 张卡无法按每个推理引擎 {found.rollout_gpus} 张卡整除。",
            f"rollout world_size: {gpus} is not divisible by "
            f"infer_world_size: {found.rollout_gpus}",
            "VRL013",
        )
    samples = found.samples(found.mini)
    if not parts or samples is None:
        return
    if Version(settings.release) >= ENGINE_WORKERS:
        if samples % parts:
            yield _fault(
                found,
                f"A mini batch of {samples} samples (mini {found.mini} x n {found.n}) can't be cut "
                f"into {parts} data-parallel parts.",
                f"mini batch 的 {samples} 条样本（mini {found.mini} × n {found.n}）无法平均分给 "
                f"{parts} 个数据并行组。",
                f"Got mini_batch_size={samples} and self.engine.get_data_parallel_size()={parts}",
                "VRL006",
            )
            return
    elif samples // parts == 0:
        yield _fault(
            found,
            f"A mini batch of {samples} samples is less than one for each of {parts} parts.",
            f"mini batch 的 {samples} 条样本不足以让 {parts} 个数据并行组各得一条。",
            "ppo_mini_batch_size 0 should be larger than 0 after normalization",
            "VRL008",
        )
        return
    mini = samples // parts
    if not found.dynamic and found.micro and mini % found.micro:
        yield _fault(
            found,
            f"{mini} samples of a mini batch on a GPU are no multiple of "
            f"ppo_micro_batch_size_per_gpu {found.micro}.",
            f"每张卡上 mini batch 的 {mini} 条样本不是 "
            f"ppo_micro_batch_size_per_gpu {found.micro} 的倍数。",
            f"normalized ppo_mini_batch_size {mini} should be divisible by "
            f"ppo_micro_batch_size_per_gpu {found.micro}"
            if Version(settings.release) < ENGINE_WORKERS
            else "data size must be divisible by force_group_size * micro_batch_size_per_gpu",
            "VRL007",
            f"{ACTOR}.ppo_micro_batch_size_per_gpu={_divisor(mini, found.micro)}",
        )


def _multiple(prompts: int | None, n: int | None, smallest: int) -> int:
    """The next number of prompts that can be shared out."""
    step = smallest // math.gcd(n or 1, smallest)
    return -(-(prompts or 1) // step) * step


def _divisor(whole: int, wanted: int) -> int:
    """A large divisor of `whole` that is not above `wanted`: of usual sizes the largest."""
    top = min(whole, wanted)
    near = range(top, max(0, top - MAX_TRIED), -1)
    return next((size for size in near if whole % size == 0), math.gcd(whole, wanted))


def _fault(found: Sizes, en: str, zh: str, message: str, rule: str, set_: str = "") -> Result:
    fix = Fix(Text("For example:", "例如："), set=set_) if set_ else None
    return Result(CHECK, "fault", Text(en, zh), "critical", (message, *table(found)), fix, rule)
