"""`[2023-11-14 16:10:09,253] [INFO] [launch.py:314:sigkill_handler] `: DeepSpeed."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="deepspeed",
    starts="[",
    then=DIGITS,
    pattern=r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] "
    rf"\[(?P<level>{LEVELS})\] \[[^\]\s]+:\d+(?::[^\]\n]{{1,80}})?\] ?",
    needs=("] [",),
    samples=(
        Sample(
            "[2023-11-14 16:10:09,253] [INFO] [launch.py:314:sigkill_handler] Killing subprocess 7",
            "Killing subprocess 7",
            {"level": "INFO", "time": "2023-11-14T16:10:09.253"},
        ),
        Sample(
            "[2023-11-14 16:10:09,253] [ERROR] [launch.py:320:<module>] [Rank 0] text",
            "[Rank 0] text",
            {"level": "ERROR", "time": "2023-11-14T16:10:09.253"},
        ),
    ),
)
