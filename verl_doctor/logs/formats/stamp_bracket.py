"""`[2026-03-11 17:47:54] `, `[2026-02-24T20:21:58Z] `: the time alone in brackets."""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="stamp_bracket",
    starts="[",
    then=DIGITS,
    pattern=r"\[(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\]"
    r"(?: |$)",
    samples=(
        Sample("[2026-03-11 17:47:54] text", "text", {"time": "2026-03-11T17:47:54"}),
        Sample("[2026-02-24T20:21:58Z]   text", "  text", {"time": "2026-02-24T20:21:58"}),
    ),
)
