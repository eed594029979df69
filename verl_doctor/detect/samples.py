"""Text that a model wrote: verl prints samples, and a coding model's answer may hold a traceback.

verl's `_maybe_log_val_generations`/naive reward manager print `[prompt] …`, `[response] …`,
`[ground_truth] …`, `[score] …` in this order; everything from the first to the last is data.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..model import Event, Line, Worker

MAX_REGION = 3_000
"""Lines after which a sample that was never closed is taken to be over."""
RECENT = 8
"""Printed responses that are looked back at."""
REPEATED = 3
"""So many of them, the last among them, have to repeat themselves."""
TAIL = 160
"""Characters at the end of a response that have to be one repeated piece."""
MAX_UNIT = 32


class _Response(NamedTuple):
    line: Line
    unit: str


def repeated_unit(text: str) -> str:
    """The piece of text that the end of `text` repeats (`!`, a sentence), '' if there is none."""
    tail = text.rstrip()[-TAIL:]
    if len(tail) < TAIL:
        return ""
    for size in range(1, MAX_UNIT + 1):
        if tail[size:] == tail[:-size]:
            return tail[-size:]
    return ""


def _process(worker: Worker) -> tuple[str, str]:
    """What prints a sample: the actor, whatever rank or engine a line inside claims to be from."""
    return worker.actor.partition("/")[0], worker.pid


class Samples:
    """Knows for each worker whether it is inside a printed sample."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], tuple[int, int]] = {}
        self.closed: set[int] = set()
        """Numbers of samples that came to their end: what lies in them is surely quoted."""
        self._count = 0
        self._responses: deque[_Response] = deque(maxlen=RECENT)

    def mark(self, line: Line) -> None:
        """Takes a line that holds a sample's marker."""
        text = line.text
        if text.startswith(("[prompt]", "[response]", "[ground_truth]")):
            if text.startswith("[prompt]"):
                self.record(line)
            elif text.startswith("[response]"):
                self._responses.append(_Response(line, repeated_unit(text)))
            if _process(line.worker) not in self._open:
                self._count += 1
                self._open[_process(line.worker)] = (self._count, line.number)
        elif text.startswith("[score]"):
            self.record(line)

    def record(self, line: Line) -> None:
        """A line that only the program prints (a step line, a score): the worker's sample is
        over."""
        region = self._open.pop(_process(line.worker), None)
        if region is not None:
            self.closed.add(region[0])

    def region(self, worker: Worker, line: int) -> int:
        """The sample that a worker's line of this number lies in, 0 if none."""
        if not self._open:
            return 0
        region = self._open.get(_process(worker))
        if region is None:
            return 0
        if line - region[1] > MAX_REGION:
            del self._open[_process(worker)]
            return 0
        return region[0]

    def finish(self) -> list[Event]:
        """The event that the responses printed last repeat themselves, if they do."""
        bad = [one for one in self._responses if one.unit]
        if len(bad) < REPEATED or not self._responses[-1].unit:
            return []
        first = bad[0].line
        fields = {
            "unit": bad[-1].unit.strip() or "blanks",
            "repeated": str(len(bad)),
            "samples": str(len(self._responses)),
        }
        lines = tuple(one.line.number for one in bad[1:3])
        return [Event("repeated_text", first.number, first.text, fields, first.path, lines=lines)]
