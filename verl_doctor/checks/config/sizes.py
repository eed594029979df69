"""The numbers of one training step, and the table that shows how they follow from each other."""

from __future__ import annotations

from dataclasses import dataclass

from ...logs.text import MAX_NUMBER
from .settings import Settings

ACTOR = "actor_rollout_ref.actor"
ROLLOUT = "actor_rollout_ref.rollout"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The numbers of one training step; None where one can't be told. Prompts unless it says
    otherwise."""

    gpus: int | None
    train: int | None
    n: int | None
    """Responses to a prompt."""
    mini: int | None
    micro: int | None
    """Samples that a GPU takes at once (`…_per_gpu`)."""
    micro_all: int | None
    """The deprecated `ppo_micro_batch_size`, over all GPUs."""
    dynamic: bool
    """Micro batches are cut by tokens and not by samples."""
    model_parallel: int | None
    """Tensor x pipeline x context parallel size (Megatron), or the Ulysses size (FSDP)."""
    megatron: bool
    rollout_gpus: int | None
    """GPUs of one rollout engine."""

    @property
    def data_parallel(self) -> int | None:
        """How many parts each batch is cut into."""
        if not self.gpus or not self.model_parallel:
            return None
        return self.gpus // self.model_parallel

    def samples(self, prompts: int | None) -> int | None:
        """Prompts times responses."""
        return None if prompts is None or self.n is None else prompts * self.n

    @property
    def mini_of_a_gpu(self) -> int | None:
        """Samples of a mini batch that one data-parallel part gets."""
        samples, parts = self.samples(self.mini), self.data_parallel
        return None if samples is None or not parts else samples // parts


def sizes(settings: Settings) -> Sizes:
    """Reads the numbers out of the settings of a PPO-like run."""

    def number(key: str, default: int | None = None) -> int | None:
        value = settings.get(key, default)
        whole = isinstance(value, int) and not isinstance(value, bool)
        return value if whole and abs(value) <= MAX_NUMBER else None

    def product(*values: int | None) -> int | None:
        total = 1
        for value in values:
            if value is None:
                return None
            total *= value
        return total

    megatron = settings.get(f"{ACTOR}.strategy") == "megatron"
    if megatron:
        of = f"{ACTOR}.megatron"
        sizes_of = (
            "tensor_model_parallel_size",
            "pipeline_model_parallel_size",
            "context_parallel_size",
        )
        parallel = product(*(number(f"{of}.{name}", 1) for name in sizes_of))
    else:
        parallel = number(f"{ACTOR}.ulysses_sequence_parallel_size", 1)
        engine = number(f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size", 1)
        if parallel is not None and engine is not None:
            parallel = max(parallel, engine)
    return Sizes(
        gpus=product(number("trainer.n_gpus_per_node"), number("trainer.nnodes")),
        train=number("data.train_batch_size"),
        n=number(f"{ROLLOUT}.n"),
        mini=number(f"{ACTOR}.ppo_mini_batch_size"),
        micro=number(f"{ACTOR}.ppo_micro_batch_size_per_gpu"),
        micro_all=number(f"{ACTOR}.ppo_micro_batch_size"),
        dynamic=settings.get(f"{ACTOR}.use_dynamic_bsz") is True,
        model_parallel=parallel,
        megatron=megatron,
        rollout_gpus=product(
            number(f"{ROLLOUT}.tensor_model_parallel_size"),
            number(f"{ROLLOUT}.data_parallel_size", 1),
            number(f"{ROLLOUT}.pipeline_model_parallel_size", 1),
        ),
    )


def table(found: Sizes) -> tuple[str, ...]:
    """The arithmetic, one line a step, as it is shown."""
    mini, samples = found.mini_of_a_gpu, found.samples(found.train)
    updates = found.train // found.mini if found.train and found.mini else None
    passes = mini // found.micro if mini and found.micro and not found.dynamic else None
    rows = [
        ("prompts a step", "data.train_batch_size", found.train),
        ("samples a step", f"x rollout.n {_shown(found.n)}", samples),
        ("prompts a mini batch", "actor.ppo_mini_batch_size", found.mini),
        ("updates a step", "train / mini, each epoch of PPO", updates),
        ("GPUs", "trainer.n_gpus_per_node x nnodes", found.gpus),
        (
            "data parallel",
            f"GPUs / model parallel {_shown(found.model_parallel)}",
            found.data_parallel,
        ),
        ("samples of a mini batch on a GPU", "mini x n / data parallel", mini),
        ("samples at once on a GPU", "actor.ppo_micro_batch_size_per_gpu", found.micro),
        ("passes to a mini batch", "gradients add up over them", passes),
        ("GPUs of a rollout engine", "rollout TP x DP x PP", found.rollout_gpus),
    ]
    if found.dynamic:
        del rows[7:9]
    return tuple(f"{name:<33} {_shown(value):>7}   {how}" for name, how, value in rows)


def _shown(value: int | None) -> str:
    return "?" if value is None else str(value)


def uses_critic(settings: Settings) -> bool:
    """Whether the run trains a critic: `critic.enable`, else GAE is the estimator."""
    enabled = settings.get("critic.enable")
    if isinstance(enabled, bool):
        return enabled
    return bool(settings.get("algorithm.adv_estimator") == "gae")
