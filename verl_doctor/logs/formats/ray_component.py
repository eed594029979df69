"""`(raylet)`, `(raylet, ip=A)`, `(autoscaler +8m46s)`: a part of Ray itself, on the driver."""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="ray_component",
    starts="(",
    then="rasgdlm",
    pattern=r"\((?P<actor>raylet|autoscaler|scheduler|gcs_server|gcs|dashboard|log_monitor|monitor"
    r")(?:, ip=(?P<node>[^\s,)]+)| \+[\ddhms]+)?\) ?",
    every_line=True,
    samples=(
        Sample(
            "(raylet) A worker died or was killed while executing a task",
            "A worker died or was killed while executing a task",
            {"actor": "raylet"},
        ),
        Sample(
            "(raylet, ip=10.0.0.3) Traceback (most recent call last):",
            "Traceback (most recent call last):",
            {"actor": "raylet", "node": "10.0.0.3"},
        ),
        Sample("(autoscaler +8m46s) Tip: use it", "Tip: use it", {"actor": "autoscaler"}),
        Sample("(scheduler +2m13s) Error: none", "Error: none", {"actor": "scheduler"}),
    ),
)
