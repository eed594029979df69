"""Search and filters over raw bytes, a block at a time; any of it can be stopped.

What a user types is a regular expression, or plain text where it is none; without a capital letter
it matches either case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import regex

from .lines import MAX_LINE, Lines
from .shown import Spans

STEP = 1 << 20
"""Bytes that are searched at once."""
TIMEOUT_S = 2.0
"""A pattern that takes longer on one block is given up."""
Stopped = Callable[[], bool]


class Pattern(Protocol):
    """Something that lines can be looked for by."""

    def starts(self, block: bytes) -> Iterable[int]:
        """Offsets in the block at which matching lines start, ascending, each once.

        Errors: TimeoutError where the pattern takes too long.
        """


@dataclass(frozen=True, slots=True)
class Query:
    """What a user typed; a leading `!` means the lines without it."""

    text: str
    inverse: bool
    compiled: regex.Pattern[bytes]
    in_text: regex.Pattern[str]
    """The same for a line that is shown."""

    @classmethod
    def parse(cls, typed: str) -> Query | None:
        """The query of a typed text; None where nothing is typed."""
        inverse = typed.startswith("!")
        text = typed.removeprefix("!")
        if not text:
            return None
        flags = regex.MULTILINE | (0 if text != text.lower() else regex.IGNORECASE)
        pattern = text
        try:
            regex.compile(pattern)
        except regex.error:
            pattern = regex.escape(text)
        compiled = regex.compile(pattern.encode(), flags)
        return cls(text, inverse, compiled, regex.compile(pattern, flags))

    @property
    def typed(self) -> str:
        """What has to be typed to get this query."""
        return f"!{self.text}" if self.inverse else self.text

    def starts(self, block: bytes) -> Iterator[int]:
        if self.inverse:
            yield from _others(block, self._matching(block))
        else:
            yield from self._matching(block)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """What is found in a shown line, as (start, end); nothing of an inverse query."""
        if self.inverse:
            return []
        try:
            return [found.span() for found in self.in_text.finditer(text, timeout=TIMEOUT_S / 10)]
        except TimeoutError:
            return []

    def _matching(self, block: bytes) -> Iterator[int]:
        place = 0
        while place < len(block):
            found = self.compiled.search(block, place, timeout=TIMEOUT_S)
            if found is None:
                return
            start = block.rfind(b"\n", 0, found.start()) + 1
            if start >= place:  # an empty match behind the last newline is in no line
                yield start
            place = _line_end(block, max(found.start(), place))


def find(lines: Lines, pattern: Pattern, start: int, forward: bool, stopped: Stopped) -> int | None:
    """Where the next matching line starts: at or behind `start`, or (backwards) before it.

    None where there is none or `stopped` said so. Errors: TimeoutError.
    """
    blocks = ahead(lines, start, lines.size) if forward else behind(lines, start)
    for offset, block in blocks:
        if stopped():
            return None
        hits = iter(pattern.starts(block))
        found = next(hits, None)
        if found is not None:
            return offset + (found if forward else max(hits, default=found))
    return None


class Selection:
    """The lines that filters leave, found from the top on; a growing log is searched further."""

    def __init__(self, lines: Lines, queries: Sequence[Query]) -> None:
        self.lines = lines
        self.spans = Spans()
        self.done = 0
        """Bytes that have been searched."""
        self._keep = [query for query in queries if not query.inverse]
        self._drop = [query for query in queries if query.inverse]

    def extend(self, stopped: Stopped) -> None:
        """Searches what has not been searched yet. Errors: TimeoutError."""
        for offset, block in ahead(self.lines, self.done, self.lines.size):
            if stopped() or self.spans.full:
                return
            if not block.endswith(b"\n") and not self.lines.finished and len(block) < STEP:
                return  # an unfinished last line of a log that grows
            for start, end in self._left(block):
                self.spans.add(offset + start, offset + end)
            self.done = offset + len(block)

    def _left(self, block: bytes) -> Iterator[tuple[int, int]]:
        dropped = {start for query in self._drop for start in query._matching(block)}
        if self._keep:
            kept = {start for query in self._keep for start in query.starts(block)}
            for start in sorted(kept - dropped):
                yield start, _line_end(block, start)
            return
        place = 0
        for start in sorted(dropped):
            if start > place:
                yield place, start
            place = _line_end(block, start)
        if place < len(block):
            yield place, len(block)


def ahead(lines: Lines, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines from one offset to another, with their offsets."""
    while start < stop:
        block = lines.tape.read(start, min(STEP, stop - start))
        if not block:
            return
        end = block.rfind(b"\n") + 1
        if not end and start + len(block) < stop:
            block = lines.tape.read(start, min(MAX_LINE, stop - start))
            end = block.find(b"\n") + 1
        if not end or start + len(block) >= stop:
            end = len(block)
        yield start, block[:end]
        start += end


def behind(lines: Lines, stop: int) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines that end at an offset, the nearest first."""
    while stop > 0:
        start = lines.start_of(max(0, stop - STEP))
        yield start, lines.tape.read(start, stop - start)
        stop = start


def _line_end(block: bytes, place: int) -> int:
    return block.find(b"\n", place) + 1 or len(block)


def _others(block: bytes, matching: Iterable[int]) -> Iterator[int]:
    """Starts of the lines that are not among `matching`."""
    skipped = iter(matching)
    skip = next(skipped, -1)
    place = 0
    while place < len(block):
        if place == skip:
            skip = next(skipped, -1)
        else:
            yield place
        place = _line_end(block, place)
