"""`vllm-1  | `: docker compose. A copy may have lost the name, and keeps ` | ` before a stamp.

A name ends in a number, or a table whose cells are parted by bars would count as one.
"""

from __future__ import annotations

from . import ALNUM, Format, Sample

FORMAT = Format(
    name="compose",
    starts=" " + ALNUM.lower(),
    pattern=r"(?<![^\n])(?:(?P<node>[a-z0-9][a-z0-9_.-]{0,60}[-_]\d+) +\|(?: |$)"
    r"| \| (?=\[\d{4}-\d\d-\d\d[T ]))",
    needs=(" |",),
    every_line=True,
    samples=(
        Sample("vllm-1  | text", "text", {"node": "vllm-1"}),
        Sample("vllm_server_1 |   text", "  text", {"node": "vllm_server_1"}),
        Sample(" | [2026-02-24T20:21:58Z] text", "text", {"time": "2026-02-24T20:21:58"}),
    ),
)
