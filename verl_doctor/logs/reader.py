"""Chunks of one source -> the lines that hit, and the tracebacks around them.

Between hits nothing is decoded: the reader jumps from hit to hit, and goes line by line only while
a traceback or a config dump is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..model import NOBODY, Line, Worker
from ..scan.anchors import CONFIG, EXCEPTION, FIRST_RULE, TRACEBACK, WARNING
from ..scan.chunk import Scanned, scan
from ..scan.colours import plain
from .blocks import Assembler
from .items import Again, Done, Dump, Item, Seen
from .learned import Learned
from .names import worker_of
from .prefix import Peeled, is_steady, peel
from .storm import Storm
from .text import unrepeated
from .windows import MAX_WHOLE, windows

if TYPE_CHECKING:
    from ..scan.database import Scanner

TAIL = 8 * 1024
"""Bytes of a log's end that are kept."""
REACH = 64 * 1024
"""Bytes skipped at a time while a traceback is open, which ends after some lines of others."""
WORTH = 1024
"""Bytes from which on looking for the lines that matter costs less than reading all."""
MAX_SOUGHT = 16
"""Workers whose lines are looked for at once."""
MAX_MARKS = 10_000
MAX_START = 40
"""Characters by which the place of a line's text behind its prefixes is found."""
MAX_WARNINGS = 2_000
"""Warnings that are read; a log may hold a million of them, and they come in a few kinds."""
MAX_DUMP = 4_000
"""Lines of a pretty-printed config that are taken as one."""


_NONE: frozenset[int] = frozenset()


