"""`[rank3]: `: torch's exception hook and c10d; torchrun's own template writes it without a blank.

Which of the two it was shows only at `[rank3]:  File "…"`, where the two blanks are Python's.
"""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="rank_tag",
    starts="[",
    then="r",
    pattern=r'\[rank(?P<rank>\d+)\]:(?:(?!  File ") )?',
    every_line=True,
    steady=True,
    samples=(
        Sample(
            "[rank3]: Traceback (most recent call last):",
            "Traceback (most recent call last):",
            {"rank": "3"},
        ),
        Sample(
            '[rank1]:   File "/a/train.py", line 16, in <module>',
            '  File "/a/train.py", line 16, in <module>',
            {"rank": "1"},
        ),
        Sample(
            '[rank1]:  File "/a/train.py", line 16, in <module>',
            '  File "/a/train.py", line 16, in <module>',
            {"rank": "1"},
        ),
        Sample("[rank12]:     work.wait()", "    work.wait()", {"rank": "12"}),
    ),
)
