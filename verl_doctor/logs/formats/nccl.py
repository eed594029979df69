"""`host:pid:tid [gpu] `: NCCL_DEBUG, newer with `[date time] ` in front.

`NCCL WARN` and the source file stay in the text: they are what is searched for.
"""

from __future__ import annotations

from . import ALNUM, Format, Sample

FORMAT = Format(
    name="nccl",
    starts=ALNUM + "[",
    pattern=r"(?:\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] )?(?P<node>[A-Za-z0-9][\w.-]{0,80})"
    r":(?P<pid>\d+):\d+ \[-?\d+\] (?=(?:\S{1,120} )?NCCL (?P<level>WARN|INFO|TRACE|ERROR) )",
    needs=(" NCCL ",),
    samples=(
        Sample(
            "vm:1187:1285 [0] misc/socket.cc:72 NCCL WARN socketProgress: Connection closed",
            "misc/socket.cc:72 NCCL WARN socketProgress: Connection closed",
            {"node": "vm", "pid": "1187", "level": "WARNING"},
        ),
        Sample(
            "[2026-12-01 06:03:09] vm:1489:1490 [0] bootstrap.cc:114 NCCL WARN Bootstrap : none",
            "bootstrap.cc:114 NCCL WARN Bootstrap : none",
            {"node": "vm", "pid": "1489", "level": "WARNING", "time": "2026-12-01T06:03:09"},
        ),
        Sample(
            "tj5-ai.h800:534:1763 [3] NCCL INFO NVLS comm 0x7f",
            "NCCL INFO NVLS comm 0x7f",
            {"node": "tj5-ai.h800", "pid": "534", "level": "INFO"},
        ),
        Sample(
            "(WorkerDict pid=41) vm:41:99 [0] NCCL INFO comm",
            "NCCL INFO comm",
            {"actor": "WorkerDict", "pid": "41", "level": "INFO"},
        ),
    ),
)
