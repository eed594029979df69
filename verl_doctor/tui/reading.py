"""Reads a run in a thread of its own: lines for the screen, chunks for the diagnosis.

Publishes frozen snapshots; never touches a widget. Errors of reading are notes in the report, a
broken rule folder is a snapshot with `error`.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import gettempdir
from typing import BinaryIO

from ..detect.config import Settings
from ..diagnose.lives import Life
from ..errors import DoctorError
from ..knowledge.base import RuleBase
from ..knowledge.load import load
from ..live import News, Watch
from ..model import Lang, Observation, Report
from ..pipeline import Session
from ..quantities import size
from ..sources import Source, chunks
from ..sources.follow import follow_file, follow_stream
from ..sources.sniff import HEAD, utf16
from .logfile.lines import Lines
from .logfile.tape import Tape
from .plot import Plot, plots_of
from .words import word

INTERIM_S = 1.0
"""Seconds before the first report on what has been read so far; each later one waits longer."""
QUIET_S = 60.0
"""Seconds without output from which on a growing log may be said to stop."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Snapshot:
    """What is known at one moment."""

    report: Report | None = None
    lives: tuple[Life, ...] = ()
    plots: tuple[Plot, ...] = ()
    offsets: tuple[tuple[str, int], ...] = ()
    """Each source and the lines of the run before it."""
    lines: int = 0
    """Lines of all sources that have been read."""
    finished: bool = False
    error: str = ""
    """Why nothing can be read at all."""
    trouble: str = ""
    """Why reading ended early, for no fault of the log."""

    def place(self, number: int) -> tuple[str, int]:
        """The source that holds a line of the run, and the line's number within it."""
        for path, before in reversed(self.offsets):
            if number > before:
                return path, number - before
        return "", number


@dataclass(frozen=True)
class Input:
    """What is read: sources, or one input that grows."""

    sources: tuple[Source, ...] = ()
    follow: str = ""
    """A file to follow; its source may not exist yet."""
    stdin: BinaryIO | None = None
    live: bool = False
    """Standard input is text that comes while its writer goes on."""

    @property
    def grows(self) -> bool:
        """Whether findings are told as they come."""
        return bool(self.follow) or self.live


def open_lines(wanted: Input) -> list[Lines]:
    """The lines of every source, ready to be shown before anything has been read."""
    if wanted.follow:
        return [Lines(wanted.follow, _tape(wanted.follow))]
    return [
        Lines(source.path, _tape(source.path) if source.kind == "file" else Tape())
        for source in wanted.sources
    ]


