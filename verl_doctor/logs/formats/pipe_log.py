"""`2024-01-22 14:32:27 | ERROR | stderr | `: a captured stream or a named logger between bars."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="pipe_log",
    starts=DIGITS,
    then=DIGITS,
    pattern=r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?) \| "
    rf"(?P<level>{LEVELS}) *\| (?:[\w.:-]{{1,80}} \|(?: |$))?",
    needs=(" | ",),
    samples=(
        Sample(
            '2024-01-22 14:32:27 | ERROR | stderr |   File "a.py", line 3',
            '  File "a.py", line 3',
            {"level": "ERROR", "time": "2024-01-22T14:32:27"},
        ),
        Sample(
            "2024-01-22 14:32:27 | INFO | some text",
            "some text",
            {"level": "INFO", "time": "2024-01-22T14:32:27"},
        ),
    ),
)
