"""`3: `: srun --label. Only at the start of a line; the task counts as the rank.

srun pads the number to the width of the largest task, so up to two blanks stand before it.
"""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="srun_label",
    starts=" " + DIGITS,
    then=" :" + DIGITS,
    pattern=r"(?<![^\n]) {0,2}(?P<rank>0|[1-9]\d{0,4}):(?: |$)",
    every_line=True,
    steady=True,
    needs=(":",),
    samples=(
        Sample("3: text", "text", {"rank": "3"}),
        Sample(" 7: Traceback", "Traceback", {"rank": "7"}),
        Sample('12:   File "a.py", line 3', '  File "a.py", line 3', {"rank": "12"}),
        Sample("0: [rank3]: text", "text", {"rank": "3"}),
    ),
)
