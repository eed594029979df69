"""What a model that FSDP trains holds on one GPU, at rest and in a pass.

Sources of the formulas: the state of mixed-precision training, ZeRO (arXiv:1910.02054, section
3.1); activations and their recomputation, Korthikanti et al. (arXiv:2205.05198), counted anew here
for RMSNorm, grouped heads and a gated MLP; the sharding, PyTorch's FSDP notes
(docs.pytorch.org/docs/stable/notes/fsdp.html); which of it verl uses,
verl/workers/engine/fsdp/transformer_impl.py at v0.9.1 and verl/workers/fsdp_workers.py at v0.4.1 to
v0.7.0. Compared with measured peaks by benchmarks/memory_on_gpu.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from .shape import Shape
from .spans import NOTHING, Part, Phase, Span

REDUCED = 4
"""Bytes of a gradient's element while it is reduced: verl's `reduce_dtype` is fp32."""

NO_LOGITS = NOTHING
"""A critic, or fused kernels: the logits never exist as a whole."""
LOGITS_IN_TRAINING = Span(2, 8)
"""Bytes per token and vocabulary entry. Low: bf16 logits whose gradient flash-attn's cross entropy
writes in their place (`logprobs_from_logits`, inplace_backward). High: torch's own log_softmax
(`logprobs_from_logits_v2`): it keeps fp32 outputs (4), the gradient stands twice in bf16 (4)."""
LOGITS_OF_TORCH = Span.exactly(8)
"""The high case of LOGITS_IN_TRAINING: without flash-attn."""
LOGITS_WITH_ENTROPY = Span(6, 16)
"""Low: bf16 logits, and a gradient each from log-probability and entropy (inplace_backward is off
then). High: uncompiled `entropy_from_logits`, which keeps softmax and its product in fp32."""
LOGITS_OF_A_LOOK = Span(2, 4)
"""Without gradients and entropy: the logits, and a copy where the temperature is not 1."""
LOGITS_OF_A_LOOK_WITH_ENTROPY = Span(2, 12)
"""High: uncompiled `entropy_from_logits`, softmax and product in fp32 beside the logits."""
TRANSIENT = 1.3
"""Upper bound of the activations against what autograd keeps: gradients of a layer's inner
tensors, kernel workspaces."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A model under FSDP."""

    shape: Shape
    shards: int
    """GPUs that a copy of the model is cut over."""
    stored: int = 4
    """Bytes of a parameter as it is kept: fp32, unless `model_dtype` says otherwise."""
    computed: int = 2
    """Bytes of a parameter in a pass: `mixed_precision.param_dtype`, bf16."""
    checkpointing: bool = True
    """Gradient checkpointing: each layer keeps its input alone and is run again."""
    whole_after_forward: bool = False
    """`reshard_after_forward=False`: all layers stay gathered until their backward pass."""
    one_by_one: bool = False
    """FSDP2: AdamW takes one tensor after the other; of FSDP1's flat ones it takes all."""

    @property
    def weights(self) -> Span:
        """The shard of the parameters."""
        return Span.exactly(self.stored * self.shape.parameters / self.shards)

    @property
    def gradients(self) -> Span:
        """Their gradients, of the parameters' type."""
        return self.weights

    @property
    def optimizer(self) -> Span:
        """AdamW's two moments, of the parameters' type (torch.optim.AdamW)."""
        return self.weights.times(2)


@dataclass(frozen=True, slots=True)
class Pass:
    """One micro batch through the model."""

    tokens: float
    """On this GPU, padding included."""
    logits: Span
    """Bytes per token and vocabulary entry, one of the constants of this module."""
    accumulated: bool = True
    """Whether gradients of earlier micro batches are there already."""


def layer_activations(model: Trained) -> float:
    """Bytes per token that autograd keeps of one decoder layer.

    Two norms: the fp32 copy of the input, the normed bf16 tensor before and after its weight.
    Attention that never forms the scores (SDPA, flash-attn): query, key, value, output. MLP: gate,
    its activation, up, and their product. Query and key norms as the two others.
    """
    shape, size = model.shape, model.computed
    norms = 2 * shape.hidden * (4 + 2 * size)
    attention = size * (2 * shape.query + 2 * shape.kv)
    if shape.head_norms:
        attention += (4 + size) * (shape.query + shape.kv)
    return norms + attention + size * 4 * shape.inner


