"""The line that data takes, the only module that knows all stages.

sources -> chunks -> scan -> records and blocks -> matches -> incidents -> report
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import BinaryIO

from .detect.config import Settings
from .detect.metrics.columns import Column
from .diagnose.collect import Collector
from .diagnose.lives import Life
from .diagnose.report import report
from .diagnose.words import say
from .knowledge.base import RuleBase
from .logs.reader import Reader
from .logs.storm import Storm
from .model import Event, Lang, Observation, Report, SourceInfo
from .scan.ahead import scan_ahead
from .scan.chunk import Scanned
from .scan.database import Scanner
from .sources import Source, chunks

Observe = Callable[[Report, Settings], Sequence[Observation]]
"""Runs the checks that a report asks for, or reads what they have found. Takes the settings of the
run too, as far as its log shows them."""


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
        self.observed: tuple[Observation, ...] = ()
        """What checks have found on this machine: it moves the causes of every later report."""

    @property
    def facts(self) -> dict[str, Event]:
        """Events from outside the log, by a name of the caller's: what a look at the processes
        of a live run has shown, or a flight recorder's dumps. They may be changed at any time."""
        return self._collector.facts

    @property
    def last_step(self) -> int | None:
        """Number of the last training step that the log has shown."""
        return self._collector.progress.last_step

    @property
    def settings(self) -> Settings:
        """The run's overrides and config, as far as its log shows them."""
        return self._collector.settings

    @property
    def last_step_line(self) -> int:
        """Line that showed it, counted over all sources; 0 before any."""
        return self._collector.progress.last_step_line

    @property
    def phase(self) -> str:
        """The phase that the run is in."""
        return self._collector.progress.phase

    def phases_from(self, index: int) -> Sequence[tuple[int, str]]:
        """(line, phase) of each change of phase, from the `index`-th on."""
        return self._collector.progress.phases[index:]

    @property
    def lines(self) -> int:
        """Lines read so far, all sources together."""
        return sum(reader.lines for reader, _ in self._sources)

    @property
    def lives(self) -> tuple[Life, ...]:
        """Each worker's first and last line among those that hit, and its first fault, so far."""
        return self._collector.lives.all()

    @property
    def columns(self) -> Mapping[str, Column]:
        """The metrics of the log, by key; they grow while reading goes on."""
        columns = self._collector.metrics
        return {key: columns[key] for key in columns.keys()}  # noqa: SIM118 - no mapping

    @property
    def offsets(self) -> tuple[tuple[str, int], ...]:
        """Each source that has been begun and the number of lines of the run before it."""
        return tuple(self._offsets.items())

    def begin(self, name: str, remarks: list[str]) -> None:
        """Starts the next source. Takes its name and the notes of its reading, which may grow."""
        before = self._collector.total_lines
        storm = Storm(self._collector.base.counted)
        self._sources.append((Reader(self._scanner, name, before, storm), remarks))
        self._offsets[name] = before
        self._collector.last_path = name

    def feed(self, chunk: bytes) -> None:
        """Reads a chunk of the current source: whole lines, but for its last."""
        for item in self._sources[-1][0].feed(chunk):
            self._collector.add(item)

    def take(self, scanned: Scanned) -> None:
        """Reads a chunk of the current source that has been scanned."""
        for item in self._sources[-1][0].take(scanned):
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

    def exited(self, status: int, signal: str) -> None:
        """The run's process has ended, as its parent knows. Takes its exit status, and the name of
        the signal that ended it, or ''. To be called before `end`."""
        collector, last = self._collector, max(1, self.lines)
        if status == 0:
            collector.progress.exit(last)
        elif signal:
            fields = {"signal": signal, "command": "", "pid": "", "rank": ""}
            text = f"ended by {signal} (exit status {status})"
            self.facts["exit"] = Event("process_killed", last, text, fields, collector.last_path)
        collector.exited = True

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
            return report(
                collector,
                infos,
                self._offsets,
                tail,
                told,
                self._lang,
                self._clock(),
                self.observed,
            )
        finally:
            collector.total_lines = ended

    def _clock(self) -> tuple[float | None, float | None]:
        """The first and the last time that any source has told."""
        readers = [reader for reader, _ in self._sources]
        began = [one.began for one in readers if one.began is not None]
        ended = [time for one in readers if (time := one.ended) is not None]
        return min(began, default=None), max(ended, default=None)


def diagnose_chunks(
    named: Iterable[tuple[str, Iterable[bytes], list[str]]],
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang = "en",
    notes: Sequence[str] = (),
    facts: Mapping[str, Event] | None = None,
    observe: Observe | None = None,
) -> tuple[Report, bool]:
    """Diagnoses logs given as chunks of bytes that end at line ends.

    Takes (name, chunks, notes of their reading) for each source, in order (the notes may still
    grow while the chunks are read), events from outside the logs (see `Session.facts`), and what
    looks at the report and runs the checks that would tell its causes apart.
    Returns the report, and whether Ctrl-C cut the reading short (what had been read by then is
    diagnosed).
    """
    session = Session(base, scanner, lang, notes)
    session.facts.update(facts or {})
    interrupted = False
    for name, parts, remarks in named:
        session.begin(name, remarks)
        try:
            for scanned in scan_ahead(scanner, parts):
                session.take(scanned)
        except KeyboardInterrupt:
            interrupted = True
            remarks.append("reading was stopped by Ctrl-C")
        session.end()
        if interrupted:
            break
    found = session.report()
    if observe is not None:
        session.observed = tuple(observe(found, session.settings))
        found = session.report()
    return found, interrupted


def diagnose(
    sources: Sequence[Source],
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang = "en",
    notes: Sequence[str] = (),
    facts: Mapping[str, Event] | None = None,
    stdin: BinaryIO | None = None,
    progress: Callable[[int], None] | None = None,
    observe: Observe | None = None,
) -> tuple[Report, bool]:
    """Diagnoses sources as one run, and says whether Ctrl-C cut the reading short.

    Takes what `sources.expand` gave, the rules, events from outside the logs, a callback that is
    told the bytes read so far, and one that runs checks on this machine.
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
    return diagnose_chunks(
        named, base, scanner, lang=lang, notes=notes, facts=facts, observe=observe
    )
