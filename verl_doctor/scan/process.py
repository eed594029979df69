"""A process that scans what is put into memory that it shares with this one."""

from __future__ import annotations

import mmap
import signal
from array import array
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NamedTuple

from .chunk import Scanned, scan

if TYPE_CHECKING:
    from .database import Scanner

SLOT = 2 << 20
"""Bytes of a chunk that are shared; a longer one is scanned in this process."""


class _Waiting(NamedTuple):
    raw: bytes
    sent: bool


class ScanningProcess:
    """A helper (see `helper.Helper`). Where its process is gone, killed for memory say, all is
    scanned here."""

    def __init__(self, scanner: Scanner, connection: Connection, slots: list[mmap.mmap]) -> None:
        self._scanner = scanner
        self._connection = connection
        self._slots = deque(slots)
        """The next one to be written comes first."""
        self._waiting: deque[_Waiting] = deque()
        self._answers = True
        """Whether the next message of the connection is the next answer."""

    @property
    def waiting(self) -> int:
        """How many chunks were submitted whose result was not asked for."""
        return len(self._waiting)

    def submit(self, raw: bytes) -> None:
        """Takes one more chunk."""
        sent = False
        if self._answers and len(raw) <= SLOT:
            self._slots[0][: len(raw)] = raw
            try:
                self._connection.send(len(raw))
                sent = True
            except OSError:
                self._answers = False
            else:
                self._slots.rotate(-1)
        self._waiting.append(_Waiting(raw, sent))

    def result(self) -> Scanned:
        """The next chunk, once it is scanned."""
        raw, sent = self._waiting[0]
        found = self._answer(raw) if sent and self._answers else None
        if found is None:
            found = scan(self._scanner, raw)
        self._waiting.popleft()
        return found

    def _answer(self, raw: bytes) -> Scanned | None:
        self._answers = False  # until it has come as a whole: Ctrl-C may leave half of it
        try:
            chunk, ends, idents, newlines = self._connection.recv()
        except (EOFError, OSError):
            return None
        self._answers = True
        return Scanned(chunk or raw, list(zip(ends, idents, strict=True)), newlines, len(raw))


@contextmanager
def scanning_process(scanner: Scanner, most: int) -> Iterator[ScanningProcess]:
    """A forked process that scans, until the block ends. Takes how many chunks may wait at most.

    It ends with this process, however that ends. Ctrl-C is left to this one.
    """
    context = get_context("fork")
    here, there = context.Pipe()
    slots = [mmap.mmap(-1, SLOT) for _ in range(most)]
    process = context.Process(target=_serve, args=(scanner, here, there, slots), daemon=True)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    there.close()
    try:
        yield ScanningProcess(scanner, here, slots)
    finally:
        here.close()
        process.join()
        for slot in slots:
            slot.close()


def _serve(scanner: Scanner, here: Connection, there: Connection, slots: list[mmap.mmap]) -> None:
    """Answers with what hits in each slot in turn, as often as a number of bytes is asked for."""
    here.close()  # so that the end of the process there is seen
    turn = deque(slots)
    while True:
        try:
            size = there.recv()
            raw = turn[0][:size]
            turn.rotate(-1)
            found = scan(scanner, raw)
            ends = array("I", [end for end, _ in found.hits])
            idents = array("I", [ident for _, ident in found.hits])
            # only colours make another chunk of it
            there.send(
                (found.chunk if found.chunk is not raw else None, ends, idents, found.newlines)
            )
        except (EOFError, OSError):
            return
