"""`[2024-03-01 10:00:00,123] torch.distributed.run: [WARNING] `: torch's elastic agent once."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="elastic_log",
    starts="[",
    then=DIGITS,
    pattern=r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (?:\[[\d/]+\] )?"
    rf"[\w.]+: \[(?P<level>{LEVELS})\] ?",
    needs=(": [",),
    samples=(
        Sample(
            "[2024-03-01 10:00:00,123] torch.distributed.elastic.multiprocessing.api: [ERROR] "
            "failed (exitcode: 1) local_rank: 0",
            "failed (exitcode: 1) local_rank: 0",
            {"level": "ERROR", "time": "2024-03-01T10:00:00.123"},
        ),
    ),
)
