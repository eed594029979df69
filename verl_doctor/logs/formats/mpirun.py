"""`[1,3]<stdout>:`: mpirun --tag-output: job and rank. Blanks behind it are content."""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="mpirun",
    starts="[",
    then=DIGITS,
    pattern=r"\[\d+,(?P<rank>\d+)\]<std(?:out|err)>:",
    every_line=True,
    steady=True,
    samples=(
        Sample("[1,3]<stdout>:text", "text", {"rank": "3"}),
        Sample("[1,12]<stderr>:    x = 1", "    x = 1", {"rank": "12"}),
    ),
)
