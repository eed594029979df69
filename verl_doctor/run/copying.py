"""The run's output passed on as it comes, and the copy of it that the doctor reads.

Passing on never waits for the copy's reader, and goes on if the copy can't be written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import threading
import time
from collections.abc import Callable

BLOCK = 1 << 16
"""Bytes taken at once: what a pipe holds."""
RETRY_S = 1.0
"""A full disk under the output is tried again this often: the run waits, nothing is lost."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Copy:
    """A file with what the run printed: whole lines of each stream, in the order of their ends.

    `failure` says why there is no more of it, if writing it failed.
    """

    def __init__(self, descriptor: int) -> None:
        self._file = descriptor
        self._lock = threading.Lock()
        self._held: dict[int, bytes] = {}
        self.heard_at = time.monotonic()
        self.failure = ""

    def add(self, stream: int, data: bytes) -> None:
        """Takes what one stream printed. A line that is not whole waits for its end: the next
        bytes may be another stream's."""
        self.heard_at = time.monotonic()
        end = data.rfind(b"\n") + 1
        with self._lock:
            if end:
                self._write(self._held.pop(stream, b"") + data[:end])
            self._held[stream] = self._held.get(stream, b"") + data[end:]
            if len(self._held[stream]) > BLOCK * 16:
                self._write(self._held.pop(stream))

    def finish(self) -> None:
        """Writes the lines that never ended."""
        with self._lock:
            for rest in self._held.values():
                self._write(rest)
            self._held.clear()

    def _write(self, data: bytes) -> None:
        try:
            while data and not self.failure:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.failure = error.strerror or str(error)


class Passage(threading.Thread):
    """Passes one stream on, from the descriptor that the run writes to ours."""

    def __init__(self, source: int, target: int, copy: Callable[[int, bytes], None]) -> None:
        super().__init__(name=f"verl-doctor-pass-{target}", daemon=True)
        self._source = source
        self._target = target
        self._copy = copy
        self._reading_since: float | None = None
        self.mid_line = False
        """The last byte passed on was no line end."""

    @property
    def idle_s(self) -> float:
        """Seconds for which the run has given it nothing; 0 while it waits for its reader."""
        since = self._reading_since
        return time.monotonic() - since if since is not None else 0.0

    def run(self) -> None:
        """Passes on until the run's end closes, or ours: then the run is told by its own write."""
        try:
            while data := self._read():
                if not self._pass(data):
                    return
                self.mid_line = not data.endswith(b"\n")
                self._copy(self._target, data)
        finally:
            os.close(self._source)

    def _read(self) -> bytes:
        self._reading_since = time.monotonic()
        try:
            return os.read(self._source, BLOCK)
        except OSError:  # a pty whose last writer is gone
            return b""
        finally:
            self._reading_since = None

    def _pass(self, data: bytes) -> bool:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._target, rest) :]
            except BlockingIOError:
                select.select([], [self._target], [])
            except OSError as error:
                if error.errno not in _FULL:
                    # a terminal may go while the run lives on: its SIGHUP is what it minds
                    return os.isatty(self._source)
                time.sleep(RETRY_S)
        return True


def say(text: str, *, raw: bool, mid_line: bool) -> None:
    """Writes the doctor's own words to standard error, on lines of their own.

    `raw`: the terminal needs carriage returns. `mid_line`: the run's last line has no end yet.
    What can't be written is dropped.
    """
    text = ("\n" if mid_line else "") + text + "\n"
    data = (text.replace("\n", "\r\n") if raw else text).encode("utf-8", "backslashreplace")
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(2, data) :]
