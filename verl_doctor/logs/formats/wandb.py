"""`wandb: `, `wandb: ERROR `: messages of Weights & Biases."""

from __future__ import annotations

from . import LEVELS, Format, Sample

FORMAT = Format(
    name="wandb",
    starts="w",
    then="a",
    pattern=rf"wandb:(?: (?:(?P<level>{LEVELS}) (?!\d\d-\d\d ))?|$)",
    needs=("wandb:",),
    samples=(
        Sample("wandb: Find logs at: /tmp/wandb", "Find logs at: /tmp/wandb", {}),
        Sample("wandb: ERROR api_key not configured", "api_key not configured", {"level": "ERROR"}),
        Sample("wandb:         actor/grad_norm 0.2", "        actor/grad_norm 0.2", {}),
    ),
)