class Reader:
    """Reads one source. `lines`, `bytes` and `tail` are right once `read` is exhausted.

    Lines are numbered from `offset` + 1: several sources of one run share one axis.
    """

    def __init__(
        self, scanner: Scanner, path: str, offset: int = 0, storm: Storm | None = None
    ) -> None:
        """Takes the source's name, the number of lines before it, and what knows the tracebacks
        that it repeats (None: each is read)."""
        self.path = path
        self._storm = storm
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
        self._learned = Learned()
        self._marks: dict[Worker, bytes] = {}
        """What every line of a worker begins with; nothing where that varies."""
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
        last = self.tail.rstrip().rpartition(b"\n")[2].rpartition(b"\r")[2][:MAX_WHOLE]
        return peel(last.decode("utf-8", "replace")).time or self._clock

    def feed(self, raw: bytes) -> Iterator[Item]:
        """Reads the next chunk: whole lines, but for the last chunk of all."""
        return self.take(scan(self._scanner, raw))

    def take(self, scanned: Scanned) -> Iterator[Item]:
        """Reads the next chunk, which has been scanned."""
        chunk = scanned.chunk
        if not self.bytes:
            head = plain(chunk[:MAX_WHOLE].partition(b"\n")[0])
            self._began = peel(head.decode("utf-8", "replace")).time
        self.bytes += scanned.size
        yield from self._chunk(scanned)
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

    def _chunk(self, scanned: Scanned) -> Iterator[Item]:
        chunk, hits, newlines, _ = scanned
        number = before = self._offset + self._newlines + 1
        count, size = len(hits), len(chunk)
        i = pos = 0
        while pos < size:
            while i < count and self._passed_over(hits[i], pos):
                i += 1
            hit = hits[i][0] if i < count else size + 1
            start = self._next(chunk, pos, hit, number)
            if start != pos:
                if chunk.find(b"\n", start, hit) < 0:
                    number = before + newlines[i]
                else:  # a line of an open traceback, which comes before the hit
                    number += chunk.count(b"\n", pos, start)
                pos = start
                if pos >= size:
                    break
            stop = chunk.find(b"\n", pos)
            if stop < 0:
                stop = size
            first = i
            found: list[tuple[int, int]] = []
            while i < count and hits[i][0] <= stop:
                end, ident = hits[i]
                i += 1
                if ident == WARNING:
                    if not self._warnings:
                        continue
                    self._warnings -= 1
                found.append((end - pos, ident))
            storm = self._storm if any(ident == TRACEBACK for _, ident in found) else None
            known = storm.find(chunk, pos, stop) if storm is not None else None
            if known is not None and self._known(known.worker, number):
                yield from self._finished()
                last = number + known.lines - 1
                yield Again(known.token, number, last, self._clock)
                pos += len(known.text)
                number += known.lines
                continue
            opened = self._blocks.opened
            yield from self._line(chunk[pos:stop], number, found)
            if storm is not None and self._blocks.opened == opened + 1:
                storm.watch(self._blocks.opened, chunk, pos, hits, first)
            pos = stop + 1
            number += 1
        self._newlines += newlines[-1]

    def _next(self, chunk: bytes, pos: int, hit: int, number: int) -> int:
        """Where the next line begins that has to be looked at, from the line at `pos` on.

        Takes the end of the next hit (beyond the chunk if there is none), and the line's number.
        An open traceback may go on in any line, unless its worker's lines all begin alike.
        """
        size = len(chunk)
        end = size if hit > size else chunk.rfind(b"\n", pos, hit) + 1 or pos
        if not self._busy:
            return end
        if self._dump_line is not None or self._blocks.goes_on(number):
            return pos
        workers = self._blocks.workers
        end = min(end, pos + REACH)
        if end - pos < WORTH or len(workers) > MAX_SOUGHT:
            return pos
        for worker in workers:
            mark = self._marks.get(worker)
            if not mark or chunk.startswith(mark, pos):
                return pos
            found = chunk.find(b"\n" + mark, pos, end + len(mark))
            if found >= 0:
                end = found + 1
        return end if end == size else chunk.rfind(b"\n", pos, end) + 1 or pos

    def _known(self, worker: Worker, number: int) -> bool:
        return self._dump_line is None and self._blocks.aside(worker, number)

    def _passed_over(self, hit: tuple[int, int], pos: int) -> bool:
        """Whether a hit lies before an offset, or is one warning more than are read."""
        return hit[0] < pos or (hit[1] == WARNING and not self._warnings)

    def _line(self, raw: bytes, number: int, found: list[tuple[int, int]]) -> Iterator[Item]:
        raw = raw.rstrip(b"\r")
        last = raw.rfind(b"\r") + 1
        short = len(raw) - last <= MAX_WHOLE
        if not last and short:
            yield from self._segment(raw, 0, raw, number, found)
            return
        # the text behind the last bar goes on with an open traceback, whether it hits or not
        goes_on = self._busy and short
        for start, end, hits in windows(raw, found):
            goes_on = goes_on and start != last
            yield from self._segment(raw, start, raw[start:end], number, hits)
        if goes_on:
            yield from self._segment(raw, last, raw[last:], number, [])

    def _segment(
        self, raw: bytes, start: int, part: bytes, number: int, hits: list[tuple[int, int]]
    ) -> Iterator[Item]:
        whole = plain(part).decode("utf-8", "replace")
        peeled = self._learned.peel(peel(whole))
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
            if took and worker not in self._marks and len(self._marks) < MAX_MARKS:
                self._marks[worker] = _mark(part, peeled)
        yield from self._finished()
        if hits or took:
            literals = tuple({ident - FIRST_RULE for _, ident in hits if ident >= FIRST_RULE})
            part_, token = took if took else (None, 0)
            yield Seen(line, anchors, literals, whole, part_, token, peeled.time)

    def _first_worker(self, raw: bytes) -> Worker:
        head = plain(raw[:400].partition(b"\r")[0])
        return peel(head.decode("utf-8", "replace")).worker if head else NOBODY

    def _finished(self) -> Iterator[Item]:
        if self._blocks.done:
            for token, block, lines in self._blocks.done:
                # what Python ignored once may not be ignored the next time
                same = 0 if block.ignored else lines
                kept = self._storm is not None and self._storm.keep(token, block.worker, same)
                yield Done(token, block, kept)
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


def _mark(line: bytes, peeled: Peeled) -> bytes:
    """What all lines of this one's worker begin with, as far as its prefixes tell."""
    if not peeled.rest or not is_steady(peeled.formats):
        return b""
    return line[: max(0, line.find(peeled.rest[:MAX_START].encode()))]
