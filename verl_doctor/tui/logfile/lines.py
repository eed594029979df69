"""Lines of one source by offset and by number, while it is still being read.

A line is known by the offset of its first byte: that works anywhere in a file that nobody has
counted yet. Numbers come from a count of newlines for each block, 1 MB for a log of 8 GB.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import NamedTuple

from .tape import Tape

BLOCK = 1 << 16
"""Bytes for which the number of newlines before them is kept."""
MAX_LINE = 16 << 20
"""Bytes after which a line without an end is cut, as it is when logs are read."""
MAX_SHOWN = 1 << 16
"""Bytes of a line that are shown."""
_FIRST_LOOK = 1 << 11
_CACHED = 4096


class Row(NamedTuple):
    """A line as it stands in the log."""

    start: int
    end: int
    """Where the next line starts."""
    raw: bytes
    """Without its newline; at most MAX_SHOWN bytes."""


class Lines:
    """The lines of one source. One thread grows them, any thread reads."""

    def __init__(self, name: str, tape: Tape) -> None:
        self.name = name
        """The path as given; `<stdin>` for a pipe."""
        self.tape = tape
        self.newlines = 0
        """Among the bytes that have been read."""
        self.finished = False
        """Nothing will be added: a last line without an end is complete."""
        self._before = array("Q", (0,))
        self._cache: dict[int, Row] = {}

    @property
    def size(self) -> int:
        """Bytes that can be shown."""
        return self.tape.size

    @property
    def indexed(self) -> int:
        """Bytes whose lines have numbers."""
        return self.tape.taken

    def grow(self, chunk: bytes, *, check: bool = False) -> None:
        """Takes the next bytes as they were read; see `Tape.take` for `check`. Where there is no
        room for them, no more are taken."""
        if self.tape.full:
            return
        place, at = self.tape.taken, 0
        while at < len(chunk):
            step = min(BLOCK - place % BLOCK, len(chunk) - at)
            self.newlines += chunk.count(b"\n", at, at + step)
            at, place = at + step, place + step
            if place % BLOCK == 0:
                self._before.append(self.newlines)
        self.tape.take(chunk, check=check)

    # --- numbers ----------------------------------------------------------------------------

    def number_of(self, start: int) -> int | None:
        """The 1-based number of the line at an offset; None where lines are not counted yet."""
        if start > self.indexed:
            return None
        block = start // BLOCK
        inside = self.tape.read(block * BLOCK, start % BLOCK).count(b"\n")
        return self._before[block] + inside + 1

    def start_of_number(self, number: int) -> int | None:
        """Where the line of a 1-based number starts; None where there is none, or not yet."""
        need = number - 1
        if need <= 0:
            return 0 if number == 1 else None
        if need > self.newlines:
            return None
        block = bisect_left(self._before, need) - 1
        data = self.tape.read(block * BLOCK, BLOCK)
        place = -1
        for _ in range(need - self._before[block]):
            place = data.find(b"\n", place + 1)
            if place < 0:
                return None
        start = block * BLOCK + place + 1
        return start if start < self.size else None

    # --- offsets ----------------------------------------------------------------------------

    def row(self, start: int) -> Row | None:
        """The line that starts at an offset; None at the end of the log."""
        known = self._cache.get(start)
        if known is not None:
            return known
        if not 0 <= start < self.size:
            return None
        look, data = _FIRST_LOOK, b""
        while True:
            data = self.tape.read(start, look)
            stop = data.find(b"\n")
            if stop >= 0 or len(data) < look or look >= MAX_SHOWN:
                break
            look *= 4
        if stop >= 0:
            row = Row(start, start + stop + 1, data[:stop])
        else:
            row = Row(start, self._end(start, len(data)), data[:MAX_SHOWN])
        if self.tape.read(row.end - 1, 1) == b"\n":  # else it may still grow
            if len(self._cache) >= _CACHED:
                self._cache.clear()
            self._cache[start] = row
        return row

    def start_of(self, offset: int) -> int:
        """Where the line that holds a byte starts."""
        offset = min(max(0, offset), self.size)
        stop, least = offset, max(0, offset - MAX_LINE)
        look = _FIRST_LOOK
        while stop > least:
            begin = max(least, stop - look)
            place = self.tape.read(begin, stop - begin).rfind(b"\n")
            if place >= 0:
                return begin + place + 1
            stop, look = begin, look * 4
        return least

    def before(self, start: int) -> int | None:
        """Where the line before the one at `start` starts; None for the first."""
        return self.start_of(start - 1) if start > 0 else None

    def last(self) -> int:
        """Where the last line starts; 0 for an empty log."""
        return self.start_of(self.size - 1) if self.size else 0

    def _end(self, start: int, known: int) -> int:
        place = start + known
        while place - start < MAX_LINE:
            data = self.tape.read(place, 1 << 20)
            if not data:
                return place
            stop = data.find(b"\n")
            if stop >= 0:
                return place + stop + 1
            place += len(data)
        return place
