"""When each worker was first and last heard of, and its first fault."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..model import Match, Worker

MAX_LIVES = 10_000
"""Workers that are followed; a log of more has invented most of them."""


@dataclass(slots=True)
class Life:
    """One worker, by lines of the run; 0 or None where nothing is known."""

    worker: Worker
    first_line: int
    last_line: int
    first_time: float | None = None
    last_time: float | None = None
    fault_line: int = 0
    fault_time: float | None = None


class Lives:
    """Every worker that a log names. Fed with lines that hit only: the last line of all may come
    later."""

    def __init__(self) -> None:
        self._lives: dict[Worker, Life] = {}

    def seen(self, worker: Worker, line: int, time: float | None) -> None:
        """Takes who printed a line, its number, and when it was printed."""
        life = self._lives.get(worker)
        if life is None:
            if len(self._lives) >= MAX_LIVES:
                return
            life = self._lives[worker] = Life(worker, line, line, time)
        life.last_line, life.last_time = line, time

    def fault(self, match: Match) -> None:
        """Takes a match that becomes part of an incident."""
        life = self._lives.get(match.worker)
        if life is not None and not life.fault_line:
            life.fault_line, life.fault_time = match.line, match.time

    def all(self) -> tuple[Life, ...]:
        """Copies, in the order in which the workers appeared."""
        return tuple(replace(life) for life in self._lives.values())
