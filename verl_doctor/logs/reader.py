"""Chunks of one source -> the lines that hit, and the tracebacks around them.

Between hits nothing is decoded: the reader jumps from hit to hit, and goes line by line only while
a traceback or a config dump is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from .. import lazy
from ..model import NOBODY, Block, Line, Worker
from ..scan.ahead import Scanned, scan
from ..scan.anchors import CONFIG, EXCEPTION, FIRST_RULE, WARNING
from ..scan.colours import plain
from .blocks import Assembler, Part
from .names import worker_of
from .prefix import Peeled, peel
from .shapes import HEADER
from .text import segment, unrepeated

if TYPE_CHECKING:
    from ..scan.database import Scanner

MAX_LINE = 64 * 1024
"""Bytes of a line that are decoded, around the hit."""
TAIL = 8 * 1024
"""Bytes of a log's end that are kept."""
MAX_LEARNED = 4
_KEYS = lazy.compile(r"\^[CZ\\]")
"""Keys as a terminal echoes them: `^CTraceback …` has no prefix."""
_NUMBER = lazy.compile(r"\d+")
_CLOCK = lazy.compile(r"\d:\d\d")
MAX_WARNINGS = 2_000
"""Warnings that are read; a log may hold a million of them, and they come in a few kinds."""
MAX_DUMP = 4_000
"""Lines of a pretty-printed config that are taken as one."""


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


class Dump(NamedTuple):
    """A pretty-printed config, its text without prefixes."""

    line: Line
    last_line: int
    text: str


Item = Seen | Done | Dump
_NONE: frozenset[int] = frozenset()


