"""`[2026-12-01 06:34:17,686][__main__][WARNING] - `: hydra's job logging."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="hydra_log",
    starts="[",
    then=DIGITS,
    pattern=r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]\[[^\]\n]{1,120}\]"
    rf"\[(?P<level>{LEVELS}) *\] -(?: |$)",
    needs=("][",),
    samples=(
        Sample(
            "[2026-12-01 06:34:17,686][__main__][WARNING] - Legacy trainer",
            "Legacy trainer",
            {"level": "WARNING", "time": "2026-12-01T06:34:17.686"},
        ),
    ),
)
