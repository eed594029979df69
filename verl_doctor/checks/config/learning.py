"""Settings that verl takes and that teach the model nothing, or the wrong thing."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from ...model import Fix, Text
from ..types import Result
from .settings import Settings
from .sizes import ACTOR, ROLLOUT
from .telling import fault, number

GROUPED = ("grpo", "grpo_passk", "rloo", "opo", "gpg", "reinforce_plus_plus_baseline")
"""Estimators that compare the responses to one prompt with each other (core_algos.py)."""
LOSS_MODES = ("token-mean", "token-sum", "seq-mean-token-sum", "seq-mean-token-mean")
LOWEST_TEMPERATURE = 0.01
"""Below, vLLM clamps or turns greedy (sampling_params.py)."""


def greedy_training(settings: Settings) -> Iterator[Result]:
    """Sampling at temperature 0 while training."""
    temperature = number(settings, f"{ROLLOUT}.temperature")
    if temperature is None or temperature >= LOWEST_TEMPERATURE:
        return
    nan = Version(settings.release) <= Version("0.7.1")
    yield fault(
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


def group_of_one(settings: Settings) -> Iterator[Result]:
    """An estimator that compares responses, and one response a prompt."""
    estimator, n = settings.get("algorithm.adv_estimator"), settings.get(f"{ROLLOUT}.n")
    if estimator in GROUPED and n == 1 and settings.get("distillation.enabled") is not True:
        yield fault(
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


def kl_twice(settings: Settings) -> Iterator[Result]:
    """KL in the reward and in the loss."""
    if settings.get("algorithm.use_kl_in_reward") is True and (
        settings.get(f"{ACTOR}.use_kl_loss") is True
    ):
        yield fault(
            "low",
            "KL is applied twice: in the reward and in the loss.",
            "KL 被使用了两次：奖励中与损失中。",
            "NOTICE: You have both enabled in-reward kl and kl loss.",
            fix=Fix(
                Text("Keep one of them.", "保留其一。"), set="algorithm.use_kl_in_reward=False"
            ),
        )


def kl_out_of_range(settings: Settings) -> Iterator[Result]:
    """A KL coefficient below 0 or above 1 that is in use."""
    pairs = (
        (f"{ACTOR}.kl_loss_coef", f"{ACTOR}.use_kl_loss"),
        ("algorithm.kl_ctrl.kl_coef", "algorithm.use_kl_in_reward"),
    )
    for key, switch in pairs:
        value = number(settings, key)
        if value is not None and settings.get(switch) is True and not 0 <= value <= 1:
            yield fault(
                "high",
                f"`{key}`={value:g}: below 0 it drives the policy away from the reference, above 1 "
                "it outweighs the reward (usual: 0.0001 to 0.01).",
                f"`{key}`={value:g}：小于 0 会让策略远离参考模型，大于 1 会压过奖励"
                "（常用 0.0001～0.01）。",
                f"{key}={value:g}",
                fix=Fix(Text("verl's default.", "verl 默认值。"), set=f"{key}=0.001"),
            )


def validation_sampling(settings: Settings) -> Iterator[Result]:
    """Validation samples, and the temperature that verl tests is 0."""
    if settings.get(f"{ROLLOUT}.val_kwargs.do_sample") is True and (
        number(settings, f"{ROLLOUT}.temperature") == 0
    ):
        yield fault(
            "critical",
            "val_kwargs.do_sample is on and rollout.temperature is 0: verl tests this one.",
            "val_kwargs.do_sample 已开启而 rollout.temperature 为 0：verl 检查的正是后者。",
            "validation gen temperature should be greater than 0 when enabling do_sample",
            fix=Fix(
                Text("A temperature above 0.", "温度大于 0。"), set=f"{ROLLOUT}.temperature=1.0"
            ),
        )


def warmup_of_nothing(settings: Settings) -> Iterator[Result]:
    """A warm-up ratio that comes to no step."""
    ratio = number(settings, f"{ACTOR}.optim.lr_warmup_steps_ratio")
    steps = number(settings, "trainer.total_training_steps")
    given = number(settings, f"{ACTOR}.optim.lr_warmup_steps")
    if ratio and steps and (given is None or given < 0) and int(ratio * steps) == 0:
        yield fault(
            "medium",
            f"A warm-up of {ratio:g} of {steps:g} steps rounds to 0 steps.",
            f"{steps:g} 步的 {ratio:g} 取整后为 0 步预热。",
            fix=Fix(
                Text("Say it in steps.", "直接指定步数。"), set=f"{ACTOR}.optim.lr_warmup_steps=1"
            ),
        )


def penalty_without_effect(settings: Settings) -> Iterator[Result]:
    """A repetition penalty, which training doesn't pass on."""
    key = f"{ROLLOUT}.repetition_penalty"
    if key in settings.given and Version(settings.release) >= Version("0.7"):
        yield fault(
            "medium",
            f"`{key}` has no effect in training: the agent loop passes 1.0 itself.",
            f"`{key}` 在训练中无效：agent loop 固定传入 1.0。",
            f"{key}={settings.given[key]}",
            fix=Fix(Text("Take it out.", "删除该参数。")),
        )


def loss_mode(settings: Settings) -> Iterator[Result]:
    """A loss aggregation that verl doesn't know."""
    mode = settings.get(f"{ACTOR}.loss_agg_mode")
    known = (*LOSS_MODES, "seq-mean-token-sum-norm")
    if isinstance(mode, str) and mode not in known:
        yield fault(
            "critical",
            f"`{mode}` is no loss_agg_mode: {', '.join(known)}.",
            f"`{mode}` 不是有效的 loss_agg_mode：可选 {', '.join(known)}。",
            f"Invalid loss_agg_mode: {mode}",
            fix=Fix(
                Text("verl's default.", "verl 默认值。"), set=f"{ACTOR}.loss_agg_mode=token-mean"
            ),
        )
