"""Holds the memory estimate of `verl-doctor check` against measured peaks, on one GPU.

usage: memory_on_gpu.py [--tiny]     with torch (CUDA), transformers 5 and verl-doctor

Three random models of Qwen2's kind are trained as verl's FSDP engine does it: fp32 weights under
FSDP2 with bf16 passes, autocast, AdamW, gradients of two micro batches added up, log-probabilities
as verl takes them without flash-attn (`logprobs_from_logits_v2`), over packed tokens. For each,
with and without gradient checkpointing and with two micro batches, torch's own count of the peak
stands beside the estimate: of the third step, and of a pass without gradients. Prints a Markdown
table; exits with 1 if a peak lies outside of its bounds by more than a tenth. `--tiny` runs small
shapes on the CPU, to see that the script works; memory is not measured then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import AutoModelForCausalLM, Qwen2Config

from verl_doctor.checks.memory import training
from verl_doctor.checks.memory.shape import Shape, shape
from verl_doctor.checks.memory.spans import GIB, Span
from verl_doctor.checks.memory.training import Pass, Trained

MODELS = {
    "0.1 B": (768, 12, 12, 4, 2048, 32_000, False),
    "0.5 B": (896, 24, 14, 2, 4864, 151_936, True),
    "1.5 B": (1536, 28, 12, 2, 8960, 151_936, True),
}
"""Hidden, layers, heads, key heads, MLP, vocabulary, tied; the last two are Qwen2.5's."""
TINY = {"tiny": (64, 2, 4, 2, 128, 512, True)}
LENGTH = 2048
SEQUENCES = (1, 4)
OUTSIDE = 0.1


def main() -> int:
    tiny = "--tiny" in sys.argv[1:]
    device = torch.device("cpu" if tiny else "cuda")
    dist.init_process_group(
        "gloo" if tiny else "nccl", store=dist.HashStore(), rank=0, world_size=1
    )
    if not tiny:
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n")
    print("| model | checkpointing | tokens | pass | measured GiB | estimate GiB | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    outside = 0
    for name, sizes in (TINY if tiny else MODELS).items():
        for checkpointing in (True, False):
            for sequences in SEQUENCES:
                tokens = sequences * (64 if tiny else LENGTH)
                for row in measure(config_of(*sizes), checkpointing, sequences, tokens, device):
                    kind, peak, told = row
                    off = distance(peak, told)
                    outside += off > OUTSIDE
                    words = "within" if off == 0 else f"{off:.0%} outside"
                    print(
                        f"| {name} | {'on' if checkpointing else 'off'} | {tokens} | {kind} "
                        f"| {peak / GIB:.2f} | {told.low / GIB:.2f}-{told.high / GIB:.2f} "
                        f"| {'' if tiny else words} |",
                        flush=True,
                    )
    dist.destroy_process_group()
    return int(outside > 0 and not tiny)


def config_of(
    hidden: int, layers: int, heads: int, kv: int, inner: int, vocabulary: int, tied: bool
) -> Qwen2Config:
    """A Qwen2 config of these sizes."""
    return Qwen2Config(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv,
        intermediate_size=inner,
        vocab_size=vocabulary,
        tie_word_embeddings=tied,
        max_position_embeddings=LENGTH,
    )


def measure(
    config: Qwen2Config, checkpointing: bool, sequences: int, tokens: int, device: torch.device
) -> Iterator[tuple[str, int, Span]]:
    """Name of the pass, measured peak in bytes, estimate: the update, then a look at the model.

    The model is freed at the end.
    """
    sizes = shape(config.to_dict())
    assert isinstance(sizes, Shape), sizes
    told = Trained(sizes, 1, checkpointing=checkpointing, one_by_one=True)
    work = Pass(tokens, training.LOGITS_OF_TORCH)
    model, optimizer = built(config, checkpointing, device)
    assert sum(one.numel() for one in model.parameters()) == sizes.parameters
    ids = torch.randint(0, config.vocab_size, (sequences, tokens // sequences), device=device)
    for _ in range(3):  # the optimizer's states exist from the end of the first step on
        _reset(device)
        for _ in range(2):
            loss = -log_probs(model, ids, device).mean()
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    yield "update", _peak(device), training.update(told, work).known
    _reset(device)
    with torch.no_grad():
        log_probs(model, ids, device)
    look = training.look(told, replace(work, logits=training.LOGITS_OF_A_LOOK))
    yield "log_prob", _peak(device), look.known + told.optimizer
    del model, optimizer, loss
    _reset(device)


def built(
    config: Qwen2Config, checkpointing: bool, device: torch.device
) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """The model as verl builds it under FSDP2, and its optimizer."""
    with device:
        model = AutoModelForCausalLM.from_config(
            config, dtype=torch.float32, attn_implementation="sdpa"
        )
    model.train()
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    mesh = dist.device_mesh.init_device_mesh(device.type, (1,))
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32, cast_forward_inputs=True)
    units = [*model.model.layers]
    if not config.tie_word_embeddings:
        units.append(model.model.embed_tokens)
    for unit in (*units, model):
        fully_shard(unit, mesh=mesh, mp_policy=policy, reshard_after_forward=True)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-6)


def log_probs(model: torch.nn.Module, ids: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Log-probability of each next token, row by row as verl takes it of bf16 logits."""
    with torch.autocast(device.type, torch.bfloat16):
        logits = model(input_ids=ids, use_cache=False).logits
        logits = logits.flatten(0, 1)
        labels = torch.roll(ids, -1, dims=-1).flatten()
        rows = [
            torch.log_softmax(row, -1).gather(-1, label.unsqueeze(-1)).squeeze(-1)
            for row, label in zip(logits, labels, strict=True)
        ]
        return torch.stack(rows)


def distance(peak: int, told: Span) -> float:
    """How far a peak lies outside of its bounds, as a share of the nearer one; 0 within."""
    return max(0.0, 1 - peak / told.low, peak / told.high - 1)


def _reset(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def _peak(device: torch.device) -> int:
    return torch.cuda.max_memory_allocated() if device.type == "cuda" else 0


if __name__ == "__main__":
    sys.exit(main())
