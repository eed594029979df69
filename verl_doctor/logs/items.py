"""What a reader gives: lines that hit, whole tracebacks, config dumps."""

from __future__ import annotations

from typing import NamedTuple

from ..model import Block, Line
from .blocks import Part


class Seen(NamedTuple):
    """A line that hit something, or lies in an open traceback."""

    line: Line
    anchors: frozenset[int]
    literals: tuple[int, ...]
    raw: str = ""
    """The line with its prefixes: a progress bar's own words are one."""
    part: Part | None = None
    token: int = 0
    """Which open traceback took it; the `Done` of that traceback has the same."""
    stamp: float | None = None
    """The time that this line itself tells; `line.time` may be that of a line before it."""


class Done(NamedTuple):
    """A traceback is complete."""

    token: int
    block: Block
    kept: bool = False
    """It may come `Again`."""


class Dump(NamedTuple):
    """A pretty-printed config, its text without prefixes."""

    line: Line
    last_line: int
    text: str


class Again(NamedTuple):
    """A traceback that was `Done` and `kept` before was printed once more, byte for byte."""

    token: int
    line: int
    """Of its beginning."""
    last_line: int
    time: float | None


Item = Seen | Done | Dump | Again
