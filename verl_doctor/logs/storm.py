"""Tracebacks that a log repeats byte for byte, known by comparing bytes instead of reading lines.

A storm prints the same few tracebacks a hundred thousand times. The first printings are read line
by line; once two of them have come to their end, one comparison tells that a traceback stands there
again, where it ends, and that what follows does not go on with it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import chain
from typing import Final, NamedTuple

from ..model import Worker
from ..scan.anchors import COLOURED, ERROR_LINE, EXCEPTION, FIRST_RULE, FRAME, TRACEBACK, WARNING
from .shapes import HEADER

MAX_KNOWN = 4 << 20
"""Bytes of tracebacks that are kept."""
MAX_TEXT = 16 << 10
"""Bytes of one that is."""
MAX_ALIKE = 64
"""Tracebacks kept that begin with the same line."""
MAX_MET = 10_000
"""Tracebacks remembered to have been met once."""

_HEADER = HEADER.encode()
_PLAIN: Final = frozenset((TRACEBACK, FRAME, EXCEPTION, ERROR_LINE, WARNING, COLOURED))
"""Anchors whose hits within a traceback say nothing beside it."""

Hits = Sequence[tuple[int, int]]


class Known(NamedTuple):
    """A traceback that has been read twice."""

    token: int
    text: bytes
    """Its lines, with their ends."""
    lines: int
    worker: Worker


class _Place(NamedTuple):
    chunk: bytes
    start: int
    hits: Hits
    first: int
    """Index of its first hit."""


class _Alike:
    """Tracebacks that begin with the same line, found by as much of them as the shortest has."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._by_start: dict[bytes, list[Known]] = {}

    def find(self, chunk: bytes, start: int) -> Known | None:
        for known in self._by_start.get(chunk[start : start + self._size], ()):
            if chunk.startswith(known.text, start):
                return known
        return None

    def add(self, known: Known) -> bool:
        """Takes one more, and says whether there was room for it."""
        all_known = [*chain.from_iterable(self._by_start.values()), known]
        if len(all_known) > MAX_ALIKE:
            return False
        if len(known.text) < self._size:
            self._size = len(known.text)
            self._by_start = {}
        else:
            all_known = [known]
        for one in all_known:
            self._by_start.setdefault(one.text[: self._size], []).append(one)
        return True


class Storm:
    """The tracebacks of one source that come again and again."""

    def __init__(self, counted: Container[int] = ()) -> None:
        """Takes the numbers of the literals of which every hit has to be seen."""
        self._counted = counted
        self._alike: dict[bytes, _Alike] = {}
        """By their first line."""
        self._bytes = 0
        self._met: set[int] = set()
        self._watched: dict[int, _Place] = {}

    def find(self, chunk: bytes, start: int, stop: int) -> Known | None:
        """The traceback that stands here, if it has been read before and is a whole one.

        Takes the offsets of its first line.
        """
        head = chunk[start:stop]
        alike = self._alike.get(head)
        known = alike.find(chunk, start) if alike is not None else None
        if known is None or not _ended(chunk, start + len(known.text), head):
            return None
        return known

    def watch(self, token: int, chunk: bytes, start: int, hits: Hits, first: int) -> None:
        """A traceback begins here that may come again. Takes its token, and its first hit's
        index."""
        if len(self._watched) < MAX_ALIKE:
            self._watched[token] = _Place(chunk, start, hits, first)

    def keep(self, token: int, worker: Worker, lines: int) -> bool:
        """Whether a traceback that has been read is from now on known.

        Takes how many lines it had, 0 where it is not to be known: those of others stand between
        them, say.
        """
        place = self._watched.pop(token, None)
        if place is None or not lines:
            return False
        end = place.start
        for _ in range(lines):
            end = place.chunk.find(b"\n", end) + 1
            if not end or end - place.start > MAX_TEXT:
                return False
        text = place.chunk[place.start : end]
        met = hash(text)
        if met not in self._met:
            if len(self._met) >= MAX_MET:
                self._met.clear()
            self._met.add(met)
            return False
        if self._bytes + len(text) > MAX_KNOWN or not self._repeatable(place, end):
            return False
        self._bytes += len(text)
        alike = self._alike.setdefault(text[: text.find(b"\n")], _Alike(len(text)))
        return alike.add(Known(token, text, lines, worker))

    def _repeatable(self, place: _Place, end: int) -> bool:
        """Whether all that is said in it is the traceback itself."""
        for i in range(place.first, len(place.hits)):
            offset, ident = place.hits[i]
            if offset > end:
                break
            said = ident < FIRST_RULE or ident - FIRST_RULE in self._counted
            if said and ident not in _PLAIN:
                return False
        return True


def _ended(chunk: bytes, end: int, head: bytes) -> bool:
    """Whether the line at `end` can't go on with a traceback that began with `head`: the next
    traceback of this worker, or a line of another."""
    mark = head[: head.find(_HEADER)]
    if chunk.startswith(mark + _HEADER, end):
        return True
    return bool(mark) and end < len(chunk) and not chunk.startswith(mark, end)
