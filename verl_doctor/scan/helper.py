"""Who scans on the second core: a process of its own, or a thread where none may be forked.

Hyperscan lets go of Python's lock, but asks for it at every hit. A thread waits for it while the
chunk before is worked on; a process has its own.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from .chunk import Scanned, scan
from .process import scanning_process

if TYPE_CHECKING:
    from .database import Scanner


class Helper(Protocol):
    """Scans chunks in the order in which they were submitted."""

    @property
    def waiting(self) -> int:
        """How many chunks were submitted whose result was not asked for."""

    def submit(self, raw: bytes) -> None:
        """Takes one more chunk; no more may wait than was agreed on."""

    def result(self) -> Scanned:
        """The next chunk, once it is scanned; where Ctrl-C interrupts that, it waits still."""


@contextmanager
def helper(scanner: Scanner, most: int) -> Iterator[Helper]:
    """A helper, until the block ends. Takes how many chunks may wait at most."""
    # what another thread holds while a process is forked is held for ever in the new one
    if sys.platform == "linux" and threading.active_count() == 1:
        with scanning_process(scanner, most) as process:
            yield process
    else:
        with ThreadPoolExecutor(1) as pool:
            yield _Thread(scanner, pool)


class _Thread:
    def __init__(self, scanner: Scanner, pool: ThreadPoolExecutor) -> None:
        self._scanner = scanner
        self._pool = pool
        self._waiting: deque[Future[Scanned]] = deque()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def submit(self, raw: bytes) -> None:
        self._waiting.append(self._pool.submit(scan, self._scanner, raw))

    def result(self) -> Scanned:
        found = self._waiting[0].result()
        self._waiting.popleft()
        return found
