"""`2026-12-01 06:00:00.123 | ERROR    | mod:func:42 - `: loguru."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="loguru",
    starts=DIGITS,
    then=DIGITS,
    pattern=r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?) \| "
    rf"(?P<level>{LEVELS}) *\| [\w.]{{1,120}}:[\w.<>]{{1,80}}:\d+ -(?: |$)",
    needs=(" | ",),
    samples=(
        Sample(
            "2026-12-01 06:00:00.123 | ERROR    | mod.sub:<module>:42 - text",
            "text",
            {"level": "ERROR", "time": "2026-12-01T06:00:00.123"},
        ),
    ),
)
