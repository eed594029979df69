"""Settings that contradict each other, or what the release, the engine and the GPUs can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from packaging.version import Version

from ...model import Fix, Text
from ..types import Result
from .settings import UNKNOWN, Settings
from .sizes import ACTOR, ROLLOUT, sizes
from .telling import fault, number


def engine(settings: Settings) -> Iterator[Result]:
    """A rollout engine or mode that the release no longer has."""
    version = Version(settings.release)
    name, mode = settings.get(f"{ROLLOUT}.name"), settings.get(f"{ROLLOUT}.mode")
    if mode == "sync" and version >= Version("0.7"):
        yield fault(
            "critical",
            "rollout.mode=sync was removed in verl 0.7.",
            "rollout.mode=sync 已在 verl 0.7 移除。",
            "Rollout mode 'sync' has been removed.",
            fix=Fix(Text("Take it out, or:", "删除该参数，或："), set=f"{ROLLOUT}.mode=async"),
            rule="VRL060",
        )
    known = ("vllm", "sglang", "trtllm") if version >= Version("0.7") else ()
    if known and isinstance(name, str) and name not in (*known, "???"):
        yield fault(
            "critical",
            f"verl {settings.release} has no rollout engine `{name}`: {', '.join(known)}.",
            f"verl {settings.release} 没有推理引擎 `{name}`：可选 {', '.join(known)}。",
            f"Rollout {name} with mode async not found",
            fix=Fix(Text("One that it has.", "改用支持的引擎。"), set=f"{ROLLOUT}.name=vllm"),
            rule="VRL061",
        )


def lengths(settings: Settings) -> Iterator[Result]:
    """Lengths that the engine or a micro batch by tokens can't hold."""
    prompt, response, model = (
        number(settings, key)
        for key in (
            "data.max_prompt_length",
            "data.max_response_length",
            f"{ROLLOUT}.max_model_len",
        )
    )
    if prompt is None or response is None:
        return
    whole = int(prompt + response)
    if model is not None and model < whole:
        yield fault(
            "high",
            f"rollout.max_model_len={model:g} is less than prompt + response ({prompt:g} + "
            f"{response:g} = {whole}).",
            f"rollout.max_model_len={model:g} 小于 prompt + response（{prompt:g} + {response:g} = "
            f"{whole}）。",
            fix=Fix(Text("At least:", "至少："), set=f"{ROLLOUT}.max_model_len={whole}"),
            rule="VRL033",
        )
    if settings.get(f"{ACTOR}.use_dynamic_bsz") is not True:
        return
    budget = number(settings, f"{ACTOR}.ppo_max_token_len_per_gpu")
    parallel = sizes(settings).model_parallel if not sizes(settings).megatron else 1
    if budget is not None and parallel is not None and budget * parallel < whole:
        padded = settings.get("actor_rollout_ref.model.use_remove_padding") is not True
        least = -(-whole // parallel)
        yield fault(
            "high" if padded or Version(settings.release) < Version("0.8") else "medium",
            f"actor.ppo_max_token_len_per_gpu={budget:g} can't hold one sequence of prompt + "
            f"response ({whole} tokens).",
            f"actor.ppo_max_token_len_per_gpu={budget:g} 装不下一条完整序列（{whole} token）。",
            "max_token_len must be greater than the sequence length.",
            fix=Fix(Text("At least:", "至少："), set=f"{ACTOR}.ppo_max_token_len_per_gpu={least}"),
            rule="VRL034",
        )


def sequence_parallel(settings: Settings) -> Iterator[Result]:
    """Ulysses sequence parallelism with padded inputs."""
    found = sizes(settings)
    padding = settings.get("actor_rollout_ref.model.use_remove_padding")
    if not found.megatron and (found.model_parallel or 1) > 1 and padding is False:
        yield fault(
            "critical",
            "Sequence parallelism needs model.use_remove_padding=True.",
            "序列并行要求 model.use_remove_padding=True。",
            "When using sequence parallelism for actor/ref policy, you must enable "
            "`use_remove_padding`.",
            fix=Fix(
                Text("Switch it on.", "打开它。"),
                set="actor_rollout_ref.model.use_remove_padding=True",
            ),
            rule="VRL063",
        )


def fsdp_groups(settings: Settings) -> Iterator[Result]:
    """An FSDP group size that doesn't divide the GPUs."""
    found, size = sizes(settings), number(settings, f"{ACTOR}.fsdp_config.fsdp_size")
    if found.megatron or not found.gpus or size is None or not 0 < size < found.gpus:
        return
    if found.gpus % size:
        yield fault(
            "critical",
            f"{found.gpus} GPUs can't be cut into FSDP groups of {size:g}.",
            f"{found.gpus} 张卡无法按 FSDP 组大小 {size:g} 整除。",
            f"{ACTOR}.fsdp_config.fsdp_size={size:g}",
            fix=Fix(
                Text("One group over all GPUs.", "所有卡一个组。"),
                set=f"{ACTOR}.fsdp_config.fsdp_size=-1",
            ),
        )


def memory_share(settings: Settings) -> Iterator[Result]:
    """A share of GPU memory that is none."""
    share = number(settings, f"{ROLLOUT}.gpu_memory_utilization")
    if share is not None and not 0 < share <= 1:
        yield fault(
            "critical",
            f"rollout.gpu_memory_utilization={share:g} is a share of the GPU: between 0 and 1.",
            f"rollout.gpu_memory_utilization={share:g} 是显存比例，应在 0 与 1 之间。",
            fix=Fix(Text("For example:", "例如："), set=f"{ROLLOUT}.gpu_memory_utilization=0.5"),
        )


def silent_console(settings: Settings) -> Iterator[Result]:
    """A run whose log will hold no metrics."""
    logger: Any = settings.get("trainer.logger")
    names = logger if isinstance(logger, list) else [logger]
    if logger is not None and UNKNOWN not in names and "console" not in names:
        yield fault(
            "low",
            "trainer.logger has no `console`: the log will hold no step lines, so neither you nor "
            "this program sees the metrics in it.",
            "trainer.logger 不含 `console`：日志中不会有 step 行，无法从日志查看指标。",
            f"trainer.logger={names}",
            fix=Fix(Text("Add it.", "加上它。"), set="'trainer.logger=[console,wandb]'"),
        )


def nothing_saved(settings: Settings) -> Iterator[Result]:
    """A run that writes no checkpoint."""
    frequency = number(settings, "trainer.save_freq")
    if frequency is not None and frequency <= 0:
        yield fault(
            "low",
            "trainer.save_freq is off (verl's default): no checkpoint is written before the end.",
            "trainer.save_freq 未启用（verl 默认）：训练结束前不会写检查点。",
            f"trainer.save_freq={frequency:g}",
            fix=Fix(Text("For example:", "例如："), set="trainer.save_freq=20"),
        )
