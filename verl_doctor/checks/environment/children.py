"""Runs a child that may hang, crash or print without end, and says how it ended.

The arguments are a list and no shell reads them. A child gets a session of its own, so that a time
limit ends what it started as well.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

OUTPUT_LIMIT = 4 * 1024 * 1024
"""Bytes kept of each stream, its end."""
GRACE_S = 5.0
"""What a killed child gets to go. One that waits for a dead mount can't be killed at all, and is
left behind."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended."""

    how: str
    """`exit`, `signal`, `timeout`, or `start`: it could not be started."""
    code: int | None = None
    """Exit status, where `how` is `exit`."""
    signal: str = ""
    """Name of the signal that ended it, such as SIGSEGV."""
    stdout: str = ""
    stderr: str = ""
    """With `start`: what the operating system said."""
    seconds: float = 0.0


def run(
    argv: Sequence[str], timeout_s: float, environment: Mapping[str, str] | None = None
) -> Ended:
    """Runs a command to its end, at most `timeout_s` seconds, and returns how it ended.

    `environment` is added to this process's own. Raises nothing for a command that can't be run.
    """
    began = time.monotonic()
    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ended("start", stderr=str(error))
    _running.add(child)
    assert child.stdout is not None
    assert child.stderr is not None
    streams = (_Tail(child.stdout), _Tail(child.stderr))
    timed_out = False
    try:
        child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        _end(child)
        _running.discard(child)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(GRACE_S)
    stdout, stderr = (stream.text() for stream in streams)
    seconds = time.monotonic() - began
    if timed_out:
        return Ended("timeout", None, "", stdout, stderr, seconds)
    code = child.returncode
    name = _signal_name(code)
    return Ended("signal" if name else "exit", code, name, stdout, stderr, seconds)


_running: set[subprocess.Popen[bytes]] = set()


def end_all() -> None:
    """Ends what still runs. Ctrl-C reaches only the thread that waits for the other ones, and no
    child, since each has a session of its own."""
    for child in list(_running):
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    # the session's leader may be gone and what it started still hold the pipes
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)


def _signal_name(code: int) -> str:
    """The signal behind a return code; a wrapper in shell passes 139 on for SIGSEGV."""
    number = -code if code < 0 else code - 128
    try:
        return signal.Signals(number).name if number > 0 else ""
    except ValueError:
        return ""


class _Tail:
    """Reads a stream to its end in a thread and keeps the last bytes of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while chunk := os.read(self._stream.fileno(), 1 << 16):
            self._kept += chunk
            del self._kept[:-OUTPUT_LIMIT]
        self._stream.close()

    def text(self) -> str:
        """What was kept, once the stream has ended or GRACE_S have passed."""
        self._thread.join(GRACE_S)
        return bytes(self._kept).decode("utf-8", "replace")
