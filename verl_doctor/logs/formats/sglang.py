"""`[2025-06-22 16:13:55 DP0 TP0] `: SGLang's logger.

The ranks in it are not taken as the worker: a traceback that begins behind this prefix goes on
without it, and would be torn in two.
"""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="sglang",
    starts="[",
    then=DIGITS,
    pattern=r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?)(?: [A-Z_]{2,12}\d+)+\] ?",
    samples=(
        Sample("[2025-06-22 16:13:55 TP0] text", "text", {"time": "2025-06-22T16:13:55"}),
        Sample(
            "[2025-06-22 16:13:55 DP0 TP0] Scheduler hit an exception: Traceback",
            "Scheduler hit an exception: Traceback",
            {"time": "2025-06-22T16:13:55"},
        ),
    ),
)
