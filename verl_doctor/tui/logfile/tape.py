"""The bytes of one source, at any offset: those of its file, or a copy where there is no such file.

A plain file is read where it lies. A pipe, a compressed file and another encoding have no bytes to
go back to, so what is read of them is kept in an unnamed temporary file.
"""

from __future__ import annotations

import os
import tempfile
import threading
from typing import BinaryIO


class Tape:
    """An append-only row of bytes. One thread appends, any thread reads.

    `path` is the file that holds the same bytes from `skip` on (a byte order mark is no text), or
    None where each byte has to be kept. Errors: OSError where the file cannot be opened.
    """

    def __init__(self, path: str | None = None, *, skip: int = 0) -> None:
        self._path = path
        self._skip = skip
        self._file = -1
        self._identity: tuple[int, int] | None = None
        self._spool: BinaryIO | None = None
        self._split: int | None = None if path is not None else 0
        """Bytes from here on lie in the spool."""
        self._known = 0
        self._lock = threading.Lock()
        self.taken = 0
        """Bytes that reading has passed."""
        self.full = False
        """There is no room to keep what is read: it is diagnosed, and not shown."""
        if path is not None:
            info = os.fstat(self._open())
            self._known = max(0, info.st_size - skip)

    @property
    def size(self) -> int:
        """Bytes that can be read now; those of a file before reading has come to them, too."""
        return max(self._known, self.taken) if self._split is None else self.taken

    def take(self, chunk: bytes, *, check: bool = False) -> None:
        """Appends the next bytes as they were read.

        With `check` they are compared with the file first: after a rotation, or where text was
        converted, the file no longer holds them, and they are kept from here on.
        """
        if self._split is None and check and self.read(self.taken, len(chunk)) != chunk:
            self._split = self.taken
        if self._split is not None:
            try:
                self._keep(chunk)
            except OSError:
                self.full = True
                return
        self.taken += len(chunk)

    def read(self, start: int, count: int) -> bytes:
        """At most `count` bytes from `start`; fewer at the end, none where they are gone."""
        start = max(0, start)
        count = min(count, self.size - start)
        if count <= 0:
            return b""
        split = self._split
        if split is None or start + count <= split:
            return self._of_file(start, count)
        if start >= split:
            return self._of_spool(start - split, count)
        head = self._of_file(start, split - start)
        return head + self._of_spool(0, count - (split - start))

    def release(self) -> None:
        """Closes the file until it is read again: a folder may have more logs than a process may
        have open files."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def _keep(self, chunk: bytes) -> None:
        if self._spool is None:
            # unbuffered: what could not be written is not tried again when it is closed
            self._spool = tempfile.TemporaryFile(prefix="verl-doctor-", buffering=0)  # noqa: SIM115
        rest = memoryview(chunk)
        while rest:
            rest = rest[self._spool.write(rest) :]

    def __del__(self) -> None:
        # by hand would be too early: the thread that reads may still append when the screen is left
        self.release()
        if self._spool is not None:
            self._spool.close()

    def _of_spool(self, start: int, count: int) -> bytes:
        return b"" if self._spool is None else os.pread(self._spool.fileno(), count, start)

    def _of_file(self, start: int, count: int) -> bytes:
        try:
            with self._lock:
                return os.pread(self._open(), count, start + self._skip)
        except OSError:
            return b""  # gone, replaced, or on a disk that fails: the view shows what is left

    def _open(self) -> int:
        if self._file < 0:
            assert self._path is not None
            file = os.open(self._path, os.O_RDONLY)
            info = os.fstat(file)
            identity = (info.st_dev, info.st_ino)
            if self._identity not in (None, identity):
                os.close(file)
                raise FileNotFoundError(self._path)
            self._file, self._identity = file, identity
        return self._file
