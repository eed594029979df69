"""A run that still goes on: findings told as their lines come, revised verdicts, silence.

Decides when to ask the session for a report and what of it is news. Where the news go is the
caller's business.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from .model import Finding, Report, severity_rank
from .pipeline import Session

COOL_DOWN_S = 60.0
"""A fault that goes on is told again at most this often, with its count."""
STEADY_AFTER_S = 2.0
"""A stream that ends within this time was a finished log: its report says it all."""
QUIET_FACTOR = 5.0
QUIET_LEAST_S = 120.0
"""Silence is told after so many usual steps, and not before so many seconds."""


@dataclass(frozen=True, slots=True)
class News:
    """Something to tell now."""

    kind: Literal["alert", "again", "revised", "cleared", "quiet", "resumed"]
    finding: Finding | None = None
    count: int = 0
    seconds: float = 0.0
    usual: float = 0.0
    step: int | None = None


@dataclass(slots=True)
class _Told:
    at: float
    count: int
    role: str


@dataclass(slots=True)
class Watch:
    """Watches one growing log. `clock` gives seconds; tests bring their own."""

    session: Session
    tell: Callable[[News], None]
    clock: Callable[[], float] = time.monotonic
    tick: Callable[[float], None] | None = None
    """Called at every look at the clock with the seconds since the last output."""
    seen: Callable[[Report], None] | None = None
    """Called with every report that is asked for on the way."""
    told: dict[str, _Told] = field(default_factory=dict)
    root: str = ""
    _steps: list[float] = field(default_factory=list)
    _last_step: int | None = None
    _last_output: float = 0.0
    _quiet_told: bool = False

    def run(self, stream: Iterable[bytes]) -> Report:
        """Reads the stream to its end (or Ctrl-C) and returns the last report.

        Errors: KeyboardInterrupt goes on to the caller after the news are told; `session` then
        still has what was read.
        """
        begun = self._last_output = self.clock()
        dirty = False
        for chunk in stream:
            now = self.clock()
            if chunk:
                self._output(now)
                self.session.feed(chunk)
                self._cadence(now)
                dirty = True
                continue
            if self.tick is not None:
                self.tick(now - self._last_output)
            if dirty:
                self.session.pause()
                if now - begun >= STEADY_AFTER_S:
                    self.look(now)
                    dirty = False
            self._silence(now)
        return self.session.report()

    def look(self, now: float) -> None:
        """Asks for a report and tells what is new in it."""
        report = self.session.report()
        if self.seen is not None:
            self.seen(report)
        for finding in report.findings:
            if severity_rank(finding.severity) > severity_rank("medium"):
                continue
            if finding.role in ("cascade", "teardown"):
                continue
            self._finding(finding, now)
        first = report.findings[0] if report.findings else None
        root = first.fingerprint if first and first.role == "root" else ""
        if root != self.root and self.root:
            kind: Literal["revised", "cleared"] = "revised" if root else "cleared"
            self.tell(News(kind, first))
        self.root = root

    def _finding(self, finding: Finding, now: float) -> None:
        told = self.told.get(finding.fingerprint)
        if told is None:
            self.told[finding.fingerprint] = _Told(now, finding.count, finding.role)
            self.tell(News("alert", finding, finding.count))
        elif finding.count > told.count and now - told.at >= COOL_DOWN_S:
            told.at, told.count = now, finding.count
            self.tell(News("again", finding, finding.count))

    # --- silence ----------------------------------------------------------------------------

    def _output(self, now: float) -> None:
        if self._quiet_told:
            self.tell(News("resumed", seconds=now - self._last_output))
            self._quiet_told = False
        self._last_output = now

    def _cadence(self, now: float) -> None:
        step = self.session.last_step
        if step != self._last_step:
            self._last_step = step
            self._steps = [*self._steps[-30:], now]

    def usual_step(self) -> float:
        """Median seconds between the last steps; 0 before there are three."""
        gaps = [b - a for a, b in zip(self._steps, self._steps[1:], strict=False)]
        return median(gaps) if len(gaps) >= 2 else 0.0

    def _silence(self, now: float) -> None:
        quiet, usual = now - self._last_output, self.usual_step()
        if self._quiet_told or not usual:
            return
        if quiet > max(QUIET_LEAST_S, QUIET_FACTOR * usual):
            self._quiet_told = True
            self.tell(News("quiet", seconds=quiet, usual=usual, step=self._last_step))
