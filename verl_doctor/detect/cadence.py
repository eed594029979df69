"""What a run's own rhythm is, and when a wait is longer than it: per kind of gap between steps.

Times come from outside: the clock of a live run, or the stamps of a log. Nothing here reads text.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Literal, NamedTuple

from .metrics.robust import median

FACTOR = 2.5
"""A wait is too long beyond so many usual ones: under 3, so that a hang is told within three
steps, and above the spread that response lengths give to healthy steps (about 2)."""
LONGEST = 1.25
"""A wait is never too long that is hardly longer than the longest the run recovered from."""
PAUSE = 5.0
"""A step of so many usual ones was no slow step: something stood still. It is no reason to wait as
long the next time."""
LEAST_S = 120.0
"""Waits shorter than this are nobody's concern, however fast the steps."""
KEPT = 50
"""Gaps of a kind that are remembered: the rhythm of now, not that of the first day."""
ENOUGH = 2
"""Gaps between plain steps before their median means anything."""

START_S = 1800.0
"""Before there is a rhythm: loading a large model from network storage, compiling, capturing CUDA
graphs and the first rollout take up to half an hour without a word."""
UNSEEN_S = {"validation": 3600.0, "checkpoint": 1800.0}
"""What these add to a step while the run has not shown how long they take: a first validation of
a large test set, a first checkpoint to shared storage."""

Kind = Literal["start", "first_step", "step", "validation", "checkpoint", "mixed"]


class Gap(NamedTuple):
    """The wait between two steps."""

    kind: Kind
    seconds: float
    step: int
    """The step that ended it."""
    usual_s: float
    """Median of this kind before it; 0 where there is none."""
    limit_s: float
    """Beyond it the wait was too long."""

    @property
    def long(self) -> bool:
        """Whether the wait was longer than this run's rhythm allows."""
        return self.seconds > self.limit_s


class Cadence:
    """Learns from steps and phases in their order; tells how long the current wait may last."""

    def __init__(self, begun: float, least_s: float = LEAST_S) -> None:
        """Takes the time at which waiting begins, and the seconds that no wait is too long for."""
        self._least_s = least_s
        self._gaps: defaultdict[Kind, deque[float]] = defaultdict(lambda: deque(maxlen=KEPT))
        self._special: set[str] = set()
        self._last_step: int | None = None
        self._training = False
        self.since = begun
        """When the current wait began: the last step, or before the first the last phase."""

    @property
    def kind(self) -> Kind:
        """What the run is waiting for now."""
        if len(self._special) > 1:
            return "mixed"
        for phase in self._special:
            return phase  # type: ignore[return-value]
        if self._last_step is not None:
            return "step"
        return "first_step" if self._training else "start"

    def phase(self, name: str, at: float) -> None:
        """A phase begins. Takes its name (one of PHASES) and the time in seconds."""
        if name in ("launch", "config"):
            # started again: what was known about waits holds, the wait for the next step does not
            self._last_step, self._training = None, False
        if name in UNSEEN_S:
            self._special.add(name)
        if self._last_step is None:
            self._training |= name == "training"
            self.since = max(self.since, at)

    def step(self, number: int, at: float, seconds: float | None = None) -> Gap | None:
        """A step has been printed. Takes its number, the time, and its length where the log tells
        it (else the time since the last one); returns the gap that it ends, None if it repeats."""
        if number == self._last_step:
            return None
        kind = self.kind
        length = at - self.since if seconds is None else seconds
        gap = Gap(kind, length, number, self.usual_s(kind), self.limit_s())
        if kind not in ("start", "first_step"):
            self._gaps[kind].append(length)
        self._last_step, self.since = number, max(self.since, at)
        self._special.clear()
        return gap

    def usual_s(self, kind: Kind = "step") -> float:
        """Median seconds of that kind of gap; 0 before it is known."""
        gaps = self._gaps[kind]
        return median(gaps) if len(gaps) >= (ENOUGH if kind == "step" else 1) else 0.0

    def limit_s(self) -> float:
        """Seconds that the current wait may take before it is too long."""
        step = self._learnt("step")
        if self._last_step is None or not step:
            return max(START_S, self._least_s)
        if not self._special:
            return max(step, self._least_s)
        known = self._learnt(self.kind)
        if known:
            return max(known, step, self._least_s)
        return max(step + sum(UNSEEN_S[one] for one in self._special), self._least_s)

    def _learnt(self, kind: Kind) -> float:
        """What the gaps of a kind allow for the next one; 0 before they are known."""
        usual = self.usual_s(kind)
        varied = [gap for gap in self._gaps[kind] if gap <= PAUSE * usual]
        return max(FACTOR * usual, LONGEST * max(varied)) if usual else 0.0
