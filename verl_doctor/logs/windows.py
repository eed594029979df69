"""The parts of a long line that are decoded: what stands between carriage returns, and of a part
that is itself too long, the surroundings of the hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_WHOLE = 64 * 1024
"""Bytes of a line, or of a part of it between carriage returns, that are decoded as a whole: a
config, a command line or a JSON record says nothing in halves."""
WINDOW = 16 * 1024
"""Bytes that are decoded of a longer one: few enough that all patterns look at all of them."""
BEFORE = 2 * 1024
"""Bytes of a window before its first hit ends."""

Hit = tuple[int, int]
"""(end offset, id)"""


class Window(NamedTuple):
    """A part of a line and what hits in it."""

    start: int
    """Offset in the line."""
    end: int
    hits: list[Hit]
    """Their offsets count from the window's start."""


def windows(line: bytes, hits: Sequence[Hit]) -> Iterator[Window]:
    """The parts of a line that hold its hits, in order.

    Takes the line without its end, and the hits in order of end offset. A part between carriage
    returns has all its hits; in one longer than MAX_WHOLE, hits close to each other share a
    window, and windows may overlap.
    """
    start = end = 0
    last = -1
    found: list[Hit] = []
    for at, ident in hits:
        if at > last:
            if found:
                yield Window(start, end, found)
            start, end, last = _around(line, max(at, 1))
            found = []
        found.append((at - start, ident))
    if found:
        yield Window(start, end, found)


def _around(line: bytes, at: int) -> tuple[int, int, int]:
    """The part to decode for a hit that ends before `at`: start, end, and the greatest end offset
    of further hits that it has room for.

    Looks no further than MAX_WHOLE to either side: a line of gigabytes may hold no carriage return.
    """
    farthest = max(0, at - MAX_WHOLE - 1)
    start = line.rfind(b"\r", farthest, at - 1) + 1 or farthest
    end = line.find(b"\r", at - 1, at + MAX_WHOLE)
    if end < 0:
        end = min(len(line), at + MAX_WHOLE)
    if end - start > MAX_WHOLE:
        start = max(start, at - BEFORE)
        if start + WINDOW < end:
            return start, start + WINDOW, start + WINDOW // 2
    return start, end, end + 1