def update(model: Trained, work: Pass) -> Phase:
    """The fullest moment of forward, backward and optimizer step, of one model alone.

    Three moments compete: the loss over the logits, the last layer's backward pass, the step. One
    that can't be told wins, so that the phase is not taken for known.
    """
    moments = (_loss(model, work), _backward(model, work), _step(model))
    return max(moments, key=lambda moment: (not moment.complete, moment.known.high))


def look(model: Trained, work: Pass) -> Phase:
    """A pass without gradients (log-probabilities, values): weights, a layer in flight, logits."""
    shape = model.shape
    unit = model.computed * shape.layer
    flight = model.computed * work.tokens * (2 * shape.hidden + 3 * shape.inner)
    activations = None if shape.experts else Span(0.5 * flight, 2 * flight)
    gathered = Span(unit, 2 * unit + model.computed * shape.root)
    return Phase(
        "look",
        (
            Part("weights", model.weights),
            Part("gathered layers", gathered),
            Part("activations", activations),
            Part("logits", _logits(model, work)),
        ),
    )


def _at_rest(model: Trained, gradients: Span) -> tuple[Part, ...]:
    return (
        Part("weights", model.weights),
        Part("gradients", gradients),
        Part("optimizer", model.optimizer),
    )


def _loss(model: Trained, work: Pass) -> Phase:
    shape, size = model.shape, model.computed
    held = model.gradients if work.accumulated else NOTHING
    root = Span(size * shape.embedding, size * (shape.root + shape.layer))
    parts = (
        *_at_rest(model, held),
        Part("gathered layers", root + _kept_whole(model)),
        Part("activations", _saved(model, work)),
        Part("logits", _logits(model, work)),
    )
    return Phase("loss", parts)


def _backward(model: Trained, work: Pass) -> Phase:
    """The gathered layer and the next one, the gradient of one whole in bf16 and as it is reduced;
    the root, which FSDP gathers once and whose gradient waits for the end."""
    shape, size = model.shape, model.computed
    held = Span(model.gradients.low if work.accumulated else 0, model.gradients.high)
    gathered = Span(
        2 * size * shape.layer + size * shape.embedding,
        (4 * size + 2 * REDUCED) * shape.layer + 2 * size * shape.root,
    )
    saved = _saved(model, work)
    again = work.tokens * layer_activations(model) if model.checkpointing else 0.0
    parts = (
        *_at_rest(model, held),
        Part("gathered layers", gathered + _kept_whole(model)),
        Part("activations", saved + Span(again, TRANSIENT * again) if saved else None),
    )
    return Phase("backward", parts)


def _step(model: Trained) -> Phase:
    """AdamW forms the root of the second moment: of all parameters, or of one at a time
    (torch/optim/adam.py, `_multi_tensor_adam` and `_single_tensor_adam`)."""
    one = model.stored * model.shape.largest_tensor / model.shards
    work = Span(one, 2 * one) if model.one_by_one else Span(one, one + model.weights.high)
    return Phase("step", (*_at_rest(model, model.gradients), Part("step", work)))


def _kept_whole(model: Trained) -> Span:
    layers = model.computed * model.shape.layers * model.shape.layer
    return Span.exactly(layers) if model.whole_after_forward else NOTHING


def _saved(model: Trained, work: Pass) -> Span | None:
    """What autograd keeps of all layers: their inputs alone with checkpointing. None for experts,
    whose share of the tokens differs from step to step."""
    if model.shape.experts:
        return None
    inputs = model.computed * model.shape.hidden
    each = inputs if model.checkpointing else layer_activations(model)
    whole = work.tokens * model.shape.layers * each
    return Span(whole, TRANSIENT * whole)


def _logits(model: Trained, work: Pass) -> Span:
    return work.logits.times(work.tokens * model.shape.vocabulary)
