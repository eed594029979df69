"""`W1201 05:49:39.614000 20925 torch/distributed/run.py:874] `: torch's Python logger.

The process id is left alone: the agent's other lines have none.
"""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="elastic_glog",
    starts="DIWEFCV",
    then=DIGITS,
    pattern=r"(?P<level>[DIWEFCV])\d{4} \d\d:\d\d:\d\d\.\d+ +\[?\d+\]?(?: \[?\d+\]?)? "
    r"[^\s\]]+:\d+\] ?",
    needs=("]",),
    samples=(
        Sample(
            "W1201 05:49:39.614000 20925 torch/distributed/run.py:874] "
            "*****************************************",
            "*****************************************",
            {"level": "WARNING"},
        ),
        Sample(
            "E1201 06:08:42.856000 11121 site-packages/torch/distributed/elastic/multiprocessing/"
            "api.py:1002] failed (exitcode: -6) local_rank: 0 (pid: 11128) of binary: /usr/bin/py",
            "failed (exitcode: -6) local_rank: 0 (pid: 11128) of binary: /usr/bin/py",
            {"level": "ERROR"},
        ),
        Sample(
            "[rank1]:W1201 06:08:42.856000 11121 torch/_dynamo/convert_frame.py:844] [0/8] limit",
            "[0/8] limit",
            {"level": "WARNING", "rank": "1"},
        ),
    ),
)