def _tape(path: str) -> Tape:
    """A tape over the file where it can be shown as it lies."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Tape()
        with open(path, "rb", buffering=0) as file:
            head = file.read(HEAD) or b""
        if utf16(head):
            return Tape()
        tape = Tape(path, skip=len(_BOM) if head.startswith(_BOM) else 0)
    except OSError:
        return Tape()
    return tape


def _going_on(report: Report, base: RuleBase) -> Report:
    """The report without findings of the kind "the log stops here": it does not."""
    kept = (one for one in report.findings if not one.rule or base.spec(one.rule).kind != "silence")
    return report._replace(findings=tuple(kept))


class Reading:
    """The thread that reads. `publish` is called in it with every snapshot, `tell` with news of a
    run that goes on."""

    def __init__(
        self,
        wanted: Input,
        lines: Sequence[Lines],
        lang: Lang,
        rule_dirs: Sequence[str],
        publish: Callable[[Snapshot], None],
        tell: Callable[[News], None],
    ) -> None:
        self._input = wanted
        self._lines = lines
        self._lang = lang
        self._rule_dirs = rule_dirs
        self._publish = publish
        self._tell = tell
        self._stop = threading.Event()
        self._moved = threading.Event()
        """Checks have found something that the reports so far don't know."""
        self._ending = threading.Lock()
        """Held while the last report is made: whoever holds it knows whether it was the last."""
        self._session: Session | None = None
        self._last = Snapshot()
        self.base: RuleBase | None = None
        """The rules, once they are loaded."""
        self.quiet_s = 0.0
        """Seconds since a growing input gave anything."""
        self.total = sum(lines.size for lines in lines) or None
        """Bytes to read, where that is known."""
        if any(source.kind != "file" for source in wanted.sources) or wanted.grows:
            self.total = None

    def start(self) -> None:
        """Starts reading. A daemon: a pipe that stays silent must not keep the program alive."""
        threading.Thread(target=self._run, name="reading", daemon=True).start()

    def stop(self) -> None:
        """Ends reading at the next chunk; what has been read by then is diagnosed."""
        self._stop.set()

    def observe(self, observed: Sequence[Observation]) -> None:
        """Takes what checks have found on this machine, in any thread. The next snapshot knows it,
        which comes at once."""
        with self._ending:
            session = self._session
            if session is None:
                return
            session.observed = tuple(observed)
            if self._last.finished:  # the thread that reads is gone
                self._publish(self._snapshot(session, finished=True))
            else:
                self._moved.set()

    @property
    def settings(self) -> Settings:
        """The run's overrides and config, as far as its log has shown them."""
        return self._session.settings if self._session is not None else Settings()

    @property
    def versions(self) -> Mapping[str, str]:
        """Package -> version, as far as its log has told them."""
        report = self._last.report
        return report.versions if report is not None else {}

    @property
    def stopped(self) -> bool:
        """Whether reading was told to end early."""
        return self._stop.is_set()

    @property
    def done(self) -> int:
        """Bytes that have been read."""
        return sum(lines.indexed for lines in self._lines)

    def told(self, snapshot: Snapshot, lang: Lang) -> str:
        """How far reading has come, in words."""
        done = size(self.done)
        lines = f"{max(snapshot.lines, sum(one.newlines for one in self._lines)):,}"
        if snapshot.finished:
            return word("stopped" if self.stopped else "read", lang, lines=lines, size=done)
        if self._input.grows:
            return word("following", lang, lines=lines, quiet=f"{self.quiet_s:.0f}")
        if not self.total:
            return word("reading", lang, done=done)
        percent = min(99, 100 * self.done // self.total)
        total = size(self.total)
        return word("reading_of", lang, done=done, total=total, percent=percent)

    def _run(self) -> None:
        try:
            self.base, scanner = load(self._rule_dirs)
        except DoctorError as error:
            self._publish(Snapshot(error=str(error), finished=True))
            return
        self._session = Session(self.base, scanner, self._lang)
        try:
            if self._input.grows:
                self._grow(self._session)
            else:
                self._read(self._session)
        except Exception as error:  # a fault of ours must not take what has been found away
            trouble = word("trouble", self._lang, what=f"{type(error).__name__}: {error}")
            self._last = replace(self._last, finished=True, trouble=trouble)
            self._publish(self._last)

    def _read(self, session: Session) -> None:
        last, wait = time.monotonic(), INTERIM_S
        for source, lines in zip(self._input.sources, self._lines, strict=True):
            remarks: list[str] = []
            session.begin(source.path, remarks)
            given = chunks(source, stdin=self._input.stdin, notes=remarks)
            for chunk in self._tapped(given, lines, remarks):
                session.feed(chunk)
                if time.monotonic() - last > wait or self._news():
                    self._publish(self._snapshot(session))
                    last, wait = time.monotonic(), wait * 2
            lines.finished = True
            if self._stop.is_set():
                remarks.append(word("stopped_note", self._lang))
            session.end()
            if self._stop.is_set():
                break
        self._finish(session)

    def _grow(self, session: Session) -> None:
        lines, remarks, wanted = self._lines[0], list[str](), self._input
        session.begin(lines.name, remarks)

        def tick(quiet_s: float) -> None:
            self.quiet_s = quiet_s
            if self._news():
                self._publish(self._snapshot(session))

        def seen(report: Report) -> None:
            self._publish(self._snapshot(session, report))

        watch = Watch(session, self._tell, tick=tick, seen=seen)
        if wanted.follow:
            stream = follow_file(wanted.follow, remarks, heard=watch.heard)
        else:
            assert wanted.stdin is not None
            stream = follow_stream(wanted.stdin, heard=watch.heard)
        watch.run(self._tapped(stream, lines, remarks))
        lines.finished = True
        session.end()
        self._finish(session)

    def _tapped(self, given: Iterable[bytes], lines: Lines, remarks: list[str]) -> Iterator[bytes]:
        """The chunks, each given to the screen first, up to where reading is stopped."""
        noted = len(remarks)
        for chunk in given:
            if self._stop.is_set():
                return
            if chunk:
                # a remark may mean that the file no longer holds what is read
                full = lines.tape.full
                lines.grow(chunk, check=len(remarks) != noted)
                if lines.tape.full and not full:
                    remarks.append(word("no_room", self._lang, folder=gettempdir()))
                noted = len(remarks)
            yield chunk

    def _news(self) -> bool:
        """Whether checks have found something since this was asked last."""
        if not self._moved.is_set():
            return False
        self._moved.clear()
        return True

    def _finish(self, session: Session) -> None:
        with self._ending:
            self._publish(self._snapshot(session, finished=True))

    def _snapshot(
        self, session: Session, report: Report | None = None, *, finished: bool = False
    ) -> Snapshot:
        """What the session knows now; of a report that was just made, where one is given."""
        assert self.base is not None
        report = report or session.report()
        if not finished and self.quiet_s < QUIET_S:
            report = _going_on(report, self.base)
        self._last = Snapshot(
            report=report,
            lives=session.lives,
            plots=plots_of(session, report, self.base),
            offsets=session.offsets,
            lines=session.lines,
            finished=finished,
        )
        return self._last