class Reader:
    """Reads one source. `lines`, `bytes` and `tail` are right once `read` is exhausted.

    Lines are numbered from `offset` + 1: several sources of one run share one axis.
    """

    def __init__(self, scanner: Scanner, path: str, offset: int = 0) -> None:
        self.path = path
        self._offset = offset
        self.lines = 0
        self.bytes = 0
        self._newlines = 0
        self.tail = b""
        """The last few KiB, where a hang shows its last sign of life."""
        self._scanner = scanner
        self._nobody = worker_of(path)
        """Who a line without a prefix is from."""
        self._blocks = Assembler(self._nobody)
        self._began: float | None = None
        self._clock: float | None = None
        """The last time that a line told; lines without a time of their own are dated by it."""
        self._learned: list[re.Pattern[str]] = []
        self._dump: list[str] = []
        self._dump_line: Line | None = None
        self._depth = 0
        self._warnings = MAX_WARNINGS

    def read(self, chunks: Iterable[bytes]) -> Iterator[Item]:
        """Yields what was seen in all chunks, in the order of the log."""
        for chunk in chunks:
            yield from self.feed(chunk)
        yield from self.end()

    @property
    def backwards(self) -> bool:
        """Whether the clock runs backwards: a dashboard's paste with the newest line first."""
        return self._began is not None and (self._clock or 0) < self._began - 5

    @property
    def began(self) -> float | None:
        """When the first line was printed that tells a time; seconds since the epoch."""
        return self._began

    @property
    def ended(self) -> float | None:
        """When the last line was printed, as far as it or one before it tells a time."""
        last = self.tail.rstrip().rpartition(b"\n")[2].rpartition(b"\r")[2][:MAX_LINE]
        return peel(last.decode("utf-8", "replace")).time or self._clock

    def feed(self, raw: bytes) -> Iterator[Item]:
        """Reads the next chunk: whole lines, but for the last chunk of all."""
        return self.take(scan(self._scanner, raw))

    def take(self, scanned: Scanned) -> Iterator[Item]:
        """Reads the next chunk, which has been scanned."""
        chunk, hits, size = scanned
        if not self.bytes:
            head = plain(chunk[:MAX_LINE].partition(b"\n")[0])
            self._began = peel(head.decode("utf-8", "replace")).time
        self.bytes += size
        yield from self._chunk(chunk, self._limited(hits))
        self.tail = (self.tail + plain(chunk[-TAIL:]))[-TAIL:]
        unended = bool(self.tail) and not self.tail.endswith(b"\n")
        self.lines = self._newlines + unended

    def pause(self) -> Iterator[Item]:
        """Nothing more has come for a while: tracebacks whose exception was read are complete."""
        self._blocks.settle()
        yield from self._finished()

    def end(self) -> Iterator[Item]:
        """The source has ended."""
        self._blocks.finish()
        yield from self._finished()
        if self._dump_line is not None:
            yield self._end_dump(self._offset + self.lines)

    @property
    def _busy(self) -> bool:
        return self._blocks.busy or self._dump_line is not None

    def _chunk(self, chunk: bytes, hits: list[tuple[int, int]]) -> Iterator[Item]:
        number = self._offset + self._newlines + 1
        count, size = len(hits), len(chunk)
        i = pos = 0
        while pos < size:
            if not self._busy:
                while i < count and hits[i][0] < pos:
                    i += 1
                if i >= count:
                    break
                start = chunk.rfind(b"\n", pos, hits[i][0]) + 1 or pos
                number += chunk.count(b"\n", pos, start)
                pos = start
            stop = chunk.find(b"\n", pos)
            if stop < 0:
                stop = size
            found: list[tuple[int, int]] = []
            while i < count and hits[i][0] <= stop:
                if hits[i][0] >= pos:
                    found.append((hits[i][0] - pos, hits[i][1]))
                i += 1
            yield from self._line(chunk[pos:stop], number, found)
            pos = stop + 1
            number += 1
        unended = pos > size
        self._newlines = number - self._offset - 1 - unended + chunk.count(b"\n", pos)

    def _limited(self, hits: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The hits without the warnings beyond the limit."""
        kept = []
        for hit in hits:
            if hit[1] == WARNING:
                self._warnings -= 1
                if self._warnings < 0:
                    continue
            kept.append(hit)
        return kept

    def _line(self, raw: bytes, number: int, found: list[tuple[int, int]]) -> Iterator[Item]:
        raw = raw.rstrip(b"\r")
        if b"\r" not in raw and len(raw) <= MAX_LINE:
            yield from self._segment(raw, 0, raw, number, found)
            return
        groups: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        if self._busy:
            # the text behind the last bar goes on with an open traceback, whether it hits or not
            start, end = segment(raw, len(raw))
            if start >= end and start:
                start, end = segment(raw, start - 1)
            if end - start <= MAX_LINE:
                groups[start] = (end, [])
        for end_at, ident in found:
            start, end = segment(raw, max(0, end_at - 1))
            if end - start > MAX_LINE:
                start = max(start, end_at - MAX_LINE // 2)
                end = min(end, end_at + MAX_LINE // 2)
                start -= start % (MAX_LINE // 2)
            groups.setdefault(start, (end, []))[1].append((end_at - start, ident))
        for start, (end, hits) in sorted(groups.items()):
            yield from self._segment(raw, start, raw[start:end], number, hits)

    def _segment(
        self, raw: bytes, start: int, part: bytes, number: int, hits: list[tuple[int, int]]
    ) -> Iterator[Item]:
        whole = plain(part).decode("utf-8", "replace")
        peeled = peel(whole)
        if self._learned or HEADER in peeled.rest:
            peeled = self._unknown_prefix(peeled)
        worker = peeled.worker
        if start and worker == NOBODY:
            # Ray prints its prefix once, before the first carriage return
            worker = self._first_worker(raw)
        if worker == NOBODY:
            worker = self._nobody
        self._clock = peeled.time or self._clock
        if self._began is None:
            self._began = self._clock
        rest = peeled.rest
        if "\x1b" in rest:  # a JSON line's message is decoded only here
            rest = plain(rest.encode("utf-8", "replace")).decode("utf-8", "replace")
        text, repeated = unrepeated(rest)
        line = Line(text, number, self.path, worker, peeled.level, self._clock, repeated)
        if self._dump_line is not None and worker == self._dump_line.worker:
            if not text or text[0] in " {":
                yield from self._feed_dump(line)
                return
            yield self._end_dump(number - 1)  # a paste may have cut the dump short
        anchors = frozenset(ident for _, ident in hits if ident < FIRST_RULE) if hits else _NONE
        if CONFIG in anchors and text.startswith("{'"):
            self._dump_line = line
            self._depth = 0
            self._dump = []
            yield from self._feed_dump(line)
            return
        took = None
        if text or len(part) == len(raw):  # a progress bar is no blank line of a message
            took = self._blocks.feed(line, peeled.formats, exception=EXCEPTION in anchors)
        yield from self._finished()
        if hits or took:
            literals = tuple({ident - FIRST_RULE for _, ident in hits if ident >= FIRST_RULE})
            part_, token = took if took else (None, 0)
            yield Seen(line, anchors, literals, whole, part_, token, peeled.time)

    def _unknown_prefix(self, peeled: Peeled) -> Peeled:
        """The line without a prefix that no format knows, learnt from how tracebacks begin.

        What stands before `Traceback (most recent call last):` stands before every line of that
        log: `gpu-01: `, `[pod/x/main] `, a dashboard's date and host. Digits may vary.
        """
        text = peeled.rest
        for pattern in self._learned:
            found = pattern.match(text)
            if found:
                return self._behind(peeled, found.end())
        before, header, rest = text.partition(HEADER)
        known = not _KEYS.sub("", before).strip(" |+╭─") or before.startswith(
            ("[prompt]", "[response]")
        )
        if not header or rest.strip() != ":" or known or len(before) > 120:
            return peeled
        if before.rstrip().endswith(("Original", "Group")) or len(self._learned) >= MAX_LEARNED:
            return peeled
        shape = r"\d+".join(re.escape(piece) for piece in _NUMBER.split(before))
        self._learned.append(re.compile(shape))
        return self._behind(peeled, len(before))

    def _behind(self, peeled: Peeled, place: int) -> Peeled:
        """What stands behind an unknown prefix; it names the worker unless it holds a time."""
        prefix = peeled.rest[:place].strip(" \t:|>")
        inner = peel(peeled.rest[place:])
        worker = inner.worker if inner.worker != NOBODY else peeled.worker
        if worker == NOBODY and not _CLOCK.search(prefix):
            worker = Worker(node=prefix)
        return Peeled(
            inner.rest,
            worker,
            inner.level or peeled.level,
            peeled.time or inner.time,
            (*peeled.formats, "learned", *inner.formats),
        )

    def _first_worker(self, raw: bytes) -> Worker:
        head = plain(raw[: raw.find(b"\r")][:400])
        return peel(head.decode("utf-8", "replace")).worker if head else NOBODY

    def _finished(self) -> Iterator[Item]:
        if self._blocks.done:
            for token, block in self._blocks.done:
                yield Done(token, block)
            self._blocks.done.clear()

    def _feed_dump(self, line: Line) -> Iterator[Item]:
        self._dump.append(line.text)
        # quotes may hold braces, but a config's own text rarely does: an unbalanced one ends at
        # the limit and costs a parse, nothing else
        self._depth += line.text.count("{") - line.text.count("}")
        if self._depth <= 0 or len(self._dump) >= MAX_DUMP:
            yield self._end_dump(line.number)

    def _end_dump(self, last: int) -> Dump:
        assert self._dump_line is not None
        dump = Dump(self._dump_line, last, "\n".join(self._dump))
        self._dump_line = None
        self._dump = []
        return dump
