"""How large a model is: its parameters and the tensors of a layer, from its config.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PLAIN = ("llama", "mistral", "qwen2", "qwen3")
"""Types whose decoder layer is attention with grouped heads and a gated MLP of three matrices
(transformers, modeling_<type>.py)."""
EXPERTS = ("qwen3_moe",)
"""The same with experts in place of the MLP."""
QKV_BIAS = ("qwen2",)
LARGEST = 1_000_000_000
"""No size in a config.json of a model is larger; what is, would only overflow the sums."""
HEAD_NORMS = ("qwen3", "qwen3_moe")


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a decoder-only model. Counts of elements, not of bytes."""

    layers: int
    hidden: int
    query: int
    """Heads x head size."""
    kv_heads: int
    head: int
    """Size of a head."""
    inner: int
    """Width of the MLP, of one expert where there are experts."""
    vocabulary: int
    tied: bool
    """Whether the embedding is the output matrix too."""
    biased: bool = False
    """Whether the projections to query, key and value have a bias."""
    head_norms: bool = False
    """Whether query and key are normed head by head."""
    experts: int = 0

    @property
    def kv(self) -> int:
        """Elements of a token's key in one layer; as many of its value."""
        return self.kv_heads * self.head

    @property
    def embedding(self) -> int:
        """Parameters of the embedding, or of the output matrix."""
        return self.vocabulary * self.hidden

    @property
    def layer(self) -> int:
        """Parameters of one decoder layer."""
        attention = 2 * self.hidden * (self.query + self.kv)
        if self.biased:
            attention += self.query + 2 * self.kv
        if self.head_norms:
            attention += 2 * self.head
        mlp = 3 * self.hidden * self.inner
        if self.experts:
            mlp = self.experts * (mlp + self.hidden)  # the router has a row for each expert
        return attention + mlp + 2 * self.hidden

    @property
    def root(self) -> int:
        """Parameters outside of the layers: embedding, output matrix, last norm."""
        return self.embedding * (1 if self.tied else 2) + self.hidden

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.layers * self.layer + self.root

    @property
    def largest_tensor(self) -> int:
        """Elements of the largest single parameter."""
        return max(self.embedding, self.hidden * self.inner * max(1, self.experts))


def shape(config: Mapping[str, Any]) -> Shape | str:
    """The sizes that a model's config.json states, or why they can't be told.

    Takes the content of config.json as transformers 4 or 5 writes it.
    """
    kind = config.get("model_type")
    if kind not in (*PLAIN, *EXPERTS):
        return f"model_type {kind!r}"
    experts = kind in EXPERTS
    if experts and (config.get("mlp_only_layers") or config.get("decoder_sparse_step", 1) != 1):
        return "experts in some layers only"
    if config.get("quantization_config"):
        return "quantized weights"

    def number(key: str, default: Any = None) -> int:
        value = config.get(key)
        value = default if value is None else value
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
            raise ValueError(key)
        return value

    try:
        hidden, heads = number("hidden_size"), number("num_attention_heads")
        head = number("head_dim", hidden // heads)
        return Shape(
            layers=number("num_hidden_layers"),
            hidden=hidden,
            query=heads * head,
            kv_heads=number("num_key_value_heads", heads),
            head=head,
            inner=number("moe_intermediate_size" if experts else "intermediate_size"),
            vocabulary=number("vocab_size"),
            tied=config.get("tie_word_embeddings", False) is True,
            biased=kind in QKV_BIAS or config.get("attention_bias") is True,
            head_norms=kind in HEAD_NORMS,
            experts=number("num_experts") if experts else 0,
        )
    except ValueError as error:
        return f"config.json states no sound {error}"
