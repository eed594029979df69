"""`INFO 12-01 06:01:52 [__init__.py:220] `: vLLM's logger; older: `engine.py:366] `.

The stamp has no year, so it gives no time.
"""

from __future__ import annotations

from . import LEVEL_STARTS, LEVEL_THEN, LEVELS, Format, Sample

FORMAT = Format(
    name="vllm",
    starts=LEVEL_STARTS,
    then=LEVEL_THEN,
    pattern=rf"(?P<level>{LEVELS}) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \[?[^\s\[\]:]+:\d+\] ?",
    needs=("]",),
    samples=(
        Sample(
            "INFO 12-01 06:01:52 [__init__.py:220] No platform detected",
            "No platform detected",
            {"level": "INFO"},
        ),
        Sample(
            'ERROR 12-01 06:04:40 [v1/engine/core.py:708]   File "a.py", line 3, in f',
            '  File "a.py", line 3, in f',
            {"level": "ERROR"},
        ),
        Sample("WARNING 02-24 10:11:12 engine.py:366] text", "text", {"level": "WARNING"}),
        Sample(
            "(TaskRunner pid=5, ip=10.0.0.2) (EngineCore_DP0 pid=77) ERROR 12-01 06:04:40"
            " [core.py:708] text",
            "text",
            {
                "actor": "TaskRunner/EngineCore_DP0",
                "pid": "77",
                "node": "10.0.0.2",
                "level": "ERROR",
            },
        ),
        Sample(
            "(VllmWorkerProcess pid=9) ERROR 12-01 06:04:40 multiproc_worker_utils.py:226] text",
            "text",
            {"actor": "VllmWorkerProcess", "pid": "9", "level": "ERROR"},
        ),
    ),
)
