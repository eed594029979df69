"""The doctor at work beside the run: reads the copy, tells news, and fails on its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from ..live import News, Watch
from ..model import Event, Report
from ..pipeline import Session
from ..sources.follow import follow_file
from .child import Ended
from .copying import Copy

DYING_S = 60.0
"""What a run prints within this time of its end is how it died (a traceback of Ctrl-C, a watchdog's
report), no sign that a hang was none."""

Look = Callable[[News, int], Event | None]
"""Looks at the run's processes when it stands still. Takes the news and the last line's number;
returns what it found, if that proves a hang."""


class Examination(threading.Thread):
    """Reads a copy that grows until `close`. Whatever goes wrong here is a sentence in `failure`,
    never the run's trouble."""

    def __init__(
        self,
        copy: Copy,
        path: str,
        name: str,
        *,
        session: Callable[[], Session],
        tell: Callable[[News], None],
        look: Look,
        least_s: float,
    ) -> None:
        super().__init__(name="verl-doctor", daemon=True)
        self._copy = copy
        self._path = path
        self._name = name
        self._open = session
        self._tell = tell
        self._look = look
        self._least_s = least_s
        self._ended = threading.Event()
        self._end: Ended | None = None
        self._hang: Event | None = None
        """What the last look has proved."""
        self._resumed_at: float | None = None
        """When output came again after it."""
        self.report: Report | None = None
        self.failure = ""

    def run(self) -> None:
        """Watches to the end and leaves the report."""
        try:
            self._watch(self._open())
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"

    def close(self, ended: Ended, timeout_s: float) -> bool:
        """The run has ended: waits until the rest is read. Returns whether that was in time."""
        self._end = ended
        self._ended.set()
        self.join(timeout_s)
        return not self.is_alive()

    def _watch(self, session: Session) -> None:
        notes: list[str] = []
        session.begin(self._name, notes)

        def tell(news: News) -> None:
            self._tell(news)
            if news.kind in ("stopped", "no_step") and not self._ended.is_set():
                found = self._look(news, session.lines)
                if news.kind == "stopped":
                    self._hang, self._resumed_at = found, None
            elif news.kind == "resumed":
                self._resumed_at = time.monotonic()

        watch = Watch(session, tell, least_s=self._least_s)
        stream = follow_file(self._path, notes, heard=watch.heard, ended=self._ended.is_set)
        watch.run(self._heard(watch, stream))
        if self._end is not None:
            if self._hang is not None and self._died_hanging(self._end, session.last_step_line):
                session.facts["hang"] = self._hang
            session.exited(self._end.status, self._end.signal)
        session.end()
        self.report = session.report()

    def _died_hanging(self, end: Ended, last_step_line: int) -> bool:
        """Whether the run has ended in the hang that was proved: badly, without another step, and
        with nothing printed but what it prints as it dies."""
        assert self._hang is not None
        resumed = self._resumed_at
        return (
            end.status != 0
            and last_step_line <= self._hang.line
            and (resumed is None or time.monotonic() - resumed < DYING_S)
        )

    def _heard(self, watch: Watch, stream: Iterator[bytes]) -> Iterator[bytes]:
        """The stream; what has not become a line yet is heard as well."""
        heard_at = self._copy.heard_at
        for chunk in stream:
            if self._copy.heard_at != heard_at:
                heard_at = self._copy.heard_at
                watch.heard()
            yield chunk
