"""`ERROR: `, `[ERROR] `: a level that someone wrote into the message. The text stays as it is."""

from __future__ import annotations

from . import LEVEL_STARTS, LEVEL_THEN, LEVELS, Format, Sample

FORMAT = Format(
    name="level_word",
    starts=LEVEL_STARTS + "[",
    then=LEVEL_THEN + LEVEL_STARTS,
    pattern=rf"(?=(?P<level>{LEVELS}):(?:\s|$)|\[(?P<level_>{LEVELS})\](?:[ :]|$))",
    samples=(
        Sample("ERROR: out of disk", "ERROR: out of disk", {"level": "ERROR"}),
        Sample("INFO:     Started server", "INFO:     Started server", {"level": "INFO"}),
        Sample("[WARNING] text", "[WARNING] text", {"level": "WARNING"}),
    ),
)
