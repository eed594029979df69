"""Text that a model wrote: verl prints samples, and a coding model's answer may hold a traceback.

verl's `_maybe_log_val_generations`/naive reward manager print `[prompt] …`, `[response] …`,
`[ground_truth] …`, `[score] …` in this order; everything from the first to the last is data.
"""

from __future__ import annotations

from ..model import Line, Worker

MAX_REGION = 3_000
"""Lines after which a sample that was never closed is taken to be over."""


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

    def mark(self, line: Line) -> None:
        """Takes a line that holds a sample's marker."""
        text = line.text
        if text.startswith(("[prompt]", "[response]", "[ground_truth]")):
            if text.startswith("[prompt]"):
                self.record(line)
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

    def region(self, line: Line) -> int:
        """The sample that the line lies in, 0 if none."""
        region = self._open.get(_process(line.worker))
        if region is None:
            return 0
        if line.number - region[1] > MAX_REGION:
            del self._open[_process(line.worker)]
            return 0
        return region[0]
