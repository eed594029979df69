"""`Aug 17 18:42:18 host unit[123]: `: journald and syslog. No year."""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="journald",
    starts="JFMASOND",
    then="aepuco",
    pattern=r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d "
    r"(?P<node>[\w.-]{1,80}) (?P<actor>[^\s\[\]:]{1,80})(?:\[(?P<pid>\d+)\])?:(?: |$)",
    needs=(":",),
    every_line=True,
    samples=(
        Sample(
            "Aug 17 18:42:18 gpu-03 train[123]: text",
            "text",
            {"node": "gpu-03", "actor": "train", "pid": "123"},
        ),
        Sample(
            "Aug  7 18:42:18 gpu-03 kernel: Out of memory: Killed process 7 (python)",
            "Out of memory: Killed process 7 (python)",
            {"node": "gpu-03", "actor": "kernel"},
        ),
    ),
)
