"""`[36m(WorkerDict pid=41)[0m `: a colour whose escape character was lost when it was copied."""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="bare_colour",
    starts="[",
    then=DIGITS,
    pattern=r"\[(?:0m ?|\d{1,3}(?:;\d{1,3}){0,4}m)",
    samples=(
        Sample("[36mtext", "text", {}),
        Sample(
            '[36m(WorkerDict pid=41)[0m   File "a.py", line 3',
            '  File "a.py", line 3',
            {"actor": "WorkerDict", "pid": "41"},
        ),
        Sample("[33m(raylet)[0m text", "text", {"actor": "raylet"}),
    ),
)
