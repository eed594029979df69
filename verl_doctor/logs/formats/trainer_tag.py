"""`[trainer0|0]:`: torchrun started by a trainer that names its role, with the local rank."""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="trainer_tag",
    starts="[",
    pattern=r"\[(?P<actor>[A-Za-z][\w-]{0,40})\|(?P<rank>\d+)\]:",
    needs=("]:",),
    every_line=True,
    steady=True,
    samples=(Sample("[trainer0|0]:text", "text", {"actor": "trainer0", "rank": "0"}),),
)
