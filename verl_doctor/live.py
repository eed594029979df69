"""A run that still goes on: findings told as their lines come, revised verdicts, silence.

Decides when to ask the session for a report and what of it is news. Where the news go is the
caller's business.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from .detect.cadence import LEAST_S, Cadence
from .model import Finding, Report, severity_rank
from .pipeline import Session

COOL_DOWN_S = 60.0
"""A fault that goes on is told again at most this often, with its count."""
STEADY_AFTER_S = 2.0
"""A stream that ends within this time was a finished log: its report says it all."""
LOOK_S = 0.5
"""A stream that never rests is looked at this often: a finding is told within 1 s of its line."""
LOOK_SHARE = 5
"""Looking takes at most one part in so many of the time: a report over a long log is not free."""
CATCHING_UP = 16 << 20
"""Bytes between two looks beyond which an old log is being read, not a run that prints."""


NewsKind = Literal["alert", "again", "revised", "cleared", "stopped", "no_step", "slow", "resumed"]


@dataclass(frozen=True, slots=True)
class News:
    """Something to tell now.

    `stopped`: output has ceased for longer than the run's rhythm allows. `no_step`: output goes
    on, but no step is finished. `slow`: a step came late. `resumed`: output again after a stop.
    """

    kind: NewsKind
    finding: Finding | None = None
    count: int = 0
    seconds: float = 0.0
    """How long the output or the step has been away."""
    usual: float = 0.0
    """What is usual for such a wait; 0 where the run has not shown it yet."""
    step: int | None = None
    """The last step."""
    phase: str = ""


@dataclass(slots=True)
class _Told:
    at: float
    count: int


@dataclass(slots=True)
class Watch:
    """Watches one growing log. `clock` gives seconds; tests bring their own."""

    session: Session
    tell: Callable[[News], None]
    clock: Callable[[], float] = time.monotonic
    tick: Callable[[float], None] | None = None
    """Called at every look at the clock with the seconds since the last output."""
    least_s: float = LEAST_S
    """A wait that is shorter is never told, however fast the steps."""
    seen: Callable[[Report], None] | None = None
    """Called with every report that is asked for on the way."""
    told: dict[str, _Told] = field(default_factory=dict)
    root: str = ""
    _cadence: Cadence = field(init=False)
    _last_output: float = 0.0
    _phases_seen: int = 0
    _stall: NewsKind | None = None
    """What has been told of the current wait."""
    _resumed_at: float = -math.inf
    """When output came again after a stop: until then no step could come."""

    def run(self, stream: Iterable[bytes]) -> Report:
        """Reads the stream to its end (or Ctrl-C) and returns the last report.

        Errors: KeyboardInterrupt goes on to the caller after the news are told; `session` then
        still has what was read.
        """
        begun = self._last_output = self.clock()
        self._cadence = Cadence(begun, self.least_s)
        fed, since, rest = 0, begun, LOOK_S
        for chunk in stream:
            now = self.clock()
            steady = now - begun >= STEADY_AFTER_S
            if not chunk:
                if self.tick is not None:
                    self.tick(now - self._last_output)
                self._wait(now)
            if fed > CATCHING_UP and chunk:
                fed, since = 1, now
            elif fed and (not chunk or (steady and now - since >= rest)):
                self.session.pause()
                if steady:
                    self.look(now)
                    fed, rest = 0, max(LOOK_S, LOOK_SHARE * (self.clock() - now))
            if chunk:
                self.heard()
                self.session.feed(chunk)
                self._marks(now)
                since = since if fed else now
                fed += len(chunk)
        return self.session.report()

    def heard(self) -> None:
        """The run has printed something, if only a part of a line (a progress bar)."""
        now = self.clock()
        if self._stall == "stopped":
            self._stall = "resumed"
            self._resumed_at = now
            self.tell(News("resumed", seconds=now - self._last_output, phase=self.session.phase))
        self._last_output = now

    def look(self, now: float) -> None:
        """Asks for a report and tells what is new in it."""
        report = self.session.report()
        if self.seen is not None:
            self.seen(report)
        first = report.findings[0] if report.findings else None
        root = first.fingerprint if first and first.role == "root" else ""
        revised = bool(self.root) and root not in ("", self.root)
        for finding in report.findings:
            if severity_rank(finding.severity) > severity_rank("medium"):
                continue
            if finding.role in ("cascade", "teardown"):
                continue
            if revised and finding is first and root not in self.told:
                # what is told of the root is told of the finding
                self.told[root] = _Told(now, finding.count)
                continue
            self._finding(finding, now)
        if revised:
            self.tell(News("revised", first))
        elif self.root and not root:
            self.tell(News("cleared", first))
        self.root = root

    def _finding(self, finding: Finding, now: float) -> None:
        told = self.told.get(finding.fingerprint)
        if told is None:
            self.told[finding.fingerprint] = _Told(now, finding.count)
            self.tell(News("alert", finding, finding.count))
        elif finding.count > told.count and now - told.at >= COOL_DOWN_S:
            told.at, told.count = now, finding.count
            self.tell(News("again", finding, finding.count))

    # --- waiting ----------------------------------------------------------------------------

    def _marks(self, now: float) -> None:
        """Phases and steps of the chunk just read, in their order."""
        session, cadence = self.session, self._cadence
        new = session.phases_from(self._phases_seen)
        self._phases_seen += len(new)
        later = [name for line, name in new if line > session.last_step_line]
        for _, name in new[: len(new) - len(later)]:
            cadence.phase(name, now)
        if session.last_step is not None:
            gap = cadence.step(session.last_step, now)
            if gap is not None:
                if gap.long and gap.usual_s and self._stall is None:
                    self.tell(News("slow", seconds=gap.seconds, usual=gap.usual_s, step=gap.step))
                self._stall = None
        for name in later:
            cadence.phase(name, now)

    def _wait(self, now: float) -> None:
        """Tells that the current wait is too long, once for each way of being so."""
        cadence, quiet = self._cadence, now - self._last_output
        limit, usual = cadence.limit_s(), cadence.usual_s(cadence.kind)
        waited = now - cadence.since
        if quiet > limit:
            kind: NewsKind = "stopped"
        elif min(waited, now - self._resumed_at) > limit and usual and quiet < usual:
            kind, quiet = "no_step", waited
        else:
            return
        if self._stall not in (kind, "stopped"):
            self._stall = kind
            self.tell(
                News(
                    kind,
                    seconds=quiet,
                    usual=usual,
                    step=self.session.last_step,
                    phase=self.session.phase,
                )
            )
