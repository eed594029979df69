"""Runs that stood still and went on: gaps between steps, after the fact, by the log's own times."""

from __future__ import annotations

import time

from .. import lazy
from ..model import Event, Line
from .cadence import PAUSE, Cadence, Gap

_STEP_TIME = lazy.compile(r" - timing_s/step:(?:np\.\w+\()?(\d{1,9}(?:\.\d{0,9})?)")
LEAST_S = 600.0
"""Shorter pauses cost less than reading about them."""


class Pauses:
    """Dates the steps by their stamps, else by the `timing_s/step` that verl prints."""

    def __init__(self) -> None:
        self._cadence: Cadence | None = None
        self._path = ""
        self._count = 0
        self._longest: tuple[Gap, Line, float | None] | None = None

    def phase(self, name: str, stamp: float | None) -> None:
        """A phase begins. Takes its name and the time that the line tells, if it does."""
        if self._cadence is not None:
            self._cadence.phase(name, stamp or self._cadence.since)

    def step(self, line: Line, number: int, stamp: float | None) -> None:
        """Takes a step line, its number, and the time that it tells, if it does."""
        found = _STEP_TIME.search(line.text) if stamp is None else None
        seconds = float(found[1]) if found else None
        if stamp is None and seconds is None:
            return
        if self._cadence is None:
            self._cadence = Cadence(stamp or 0.0)
        if line.path != self._path:
            # another file of the run: between the two no one measured
            self._path = line.path
            self._cadence.phase("launch", self._cadence.since)
        at = stamp if stamp is not None else self._cadence.since + (seconds or 0.0)
        if at < self._cadence.since:
            return
        gap = self._cadence.step(number, at, seconds)
        if gap is None or not gap.usual_s or not gap.long:
            return
        if gap.seconds < max(LEAST_S, PAUSE * gap.usual_s):
            return
        self._count += 1
        if self._longest is None or gap.seconds > self._longest[0].seconds:
            self._longest = gap, line, stamp

    def finish(self) -> list[Event]:
        """One event for the run: its longest pause, and how many there were."""
        if self._longest is None:
            return []
        gap, line, stamp = self._longest
        since = time.strftime("%H:%M", time.gmtime(stamp - gap.seconds)) if stamp else "?"
        fields = {
            "step": str(gap.step),
            "lasted": _clock(gap.seconds),
            "usual": _clock(gap.usual_s),
            "times": str(self._count),
            "while": gap.kind,
            "since": since,
        }
        return [Event("pause", line.number, line.text[:200], fields, line.path, line.worker)]


def _clock(seconds: float) -> str:
    """`h:mm:ss`, the same in every language."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
