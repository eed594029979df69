"""The run's own process: started, signalled, waited for."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType

from .terminal import Terminal

FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""What a person, a scheduler or a launcher sends; schedulers warn by SIGUSR1/2 before they end."""
POLL_S = 0.05
"""A signal is forwarded, and the run's end seen, within this time."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""What a shell exits with."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the run's process ended."""

    status: int
    """Its exit status, 128 + N where signal N ended it."""
    signal: str = ""
    """Name of that signal."""


class Child:
    """The process of the run, leader of a process group of its own; signals go to the group."""

    def __init__(self, argv: Sequence[str], terminal: Terminal | None, streams: Streams) -> None:
        """Starts it. Errors: OSError if there is no such program, or it can't be executed."""
        self._terminal = terminal
        self._process = subprocess.Popen(
            argv,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            start_new_session=True,
            preexec_fn=terminal.claim if terminal else None,
        )
        self.pid = self._process.pid
        self._before = {one: signal.getsignal(one) for one in FORWARDED}
        for one, before in self._before.items():
            if before != signal.SIG_IGN:  # nohup: the run ignores it as well
                signal.signal(one, self._forward)
        self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
        if terminal:
            self._before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, self._resize)

    def wait(self) -> Ended:
        """Waits for its end; signals are forwarded meanwhile."""
        # A signal that comes just before a blocking wait, or to another thread, would not end it,
        # and Python runs handlers only between two instructions of this thread.
        while (code := self._process.poll()) is None:
            time.sleep(POLL_S)
        if code >= 0:
            return Ended(code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return Ended(128 - code, name)

    def release(self) -> None:
        """Signals mean again what they meant before."""
        for one, before in self._before.items():
            signal.signal(one, before)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._process.returncode is None:
                os.killpg(self.pid, number)

    def _forward(self, number: int, _: FrameType | None) -> None:
        self._signal(number)

    def _resize(self, _: int, __: FrameType | None) -> None:
        if self._terminal:
            self._terminal.resize()

    def _suspend(self, _: int, __: FrameType | None) -> None:
        """Ctrl-Z: the run stops first, then we; at `fg` or `bg` both go on."""
        # a session without a shell in it ignores SIGTSTP
        self._signal(signal.SIGSTOP)
        if self._terminal:
            self._terminal.restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspend)
        if self._terminal:
            self._terminal.raw()
            self._terminal.resize()
        self._signal(signal.SIGCONT)


@dataclass(frozen=True, slots=True)
class Streams:
    """What the run gets as its standard streams; None: ours."""

    stdin: int | None
    stdout: int
    stderr: int
