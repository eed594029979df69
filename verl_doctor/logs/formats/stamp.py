"""`2025-08-07T21:02:33.123Z `: the time alone, by Kubernetes, a CI or a cloud; or a naive one."""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="stamp",
    starts=DIGITS,
    then=DIGITS,
    pattern=r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
    r"(?: std(?:out|err) [FP])?(?: |$)",
    samples=(
        Sample(
            '2025-08-07T21:02:33.123456789Z   File "a.py", line 3',
            '  File "a.py", line 3',
            {"time": "2025-08-07T21:02:33.123456"},
        ),
        Sample(
            "2025-08-07T21:02:33+08:00 stderr F text",
            "text",
            {"time": "2025-08-07T13:02:33"},
        ),
        Sample("2025-08-07 21:02:33,500 text", "text", {"time": "2025-08-07T21:02:33.500"}),
        Sample(
            "2025-08-07T21:02:33Z (TaskRunner pid=5, ip=10.0.0.2) (EngineCore_DP0 pid=77) ERROR"
            " 12-01 06:04:40 [core.py:708] text",
            "text",
            {
                "node": "10.0.0.2",
                "actor": "TaskRunner/EngineCore_DP0",
                "pid": "77",
                "level": "ERROR",
                "time": "2025-08-07T21:02:33",
            },
        ),
    ),
)
