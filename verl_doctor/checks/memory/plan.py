"""Reads out of a run's settings what the estimate needs; says what it can't read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config.settings import UNKNOWN, Settings
from ..config.sizes import ACTOR, ROLLOUT, sizes, uses_critic
from ..model.folder import read_json
from . import training
from .engine import Engine
from .shape import Shape, shape
from .spans import Span
from .training import Pass, Trained

MIB = 1 << 20
BUCKET_KEYS = (
    f"{ROLLOUT}.checkpoint_engine.update_weights_bucket_megabytes",
    f"{ROLLOUT}.update_weights_bucket_megabytes",
)

LEANER = {
    "lora_rank": "LoRA",
    "lora.rank": "LoRA",
    "use_liger": "Liger",
    "enable_activation_offload": "activation offload",
    "tiled_mlp.enabled": "tiled MLP",
}
"""Settings of a model that make it need less than the formulas say: no lower bound then."""
OPTIMIZER_ON_HOST = (
    f"{ACTOR}.optim.override_optimizer_config.optimizer_cpu_offload",
    f"{ACTOR}.optim.override_optimizer_config.optimizer_offload_fraction",
)
"""Megatron's optimizer leaves the GPU."""


class Unreadable(Exception):
    """What the estimate would need and can't have, in words (English, Chinese)."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.en, self.zh = en, zh


@dataclass(frozen=True, slots=True)
class Role:
    """A model that FSDP trains, with its passes."""

    model: Trained
    update: Pass
    look: Pass
    weights_leave: bool
    """param_offload: its weights are on the host when another phase runs."""
    states_leave: bool
    """optimizer_offload, likewise."""

    @property
    def resting(self) -> Span:
        """Bytes that it keeps on the GPU while others are at work."""
        weights = self.model.weights.times(0 if self.weights_leave else 1)
        return weights + self.model.optimizer.times(0 if self.states_leave else 1)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that shares a GPU."""

    actor: Role
    critic: Role | None
    engine: Engine | None
    """None where its share can't be told, or it stands on GPUs of its own."""
    engine_why: str
    """Why its share can't be told; empty where it can, or there is none."""
    engine_sleeps: bool
    bucket: float
    padded: bool
    """Sequences are padded to full length, so that the estimate holds from the first step."""


def plan(settings: Settings) -> Plan:
    """The plan of a PPO-like run under FSDP. Raises Unreadable."""
    read = _Reader(settings)
    actor = _actor(read)
    critic = _critic(read) if uses_critic(settings) else None
    bucket = next((found for key in BUCKET_KEYS if (found := read.number(key))), 2048)
    engine, why = _engine(read, actor.model.shape)
    return Plan(
        actor,
        critic,
        engine,
        why,
        settings.get(f"{ROLLOUT}.free_cache_engine") is not False,
        bucket * MIB,
        settings.get("actor_rollout_ref.model.use_remove_padding") is False,
    )


def shape_of(folder: Any) -> Shape:
    """The sizes of the model in a local folder. Raises Unreadable."""
    if not isinstance(folder, str):
        raise Unreadable("the model's path can't be told", "无法确定模型路径")
    try:
        config, _ = read_json(Path(os.path.expanduser(folder)) / "config.json")
    except OSError:  # no rights, a name too long
        config = None
    if not isinstance(config, Mapping):
        raise Unreadable(
            f"{folder} holds no config.json here", f"本机的 {folder} 下没有 config.json"
        )
    found = shape(config)
    if isinstance(found, str):
        raise Unreadable(
            f"sizes of {folder} unknown: {found}", f"无法得知 {folder} 的结构：{found}"
        )
    return found


def refuse(settings: Settings, leaner: Mapping[str, str]) -> None:
    """Raises Unreadable for the first of these settings that is in use, by what it stands for."""
    for key, what in leaner.items():
        if settings.get(key):
            raise Unreadable(
                f"{what} ({key}) is not estimated; it needs less than the same run without it",
                f"未估算 {what}（{key}），其显存占用会低于未启用时",
            )


def of_megatron(settings: Settings) -> Shape:
    """The sizes of the actor that Megatron trains. Raises Unreadable."""
    model = "actor_rollout_ref.model"
    leaner = {f"{model}.{name}": what for name, what in LEANER.items()}
    refuse(settings, leaner | dict.fromkeys(OPTIMIZER_ON_HOST, "optimizer offload"))
    return shape_of(settings.get(f"{model}.path"))


