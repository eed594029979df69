"""Which lines are shown: all of them, those that filters leave, and those that no fold hides."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from .lines import Lines, Row

MAX_SPANS = 1 << 21
"""Pieces of the log that filters may leave (32 MB); what lies behind them is not shown."""


class Spans:
    """Ascending pieces of a log, each of whole lines; neighbours are one piece."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def full(self) -> bool:
        """Whether no further piece is taken."""
        return len(self) >= MAX_SPANS

    def add(self, start: int, end: int) -> None:
        """Appends a piece behind all others."""
        if self._ends and self._ends[-1] == start:
            self._ends[-1] = end
        elif not self.full:
            # a reader finds a piece by its start: the end has to be there first
            self._ends.append(end)
            self._starts.append(start)

    def from_(self, offset: int) -> int | None:
        """The first offset at or behind this one that is shown."""
        place = bisect_right(self._starts, offset) - 1
        if place >= 0 and offset < self._ends[place]:
            return offset
        return self._starts[place + 1] if place + 1 < len(self._starts) else None

    def before(self, offset: int) -> int | None:
        """The end of what is shown before an offset, at most the offset itself."""
        place = bisect_right(self._starts, offset - 1) - 1
        return min(offset, self._ends[place]) if place >= 0 else None


class Shown:
    """Walks the lines of a log that are shown."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.spans: Spans | None = None
        """What filters leave; None: everything."""
        self.folds: dict[int, int] = {}
        """Start of a folded block's first line -> where the line behind the block starts."""

    def first(self) -> int | None:
        """Where the first shown line starts; None if there is none."""
        return self._at(0)

    def last(self) -> int | None:
        """Where the last shown line starts; None if there is none."""
        return self.before(self.lines.size)

    def row(self, start: int) -> Row | None:
        """The line that starts there."""
        return self.lines.row(start)

    def after(self, row: Row) -> int | None:
        """Where the next shown line starts; None at the end."""
        return self._at(self.folds.get(row.start, row.end))

    def before(self, start: int) -> int | None:
        """Where the shown line before an offset starts; None at the beginning."""
        if self.spans is None:
            place = self.lines.before(start)
        else:
            end = self.spans.before(start)
            place = None if end is None else self.lines.start_of(end - 1)
        if place is not None:
            for head, end in self.folds.items():
                if head < place < end:
                    return head if self.spans is None or self.spans.from_(head) == head else place
        return place

    def nearest(self, offset: int) -> int | None:
        """The shown line that holds an offset, else the next one, else the last."""
        start = self.lines.start_of(offset)
        for head, end in self.folds.items():
            if head < start < end:
                start = head
        found = self._at(start)
        return self.last() if found is None else found

    def _at(self, offset: int) -> int | None:
        place = offset if self.spans is None else self.spans.from_(offset)
        return place if place is not None and place < self.lines.size else None
