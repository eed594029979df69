"""`(Name pid=N, ip=A)`: a Ray worker, or a process of vLLM, which tags its output the same way."""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="process_tag",
    starts="(",
    # a Ray name may be the repr of an actor or a data operator: blanks and parentheses included
    pattern=r"\((?:(?P<actor>[^\s()][^\n]{0,150}?) )?pid=(?P<pid>\d+)"
    r"(?:, ip=(?P<node>[^\s,)]+))?\) ?",
    needs=("pid=",),
    every_line=True,
    steady=True,
    samples=(
        Sample(
            "(TaskRunner pid=25951) step:1 - actor/entropy:0.2",
            "step:1 - actor/entropy:0.2",
            {"actor": "TaskRunner", "pid": "25951"},
        ),
        Sample(
            '(WorkerDict pid=41, ip=10.0.0.2)   File "/a/b.py", line 3, in f',
            '  File "/a/b.py", line 3, in f',
            {"actor": "WorkerDict", "pid": "41", "node": "10.0.0.2"},
        ),
        Sample("(pid=25951)   warnings.warn(", "  warnings.warn(", {"pid": "25951"}),
        Sample(
            "(MapBatches(tokenize)->Filter(too long) pid=7) text",
            "text",
            {"actor": "MapBatches(tokenize)->Filter(too long)", "pid": "7"},
        ),
        Sample(
            "(APIServer pid=88) Traceback (most recent call last):",
            "Traceback (most recent call last):",
            {"actor": "APIServer", "pid": "88"},
        ),
        Sample(
            "(EngineCore_DP0 pid=77) Process EngineCore_DP0:",
            "Process EngineCore_DP0:",
            {"actor": "EngineCore_DP0", "pid": "77"},
        ),
        Sample("(Worker_TP1 pid=9) text", "text", {"actor": "Worker_TP1", "pid": "9"}),
    ),
)