class _Reader:
    """The settings, and the sizes that all roles share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sizes = sizes(settings)
        length = [self.number(f"data.max_{which}_length") for which in ("prompt", "response")]
        if None in length or not self.sizes.gpus:
            raise Unreadable("the number of GPUs or the lengths", "GPU 数量或长度设置未知")
        self.length = int(sum(one or 0 for one in length))
        self.gpus = self.sizes.gpus

    def number(self, key: str) -> float | None:
        value = self.settings.get(key)
        sound = isinstance(value, int | float) and not isinstance(value, bool)
        return value if sound and value > 0 else None

    def on(self, key: str) -> bool:
        return self.settings.get(key) is True

    def trained(self, folder: Any, section: str, model: str, fsdp: str) -> Trained:
        strategy = self.settings.get(f"{section}.strategy")
        if strategy not in ("fsdp", "fsdp2"):
            raise Unreadable(f"strategy {strategy} is not estimated", f"未估算 strategy {strategy}")
        leaner = {f"{model}.{name}": what for name, what in LEANER.items()}
        refuse(self.settings, leaner | {f"{fsdp}.offload_policy": "offload_policy"})
        optimizer = self.settings.get(f"{section}.optim.optimizer")
        if optimizer not in (None, "AdamW"):  # early releases know no other
            raise Unreadable(f"optimizer {optimizer} is not estimated", f"未估算优化器 {optimizer}")
        stored = self.settings.get(f"{fsdp}.model_dtype")
        group = self.number(f"{fsdp}.fsdp_size")
        return Trained(
            shape_of(folder),
            int(min(group or self.gpus, self.gpus)),
            stored=2 if stored in ("bf16", "bfloat16", "fp16", "float16") else 4,
            checkpointing=self.on(f"{model}.enable_gradient_checkpointing"),
            whole_after_forward=self.settings.get(f"{fsdp}.reshard_after_forward") is False,
            one_by_one=strategy == "fsdp2",
        )

    def tokens(self, dynamic: str, budget: str, micro: str, mini: int | None) -> float:
        """Tokens of a micro batch on a GPU at full length. Raises Unreadable."""
        whole = self.length / (self.sizes.model_parallel or 1)
        samples = self.number(micro)
        if self.on(dynamic):
            tokens = self.number(budget)
            most = whole * mini if mini else None
            samples = None
        else:
            tokens, most = (samples * whole if samples else None), None
        if tokens is None:
            key = budget if self.on(dynamic) else micro
            raise Unreadable(f"{key} is not set", f"未设置 {key}")
        return min(tokens, most) if most else tokens


def _actor(read: _Reader) -> Role:
    model, fsdp = "actor_rollout_ref.model", f"{ACTOR}.fsdp_config"
    settings, mini = read.settings, read.sizes.mini_of_a_gpu
    update = read.tokens(
        f"{ACTOR}.use_dynamic_bsz",
        f"{ACTOR}.ppo_max_token_len_per_gpu",
        f"{ACTOR}.ppo_micro_batch_size_per_gpu",
        mini,
    )
    look = read.tokens(
        f"{ROLLOUT}.log_prob_use_dynamic_bsz",
        f"{ROLLOUT}.log_prob_max_token_len_per_gpu",
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu",
        None,
    )
    fused = read.on(f"{model}.use_fused_kernels")
    entropy = read.on(f"{ACTOR}.calculate_entropy") or read.number(f"{ACTOR}.entropy_coeff")
    chunked = read.on(f"{ACTOR}.entropy_from_logits_with_chunking")
    # verl compiles the entropy of packed tokens: then softmax is never written out
    packed = read.on(f"{model}.use_remove_padding")
    lean = chunked or (packed and read.on(f"{ACTOR}.use_torch_compile"))
    looked = training.LOGITS_OF_A_LOOK if lean else training.LOGITS_OF_A_LOOK_WITH_ENTROPY
    trained = training.LOGITS_WITH_ENTROPY if entropy else training.LOGITS_IN_TRAINING
    return Role(
        read.trained(settings.get(f"{model}.path"), ACTOR, model, fsdp),
        Pass(update, training.NO_LOGITS if fused else trained, _accumulates(read, update, mini)),
        Pass(look, training.NO_LOGITS if fused else looked),
        weights_leave=read.on(f"{fsdp}.param_offload"),
        states_leave=read.on(f"{fsdp}.optimizer_offload"),
    )


def _accumulates(read: _Reader, tokens: float, mini: int | None) -> bool:
    """Whether a mini batch of full sequences takes more than one micro batch."""
    whole = read.length / (read.sizes.model_parallel or 1)
    return bool(mini and tokens < mini * whole)


def _critic(read: _Reader) -> Role:
    # up to 0.8 the section lies under the model, later beside it
    places = ("critic.fsdp", "critic.fsdp_config", "critic.model.fsdp_config")
    fsdp = next((one for one in places if read.settings.has(f"{one}.param_offload")), places[-1])
    passes = [
        read.tokens(
            "critic.use_dynamic_bsz",
            f"critic.{which}_max_token_len_per_gpu",
            f"critic.{which}_micro_batch_size_per_gpu",
            None,
        )
        for which in ("ppo", "forward")
    ]
    return Role(
        read.trained(read.settings.get("critic.model.path"), "critic", "critic.model", fsdp),
        Pass(passes[0], training.NO_LOGITS, accumulated=False),
        Pass(passes[1], training.NO_LOGITS),
        weights_leave=read.on(f"{fsdp}.param_offload"),
        states_leave=read.on(f"{fsdp}.optimizer_offload"),
    )


def _engine(read: _Reader, actor: Shape) -> tuple[Engine | None, str]:
    """The engine beside the trainer, or why its share can't be told."""
    share, tensor = (
        read.number(f"{ROLLOUT}.{name}")
        for name in ("gpu_memory_utilization", "tensor_model_parallel_size")
    )
    apart = read.number(f"{ROLLOUT}.nnodes")
    name = read.settings.get(f"{ROLLOUT}.name")
    quantized = read.settings.get(f"{ROLLOUT}.quantization")
    if apart:
        return None, ""
    if name != "vllm":
        return None, f"rollout.name={name}"
    if quantized not in (None, UNKNOWN):
        return None, f"rollout.quantization={quantized}"
    if not share or not tensor:
        return None, "its share or its parallel size is not a number"
    sequences = read.number(f"{ROLLOUT}.max_num_seqs")
    engine = Engine(
        actor,
        int(tensor),
        int(read.number(f"{ROLLOUT}.pipeline_model_parallel_size") or 1),
        share,
        int(sequences) if sequences else None,
        read.length,
    )
    return engine, ""
