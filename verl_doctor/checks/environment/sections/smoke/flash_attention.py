"""Calls flash-attn and compares it with plain attention in fp32."""

from __future__ import annotations

import importlib
import importlib.util

TOLERANCE = 0.01
"""Largest error allowed. The outputs are averages of values of about 1, which bf16 rounds by up to
1/512, once for the weights and once for the result."""


def flash_attention(*_: str) -> dict[str, str]:
    """One causal attention of 4 heads over 256 tokens on the first GPU."""
    torch = importlib.import_module("torch")
    if importlib.util.find_spec("flash_attn") is None:
        return {"what": "", "skipped": "flash-attn"}
    if not torch.cuda.is_available():
        return {"what": "", "skipped": "gpu"}
    flash = importlib.import_module("flash_attn")
    generator = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(1, 256, 4, 64, generator=generator).to("cuda:0", torch.bfloat16)
        for _ in range(3)
    )
    result = flash.flash_attn_func(query, key, value, causal=True).float()
    heads = [one.float().transpose(1, 2) for one in (query, key, value)]
    scores = heads[0] @ heads[1].transpose(-1, -2) / 64**0.5
    later = torch.ones(256, 256, dtype=torch.bool, device="cuda:0").triu(1)
    reference = (scores.masked_fill(later, float("-inf")).softmax(-1) @ heads[2]).transpose(1, 2)
    off = float((result - reference).abs().max())
    if not off <= TOLERANCE * max(1.0, float(reference.abs().max())):
        raise ArithmeticError(f"flash-attn is off by {off:g}")
    return {"what": f"flash-attn {flash.__version__}: {off:.2g}", "skipped": ""}


PARTS = (flash_attention,)
