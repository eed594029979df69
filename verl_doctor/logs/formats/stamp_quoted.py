"""`"2025-08-07T21:02:33+08:00" `: the time in quotes, as a cloud console exports it."""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="stamp_quoted",
    starts='"',
    then=DIGITS,
    pattern=r'"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"'
    r"[,:]?(?: |$)",
    samples=(
        Sample('"2025-08-07T21:02:33+08:00" text', "text", {"time": "2025-08-07T13:02:33"}),
        Sample('"2025-08-07T21:02:33Z", text', "text", {"time": "2025-08-07T21:02:33"}),
    ),
)
