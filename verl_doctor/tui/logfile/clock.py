"""Places in a log by the times that its lines tell. Times are taken to grow, as they do but for
seconds where ranks interleave."""

from __future__ import annotations

from .lines import BLOCK, Lines
from .text import peeled

REACH = 400
"""Lines that are looked at for one that tells a time."""


def last_time(lines: Lines) -> float | None:
    """The time of the last line that tells one; None where none near the end does."""
    place: int | None = lines.last()
    for _ in range(REACH):
        row = lines.row(place) if place is not None else None
        if row is None:
            return None
        time = peeled(row).time
        if time is not None:
            return time
        place = lines.before(row.start)
    return None


def at_time(lines: Lines, wanted: float) -> int:
    """Where the first line from a time on starts, found in a few dozen reads; near it, where lines
    without a time are in the way."""
    low, high = 0, lines.size
    while high - low > BLOCK:
        middle = lines.start_of((low + high) // 2)
        found = _next_time(lines, middle)
        if middle <= low or found is None:
            break
        if found[1] < wanted:
            low = middle
        else:
            high = middle
    place = low
    while place < high:
        found = _next_time(lines, place)
        if found is None:
            break
        if found[1] >= wanted:
            return found[0]
        row = lines.row(found[0])
        if row is None:
            break
        place = row.end
    return place


def _next_time(lines: Lines, start: int) -> tuple[int, float] | None:
    """The first line from `start` on that tells a time: where it starts, and the time."""
    for _ in range(REACH):
        row = lines.row(start)
        if row is None:
            return None
        time = peeled(row).time
        if time is not None:
            return row.start, time
        start = row.end
    return None
