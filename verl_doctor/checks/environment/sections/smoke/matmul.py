"""Compares a bf16 matrix product with the same one in fp32."""

from __future__ import annotations

import importlib

SIZE = 1024
TOLERANCE = 0.01
"""Largest error allowed, of the largest element. bf16 keeps 8 bits, so rounding the result alone
costs up to 1/512; a product cut along its inner dimension may round partial sums as well."""


def matmul(*_: str) -> dict[str, str]:
    """Multiplies on the first GPU, or on the CPU where there is none."""
    torch = importlib.import_module("torch")
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = False  # the reference has to be better than bf16
    generator = torch.Generator().manual_seed(0)
    left, right = (
        torch.randn(SIZE, SIZE, generator=generator).to(device=device, dtype=torch.bfloat16)
        for _ in range(2)
    )
    reference = left.float() @ right.float()
    off = float(((left @ right).float() - reference).abs().max() / reference.abs().max())
    if not off <= TOLERANCE:  # NaN too
        raise ArithmeticError(f"{device}: bf16 is off by {off:g} of the largest element")
    return {"what": f"{device}: {off:.2g}", "skipped": ""}


PARTS = (matmul,)
