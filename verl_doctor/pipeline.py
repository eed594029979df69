"""The line that data takes, the only module that knows all stages.

sources -> chunks -> scan -> records and blocks -> matches -> incidents -> report
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import BinaryIO

from .detect.metrics import Series
from .diagnose.collect import Collector
from .diagnose.lives import Life
from .diagnose.report import report
from .diagnose.words import say
from .knowledge.base import RuleBase
from .logs.reader import Reader
from .model import Lang, Report, SourceInfo
from .scan.database import Scanner
from .sources import Source, chunks


class Session:
    """One run being read: feed it sources chunk by chunk, ask it for a report at any time."""

    def __init__(
        self, base: RuleBase, scanner: Scanner, lang: Lang = "en", notes: Sequence[str] = ()
    ) -> None:
        self._collector = Collector(base)
        self._scanner = scanner
        self._lang = lang
        self._notes = tuple(notes)
        self._sources: list[tuple[Reader, list[str]]] = []
        self._offsets: dict[str, int] = {}

    @property
    def last_step(self) -> int | None:
        """Number of the last training step that the log has shown."""
        return self._collector.progress.last_step

    @property
    def lines(self) -> int:
        """Lines read so far, all sources together."""
        return sum(reader.lines for reader, _ in self._sources)

    @property
    def lives(self) -> tuple[Life, ...]:
        """Each worker's first and last line among those that hit, and its first fault, so far."""
        return self._collector.lives.all()

    @property
    def series(self) -> Mapping[str, Series]:
        """The metrics that rules ask for, by key; they grow while reading goes on."""
        return self._collector.metrics.series

    @property
    def offsets(self) -> tuple[tuple[str, int], ...]:
        """Each source that has been begun and the number of lines of the run before it."""
        return tuple(self._offsets.items())

    def begin(self, name: str, remarks: list[str]) -> None:
        """Starts the next source. Takes its name and the notes of its reading, which may grow."""
        before = self._collector.total_lines
        self._sources.append((Reader(self._scanner, name, before), remarks))
        self._offsets[name] = before
        self._collector.last_path = name

    def feed(self, chunk: bytes) -> None:
        """Reads a chunk of the current source: whole lines, but for its last."""
        for item in self._sources[-1][0].feed(chunk):
            self._collector.add(item)

    def pause(self) -> None:
        """Nothing came for a while: what is half read is taken as it is."""
        for item in self._sources[-1][0].pause():
            self._collector.add(item)

    def end(self) -> None:
        """Ends the current source."""
        reader, _ = self._sources[-1]
        for item in reader.end():
            self._collector.add(item)
        self._collector.end_source(reader.path, reader.lines)

    def report(self) -> Report:
        """What the log says up to here; reading may go on afterwards."""
        infos, told, tail = [], list(self._notes), ""
        for reader, remarks in self._sources:
            infos.append(SourceInfo(reader.path, reader.lines, reader.bytes, tuple(remarks)))
            told += [f"{reader.path}: {remark}" for remark in remarks]
            if reader.backwards:
                told.append(f"{reader.path}: {say('backwards', self._lang)}")
            if reader.tail.strip():
                tail = reader.tail.decode("utf-8", "replace")
        collector = self._collector
        ended = collector.total_lines
        collector.total_lines = max(ended, self.lines)
        try:
            return report(collector, infos, self._offsets, tail, told, self._lang, self._clock())
        finally:
            collector.total_lines = ended

    def _clock(self) -> tuple[float | None, float | None]:
        """The first and the last time that any source has told."""
        clocks = [reader.clock for reader, _ in self._sources]
        began = [first for first, _ in clocks if first is not None]
        ended = [last for _, last in clocks if last is not None]
        return min(began, default=None), max(ended, default=None)


def diagnose_chunks(
    named: Iterable[tuple[str, Iterable[bytes], list[str]]],
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang = "en",
    notes: Sequence[str] = (),
) -> tuple[Report, bool]:
    """Diagnoses logs given as chunks of bytes that end at line ends.

    Takes (name, chunks, notes of their reading) for each source, in order; the notes may still
    grow while the chunks are read. Returns the report, and whether Ctrl-C cut the reading short
    (what had been read by then is diagnosed).
    """
    session = Session(base, scanner, lang, notes)
    interrupted = False
    for name, parts, remarks in named:
        session.begin(name, remarks)
        try:
            for chunk in parts:
                session.feed(chunk)
        except KeyboardInterrupt:
            interrupted = True
            remarks.append("reading was stopped by Ctrl-C")
        session.end()
        if interrupted:
            break
    return session.report(), interrupted


def diagnose(
    sources: Sequence[Source],
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang = "en",
    notes: Sequence[str] = (),
    stdin: BinaryIO | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Report, bool]:
    """Diagnoses sources as one run, and says whether Ctrl-C cut the reading short.

    Takes what `sources.expand` gave, the rules, and a callback that is told the bytes read so far.
    Reading errors end that source and become notes; they never raise.
    """

    def parts(source: Source, remarks: list[str]) -> Iterable[bytes]:
        done = 0
        for chunk in chunks(source, stdin=stdin, notes=remarks):
            yield chunk
            done += len(chunk)
            if progress is not None:
                progress(done)

    named = []
    for source in sources:
        remarks: list[str] = []
        named.append((source.path, parts(source, remarks), remarks))
    return diagnose_chunks(named, base, scanner, lang=lang, notes=notes)
