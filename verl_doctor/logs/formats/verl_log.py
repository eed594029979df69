"""`WARNING:2026-12-01 06:32:25,183:`: verl's logger."""

from __future__ import annotations

from . import LEVEL_STARTS, LEVEL_THEN, LEVELS, Format, Sample

FORMAT = Format(
    name="verl_log",
    starts=LEVEL_STARTS,
    then=LEVEL_THEN,
    pattern=rf"(?P<level>{LEVELS}):(?P<time>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d,\d{{3}}):",
    needs=(":",),
    samples=(
        Sample(
            "WARNING:2026-12-01 06:34:15,430:No supported accelerator detected.",
            "No supported accelerator detected.",
            {"level": "WARNING", "time": "2026-12-01T06:34:15.430"},
        ),
    ),
)
