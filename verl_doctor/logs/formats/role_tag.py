"""`[default3]:`: torchrun's --tee. The number is the local rank, all that such a line says.

torchrun adds no blank: one that follows is content.
"""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="role_tag",
    starts="[",
    then="d",
    pattern=r"\[default(?P<rank>\d+)\]:",
    every_line=True,
    steady=True,
    samples=(
        Sample("[default3]:Loading weights", "Loading weights", {"rank": "3"}),
        Sample('[default0]:  File "a.py", line 3', '  File "a.py", line 3', {"rank": "0"}),
        Sample("[default0]:[rank8]: text", "text", {"rank": "8"}),
    ),
)
