"""A chunk of a log, and what hits in it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .anchors import COLOURED
from .colours import uncoloured

if TYPE_CHECKING:
    from .database import Scanner


class Scanned(NamedTuple):
    """A chunk and what hits in it."""

    chunk: bytes
    """With the line ends of the log, and without the colours that could hide a message."""
    hits: list[tuple[int, int]]
    """(end offset, id), in order of end offset."""
    newlines: Sequence[int]
    """How many line ends the chunk has before each hit's end offset; at last, how many in all."""
    size: int
    """Bytes of the log that it was made of."""


def scan(scanner: Scanner, raw: bytes) -> Scanned:
    """Scans a chunk.

    Colours within a message must not hide it, so lines with any are freed of them before they
    count. The colours of prefixes stay: they are on every line and hide nothing.
    """
    chunk, hits = raw, scanner.scan(raw)
    coloured = [end for end, ident in hits if ident == COLOURED]
    if coloured:
        chunk = uncoloured(raw, coloured)
        hits = scanner.scan(chunk)
    newlines = array("I")
    number = done = 0
    for end, _ in hits:
        number += chunk.count(b"\n", done, end)
        done = end
        newlines.append(number)
    newlines.append(number + chunk.count(b"\n", done))
    return Scanned(chunk, hits, newlines, len(raw))
