"""Settings that contradict each other, or that verl takes and that teach the model nothing.

Every trap was read in the sources of the releases that it names; `seen` holds what verl prints,
where it prints anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from packaging.version import Version

from ...model import Fix, Severity, Text
from ..types import Result, ok
from .settings import UNKNOWN, Settings
from .sizes import ACTOR, ROLLOUT, sizes

CHECK = "config.traps"
GROUPED = ("grpo", "grpo_passk", "rloo", "opo", "gpg", "reinforce_plus_plus_baseline")
"""Estimators that compare the responses to one prompt with each other (core_algos.py)."""
LOSS_MODES = ("token-mean", "token-sum", "seq-mean-token-sum", "seq-mean-token-mean")
LOWEST_TEMPERATURE = 0.01
"""Below, vLLM clamps or turns greedy (sampling_params.py)."""
Trap = Callable[[Settings], Iterator[Result]]


def check(settings: Settings) -> Iterator[Result]:
    """Every trap that this run would step into."""
    if not settings.name.startswith("ppo"):
        return
    found = [result for trap in TRAPS for result in trap(settings)]
    yield from found
    if not found:
        yield ok(
            CHECK,
            f"None of {len(TRAPS)} known contradictions is in these settings.",
            f"未发现 {len(TRAPS)} 类已知的参数冲突。",
        )


def _fault(
    severity: Severity, en: str, zh: str, *seen: str, fix: Fix | None = None, rule: str = ""
) -> Result:
    return Result(CHECK, "fault", Text(en, zh), severity, seen, fix, rule)


def _number(settings: Settings, key: str) -> float | None:
    value = settings.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _greedy_training(settings: Settings) -> Iterator[Result]:
    temperature = _number(settings, f"{ROLLOUT}.temperature")
    if temperature is None or temperature >= LOWEST_TEMPERATURE:
        return
    nan = Version(settings.release) <= Version("0.7.1")
    yield _fault(
        "critical",
        f"rollout.temperature={temperature:g}: all responses to a prompt are equal, so nothing can "
        "be learnt from them" + (", and the actor divides its logits by 0." if nan else "."),
        f"rollout.temperature={temperature:g}：同一 prompt 的回答全部相同，无法学习"
        + ("，且 actor 会用 0 去除 logits。" if nan else "。"),
        f"{ROLLOUT}.temperature={temperature:g}",
        fix=Fix(
            Text(
                "Sample in training; greedy belongs to rollout.val_kwargs.",
                "训练时采样；贪心解码只用于 rollout.val_kwargs。",
            ),
            set=f"{ROLLOUT}.temperature=1.0",
        ),
        rule="VRL091",
    )


def _group_of_one(settings: Settings) -> Iterator[Result]:
    estimator, n = settings.get("algorithm.adv_estimator"), settings.get(f"{ROLLOUT}.n")
    if estimator in GROUPED and n == 1 and settings.get("distillation.enabled") is not True:
        yield _fault(
            "medium",
            f"{estimator} compares the responses to one prompt, and rollout.n is 1: verl then "
            "takes 0 as the mean, so the raw reward is the advantage.",
            f"{estimator} 需要比较同一 prompt 的多个回答，而 rollout.n=1：verl 此时把均值当作 0，"
            "优势就是原始奖励。",
            f"algorithm.adv_estimator={estimator} {ROLLOUT}.n=1",
            fix=Fix(
                Text("Several responses a prompt.", "每个 prompt 多个回答。"), set=f"{ROLLOUT}.n=8"
            ),
        )


def _kl_twice(settings: Settings) -> Iterator[Result]:
    if settings.get("algorithm.use_kl_in_reward") is True and (
        settings.get(f"{ACTOR}.use_kl_loss") is True
    ):
        yield _fault(
            "low",
            "KL is applied twice: in the reward and in the loss.",
            "KL 被使用了两次：奖励中与损失中。",
            "NOTICE: You have both enabled in-reward kl and kl loss.",
            fix=Fix(
                Text("Keep one of them.", "保留其一。"), set="algorithm.use_kl_in_reward=False"
            ),
        )


def _kl_out_of_range(settings: Settings) -> Iterator[Result]:
    pairs = (
        (f"{ACTOR}.kl_loss_coef", f"{ACTOR}.use_kl_loss"),
        ("algorithm.kl_ctrl.kl_coef", "algorithm.use_kl_in_reward"),
    )
    for key, switch in pairs:
        value = _number(settings, key)
        if value is not None and settings.get(switch) is True and not 0 <= value <= 1:
            yield _fault(
                "high",
                f"`{key}`={value:g}: below 0 it drives the policy away from the reference, above 1 "
                "it outweighs the reward (usual: 0.0001 to 0.01).",
                f"`{key}`={value:g}：小于 0 会让策略远离参考模型，大于 1 会压过奖励"
                "（常用 0.0001～0.01）。",
                f"{key}={value:g}",
                fix=Fix(Text("verl's default.", "verl 默认值。"), set=f"{key}=0.001"),
            )


def _validation_sampling(settings: Settings) -> Iterator[Result]:
    if settings.get(f"{ROLLOUT}.val_kwargs.do_sample") is True and (
        _number(settings, f"{ROLLOUT}.temperature") == 0
    ):
        yield _fault(
            "critical",
            "val_kwargs.do_sample is on and rollout.temperature is 0: verl tests this one.",
            "val_kwargs.do_sample 已开启而 rollout.temperature 为 0：verl 检查的正是后者。",
            "validation gen temperature should be greater than 0 when enabling do_sample",
            fix=Fix(
                Text("A temperature above 0.", "温度大于 0。"), set=f"{ROLLOUT}.temperature=1.0"
            ),
        )


def _engine(settings: Settings) -> Iterator[Result]:
    version = Version(settings.release)
    name, mode = settings.get(f"{ROLLOUT}.name"), settings.get(f"{ROLLOUT}.mode")
    if mode == "sync" and version >= Version("0.7"):
        yield _fault(
            "critical",
            "rollout.mode=sync was removed in verl 0.7.",
            "rollout.mode=sync 已在 verl 0.7 移除。",
            "Rollout mode 'sync' has been removed.",
            fix=Fix(Text("Take it out, or:", "删除该参数，或："), set=f"{ROLLOUT}.mode=async"),
            rule="VRL060",
        )
    known = ("vllm", "sglang", "trtllm") if version >= Version("0.7") else ()
    if known and isinstance(name, str) and name not in (*known, "???"):
        yield _fault(
            "critical",
            f"verl {settings.release} has no rollout engine `{name}`: {', '.join(known)}.",
            f"verl {settings.release} 没有推理引擎 `{name}`：可选 {', '.join(known)}。",
            f"Rollout {name} with mode async not found",
            fix=Fix(Text("One that it has.", "改用支持的引擎。"), set=f"{ROLLOUT}.name=vllm"),
            rule="VRL061",
        )


def _lengths(settings: Settings) -> Iterator[Result]:
    prompt, response, model = (
        _number(settings, key)
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
        yield _fault(
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
    budget = _number(settings, f"{ACTOR}.ppo_max_token_len_per_gpu")
    parallel = sizes(settings).model_parallel if not sizes(settings).megatron else 1
    if budget is not None and parallel is not None and budget * parallel < whole:
        padded = settings.get("actor_rollout_ref.model.use_remove_padding") is not True
        least = -(-whole // parallel)
        yield _fault(
            "high" if padded or Version(settings.release) < Version("0.8") else "medium",
            f"actor.ppo_max_token_len_per_gpu={budget:g} can't hold one sequence of prompt + "
            f"response ({whole} tokens).",
            f"actor.ppo_max_token_len_per_gpu={budget:g} 装不下一条完整序列（{whole} token）。",
            "max_token_len must be greater than the sequence length.",
            fix=Fix(Text("At least:", "至少："), set=f"{ACTOR}.ppo_max_token_len_per_gpu={least}"),
            rule="VRL034",
        )


def _sequence_parallel(settings: Settings) -> Iterator[Result]:
    found = sizes(settings)
    padding = settings.get("actor_rollout_ref.model.use_remove_padding")
    if not found.megatron and (found.model_parallel or 1) > 1 and padding is False:
        yield _fault(
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


def _fsdp_groups(settings: Settings) -> Iterator[Result]:
    found, size = sizes(settings), _number(settings, f"{ACTOR}.fsdp_config.fsdp_size")
    if found.megatron or not found.gpus or size is None or not 0 < size < found.gpus:
        return
    if found.gpus % size:
        yield _fault(
            "critical",
            f"{found.gpus} GPUs can't be cut into FSDP groups of {size:g}.",
            f"{found.gpus} 张卡无法按 FSDP 组大小 {size:g} 整除。",
            f"{ACTOR}.fsdp_config.fsdp_size={size:g}",
            fix=Fix(
                Text("One group over all GPUs.", "所有卡一个组。"),
                set=f"{ACTOR}.fsdp_config.fsdp_size=-1",
            ),
        )


def _warmup_of_nothing(settings: Settings) -> Iterator[Result]:
    ratio = _number(settings, f"{ACTOR}.optim.lr_warmup_steps_ratio")
    steps = _number(settings, "trainer.total_training_steps")
    given = _number(settings, f"{ACTOR}.optim.lr_warmup_steps")
    if ratio and steps and (given is None or given < 0) and int(ratio * steps) == 0:
        yield _fault(
            "medium",
            f"A warm-up of {ratio:g} of {steps:g} steps rounds to 0 steps.",
            f"{steps:g} 步的 {ratio:g} 取整后为 0 步预热。",
            fix=Fix(
                Text("Say it in steps.", "直接指定步数。"), set=f"{ACTOR}.optim.lr_warmup_steps=1"
            ),
        )


def _penalty_without_effect(settings: Settings) -> Iterator[Result]:
    key = f"{ROLLOUT}.repetition_penalty"
    if key in settings.given and Version(settings.release) >= Version("0.7"):
        yield _fault(
            "medium",
            f"`{key}` has no effect in training: the agent loop passes 1.0 itself.",
            f"`{key}` 在训练中无效：agent loop 固定传入 1.0。",
            f"{key}={settings.given[key]}",
            fix=Fix(Text("Take it out.", "删除该参数。")),
        )


def _loss_mode(settings: Settings) -> Iterator[Result]:
    mode = settings.get(f"{ACTOR}.loss_agg_mode")
    known = (*LOSS_MODES, "seq-mean-token-sum-norm")
    if isinstance(mode, str) and mode not in known:
        yield _fault(
            "critical",
            f"`{mode}` is no loss_agg_mode: {', '.join(known)}.",
            f"`{mode}` 不是有效的 loss_agg_mode：可选 {', '.join(known)}。",
            f"Invalid loss_agg_mode: {mode}",
            fix=Fix(
                Text("verl's default.", "verl 默认值。"), set=f"{ACTOR}.loss_agg_mode=token-mean"
            ),
        )


def _memory_share(settings: Settings) -> Iterator[Result]:
    share = _number(settings, f"{ROLLOUT}.gpu_memory_utilization")
    if share is not None and not 0 < share <= 1:
        yield _fault(
            "critical",
            f"rollout.gpu_memory_utilization={share:g} is a share of the GPU: between 0 and 1.",
            f"rollout.gpu_memory_utilization={share:g} 是显存比例，应在 0 与 1 之间。",
            fix=Fix(Text("For example:", "例如："), set=f"{ROLLOUT}.gpu_memory_utilization=0.5"),
        )


def _silent_console(settings: Settings) -> Iterator[Result]:
    logger: Any = settings.get("trainer.logger")
    names = logger if isinstance(logger, list) else [logger]
    if logger is not None and UNKNOWN not in names and "console" not in names:
        yield _fault(
            "low",
            "trainer.logger has no `console`: the log will hold no step lines, so neither you nor "
            "this program sees the metrics in it.",
            "trainer.logger 不含 `console`：日志中不会有 step 行，无法从日志查看指标。",
            f"trainer.logger={names}",
            fix=Fix(Text("Add it.", "加上它。"), set="'trainer.logger=[console,wandb]'"),
        )


def _nothing_saved(settings: Settings) -> Iterator[Result]:
    frequency = _number(settings, "trainer.save_freq")
    if frequency is not None and frequency <= 0:
        yield _fault(
            "low",
            "trainer.save_freq is off (verl's default): no checkpoint is written before the end.",
            "trainer.save_freq 未启用（verl 默认）：训练结束前不会写检查点。",
            f"trainer.save_freq={frequency:g}",
            fix=Fix(Text("For example:", "例如："), set="trainer.save_freq=20"),
        )


TRAPS: tuple[Trap, ...] = (
    _greedy_training,
    _validation_sampling,
    _group_of_one,
    _kl_twice,
    _kl_out_of_range,
    _engine,
    _lengths,
    _sequence_parallel,
    _fsdp_groups,
    _warmup_of_nothing,
    _penalty_without_effect,
    _loss_mode,
    _memory_share,
    _silent_console,
    _nothing_saved,
)
