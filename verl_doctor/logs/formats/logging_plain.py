"""`2026-12-01 06:00:00,123 ERROR `, `… [ERROR] `: time and level, then the message."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="logging_plain",
    starts=DIGITS,
    then=DIGITS,
    # a level followed by month and day is vLLM's own prefix behind a stamp
    pattern=r"(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?) "
    rf"(?:\[(?P<level>{LEVELS})\]|(?P<level_>{LEVELS})(?! \d\d-\d\d ))(?::? |:?$)",
    samples=(
        Sample(
            "2026-12-01 06:00:00,123 ERROR text",
            "text",
            {"level": "ERROR", "time": "2026-12-01T06:00:00.123"},
        ),
        Sample(
            "2026-12-01 06:00:00 [WARNING] text",
            "text",
            {"level": "WARNING", "time": "2026-12-01T06:00:00"},
        ),
    ),
)
