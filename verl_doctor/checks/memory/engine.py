"""What the rollout engine takes of a GPU, and how many tokens its KV cache holds.

Source: vLLM's own arithmetic, vllm/v1/worker/gpu_worker.py (`determine_available_memory`) and
vllm/v1/core/kv_cache_utils.py at v0.11.0: the requested share of the whole GPU, less weights, the
peak of a trial pass and CUDA graphs, is KV cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from .shape import Shape
from .spans import GIB, Span

SIZE = 2
"""Bytes of a weight and of an element of the cache: rollout.dtype is bfloat16 or half."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A vLLM engine that shares the GPUs with the trainer."""

    shape: Shape
    tensor: int
    """Tensor parallel size."""
    pipeline: int
    share: float
    """gpu_memory_utilization: of the whole GPU."""
    sequences: int | None
    """max_num_seqs: sequences at once in an engine."""
    length: int
    """Tokens of a full sequence: prompt and response."""

    @property
    def weights(self) -> float:
        """Bytes of the weights on one GPU."""
        return SIZE * self.shape.parameters / (self.tensor * self.pipeline)

    @property
    def bytes_per_token(self) -> float:
        """Bytes of a token's keys and values on one GPU; a head is never cut, so that from more
        GPUs than heads on they are kept several times."""
        heads = max(1.0, self.shape.kv_heads / self.tensor)
        return SIZE * 2 * self.shape.layers / self.pipeline * heads * self.shape.head

    def cache(self, gpu: float) -> float:
        """Bytes for the KV cache at most, of a GPU of that many bytes; below 0 where the weights
        alone exceed the share. The trial pass and the CUDA graphs take some GiB of it."""
        return self.share * gpu - self.weights

    def tokens(self, gpu: float) -> int:
        """Tokens that the cache holds at most."""
        return max(0, int(self.cache(gpu) / self.bytes_per_token))

    def row(self, gpu: float) -> str:
        """The cache as a line of the table."""
        tokens = self.tokens(gpu)
        wanted = "" if self.sequences is None else f" of max_num_seqs {self.sequences}"
        return (
            f"KV cache      {Span.exactly(max(0.0, self.cache(gpu))).gib():>12} GiB at most = "
            f"{tokens:,} tokens = {tokens // self.length:,} full sequences of {self.length:,} "
            f"tokens{wanted}"
        )


def transfer(shape: Shape, bucket: float) -> Span:
    """The copy of the weights on their way to the engine: at least the largest tensor gathered, at
    most two buckets of `update_weights_bucket_megabytes` with it in fp32 (verl/checkpoint_engine,
    verl/workers/fsdp_workers.py)."""
    return Span(SIZE * shape.largest_tensor, 2 * SIZE * shape.largest_tensor + 2 * bucket)


def asleep() -> Span:
    """What a sleeping engine leaves on the GPU: CUDA graphs and the context, up to some GiB
    (free_cache_engine: vLLM's sleep mode)."""
    return Span(0, 2 * GIB)
