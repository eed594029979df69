"""`[E1201 06:03:00.917549497 ProcessGroupNCCL.cpp:612] [Rank 0] `: torch's C++ logger, three ages.

The rank in the second bracket is that of the process within its group; it is the rank of the run
only in group 0. `[rank3]:` in front, where torch is new enough to print it, is always right.
"""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="c10d",
    starts="[",
    then="IWEFC",
    pattern=r"\[(?P<level>[IWEFC])(?:\d{3,4} \d\d:\d\d:\d\d\.\d+)? "
    r"[\w./-]+\.(?:cpp|hpp|h|cc|cu|mm):\d+\] ?"
    r"(?:\[(?:PG (?:ID )?0 (?:[^\]\n]{0,120}? )?)?Rank (?P<rank>\d+)\] ?"
    r"|\[PG [^\]\n]{0,120}? Rank \d+\] ?)?",
    needs=(".cpp:", ".hpp:", ".h:", ".cc:", ".cu:", ".mm:"),
    samples=(
        Sample(
            "[rank0]:[E1201 06:03:00.917549497 ProcessGroupNCCL.cpp:612] [Rank 0] Watchdog caught",
            "Watchdog caught",
            {"rank": "0", "level": "ERROR"},
        ),
        Sample(
            "[rank7]:[E419 10:42:28.858001002 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught",
            "Watchdog caught",
            {"rank": "7", "level": "ERROR"},
        ),
        Sample(
            "[I1201 06:04:06.690526695 ProcessGroupNCCL.cpp:1725] [PG ID 0 PG GUID 0(default_pg)"
            " Rank 1]  failure detected",
            " failure detected",
            {"rank": "1", "level": "INFO"},
        ),
        Sample(
            "[rank4]:[E321 02:07:08.414640780 ProcessGroupNCCL.cpp:1664] [PG 1 Rank 0] Exception",
            "Exception",
            {"rank": "4", "level": "ERROR"},
        ),
        Sample(
            "[E321 02:07:08.414640780 ProcessGroupNCCL.cpp:1664] [PG 3 Rank 0] Exception",
            "Exception",
            {"level": "ERROR"},
        ),
        Sample(
            "[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught",
            "Watchdog caught",
            {"rank": "3", "level": "ERROR"},
        ),
        Sample(
            "[W socket.cpp:601] [c10d] The client socket has failed",
            "[c10d] The client socket has failed",
            {"level": "WARNING"},
        ),
    ),
)
