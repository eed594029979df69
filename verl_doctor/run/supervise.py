"""Starts the run, passes its output on, waits for its end: the one place that knows all of it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from .child import Child, Ended, Streams
from .copying import Copy, Passage, say
from .examination import Examination
from .terminal import Terminal

LINGER_S = 5.0
"""Processes that outlive the run may hold its output open: nothing more is waited for after so
many seconds without a byte."""
BEHIND_S = 60.0
"""The doctor may be so far behind a run that prints faster than it reads."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it went: the run's end, and what did not go as it should around it."""

    ended: Ended
    seconds: float
    leftover: bool
    """Other processes of the run still held its output when we left."""
    behind: bool
    """The doctor could not read to the end in time."""


class Supervisor:
    """One run. `start`, then `finish`; `say` in between writes to standard error beside it."""

    def __init__(self) -> None:
        self._terminal: Terminal | None = None
        self._passages: list[Passage] = []
        self._began = time.monotonic()
        self._child: Child | None = None

    @property
    def pid(self) -> int:
        """Process id of the run; 0 before it is started."""
        return self._child.pid if self._child else 0

    def start(self, argv: Sequence[str], copy: Copy) -> None:
        """Starts the run. Errors: OSError if there is no such program, or it can't be executed."""
        out, err = os.isatty(1), os.isatty(2)
        terminal = self._terminal = Terminal() if out or err else None
        slave = terminal.slave if terminal else -1
        pipes: list[tuple[int, int]] = []
        given: list[int] = []

        def pipe(target: int) -> int:
            read, write = os.pipe()
            pipes.append((read, target))
            given.append(write)
            return write

        stdout = slave if out else pipe(1)
        # one pipe for `2>&1`: the order of the run's writes is kept
        joint = not out and not err and _same_file(1, 2)
        stderr = slave if err else stdout if joint else pipe(2)
        try:
            stdin = slave if terminal and os.isatty(0) else None
            self._child = Child(argv, terminal, Streams(stdin, stdout, stderr))
        except BaseException:
            for read, _ in pipes:
                os.close(read)
            if terminal:
                os.close(terminal.slave)
                os.close(terminal.master)
            raise
        finally:
            for write in given:
                os.close(write)
        if terminal:
            terminal.start()
            pipes.append((terminal.master, 1 if out else 2))
        self._passages = [Passage(read, target, copy.add) for read, target in pipes]
        for passage in self._passages:
            passage.start()

    def finish(self, copy: Copy, examination: Examination) -> Outcome:
        """Waits for the run's end, for the rest of its output and for the doctor."""
        assert self._child is not None
        try:
            ended = self._child.wait()
            seconds = time.monotonic() - self._began
            leftover = not self._drain()
        finally:
            if self._terminal:
                self._terminal.restore()
            self._child.release()
        copy.finish()
        try:
            behind = not examination.close(ended, BEHIND_S)
        except KeyboardInterrupt:  # the run has ended: this is about the doctor
            behind = True
        return Outcome(ended, seconds, leftover, behind)

    def say(self, text: str) -> None:
        """Writes the doctor's own lines to standard error while the run goes on."""
        mid_line = any(passage.mid_line for passage in self._passages)
        say(text, raw=self._terminal is not None and os.isatty(2), mid_line=mid_line)
        for passage in self._passages:
            passage.mid_line = False

    def _drain(self) -> bool:
        """Waits until all output is passed on; False if someone still holds the run's end."""
        ended = time.monotonic()
        while alive := [passage for passage in self._passages if passage.is_alive()]:
            patient = time.monotonic() - ended < LINGER_S
            if not patient and all(passage.idle_s > LINGER_S for passage in alive):
                return False
            alive[0].join(0.05)
        return True


def _same_file(one: int, other: int) -> bool:
    """Whether two descriptors lead to the same pipe or file."""
    try:
        first, second = os.fstat(one), os.fstat(other)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
