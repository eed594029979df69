"""Where the traceback that a line belongs to begins and ends."""

from __future__ import annotations

from ...logs.shapes import FRAME, is_header
from .lines import Lines
from .text import peeled

REACH = 400
"""Lines that are looked at in either direction."""


def traceback_at(lines: Lines, start: int) -> tuple[int, int] | None:
    """The traceback around the line at `start`: where its head starts, and where the line that
    names the exception starts. None where the line is in no traceback.

    Lines of other workers may lie in between; they fold away with it.
    """
    head, place = None, start
    for _ in range(REACH):
        row = lines.row(place)
        if row is not None and is_header(peeled(row).rest):
            head = row
            break
        before = lines.before(place)
        if before is None:
            return None
        place = before
    if head is None:
        return None
    worker = peeled(head).worker
    place, framed = head.end, False
    for _ in range(REACH):
        row = lines.row(place)
        if row is None:
            return None
        line = peeled(row)
        if line.worker == worker:
            inside = line.rest.startswith(" ") or not line.rest.strip()
            if framed and not inside:
                return (head.start, row.start) if start <= row.start else None
            framed = framed or FRAME.match(line.rest) is not None
        place = row.end
    return None
