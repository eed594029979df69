"""Inputs that still grow: a file that a run writes, a pipe that stays open.

Both yield whole lines as they come and an empty chunk whenever nothing came for a moment, so that
the reader can look at the clock.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
import time
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import BinaryIO

from .lines import Lines
from .sniff import foreign, packing, utf16

POLL_S = 0.2
BLOCK = 1 << 20


def _unheard() -> None:
    """Listens to nothing."""


def _never() -> bool:
    """A file that grows for ever."""
    return False


def follow_file(
    path: str,
    notes: list[str],
    *,
    poll_s: float = POLL_S,
    heard: Callable[[], None] = _unheard,
    ended: Callable[[], bool] = _never,
) -> Iterator[bytes]:
    """Follows a file: from its beginning, through rotation, truncation and replacement.

    Takes the path (the file need not exist yet) and a list that is told what happened to it.
    Yields whole lines, and b"" after each `poll_s` seconds without any; `heard` is called for each
    part of a line too (a progress bar prints no line end for hours). Goes on for ever, or until
    all has been read that was written before `ended` came true; or close the iterator. A named
    pipe ends with its writer.
    An error of reading becomes a note, and reading goes on when the file can be read.
    """
    if _is_fifo(path):
        with open(path, "rb", buffering=0) as pipe:
            yield from follow_stream(pipe, poll_s=poll_s, heard=heard)
        return
    lines = Lines()
    file: BinaryIO | None = None
    before: os.stat_result | None = None
    told = ""
    try:
        while True:
            try:
                if file is None:
                    file = open(path, "rb")  # noqa: SIM115  (it is followed across rotations)
                    if before is not None:
                        # what stood at the path in between has moved on, or it would be this file
                        yield from _missed(path, before, os.fstat(file.fileno()), lines)
                last = ended()
                data = file.read(BLOCK)
                if data:
                    heard()
                    whole = lines.take(data)
                    if whole:
                        yield whole
                    continue
                if _replaced(file, path):
                    yield from _rest(file, lines)
                    before = os.fstat(file.fileno())
                    file.close()
                    file = None
                    _note(
                        notes, "the file was replaced (rotated); reading went on with the new one"
                    )
                    continue
                if os.fstat(file.fileno()).st_size < file.tell():
                    file.seek(0)
                    _note(notes, "the file was truncated; reading went on from its beginning")
                    continue
                told = ""
                if last:
                    yield from filter(None, (lines.rest(),))
                    return
            except OSError as error:
                if file is None and isinstance(error, FileNotFoundError):
                    pass  # not there yet, or just moved away
                elif str(error) != told:
                    told = str(error)
                    _note(notes, f"cannot read just now: {error.strerror or error}")
            yield b""
            time.sleep(poll_s)
    finally:
        if file is not None:
            file.close()


def _note(notes: list[str], text: str) -> None:
    """Adds a note, once: a log may be rotated every hour for a month."""
    if text not in notes:
        notes.append(text)


def _is_fifo(path: str) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


def _missed(path: str, old: os.stat_result, new: os.stat_result, lines: Lines) -> Iterator[bytes]:
    """The content of files that were put at the path after the old one and moved away before we
    looked: `train.log.3` beside `train.log`, younger than the old file, oldest first."""
    folder, name = os.path.split(path)
    found = []
    for entry in os.scandir(folder or "."):
        if not entry.name.startswith(f"{name}.") or not entry.is_file(follow_symlinks=False):
            continue
        info = entry.stat(follow_symlinks=False)
        known = info.st_ino in (old.st_ino, new.st_ino)
        packed = entry.name.endswith((".gz", ".bz2", ".xz", ".zst"))
        if info.st_mtime_ns >= old.st_mtime_ns and not known and not packed:
            found.append((info.st_mtime_ns, entry.path))
    for _, missed in sorted(found):
        with open(missed, "rb") as between:
            yield from _rest(between, lines)


def _rest(old: BinaryIO, lines: Lines) -> Iterator[bytes]:
    """What a moved file still holds: its writer may have written on while it was renamed."""
    while data := old.read(BLOCK):
        whole = lines.take(data)
        if whole:
            yield whole
    rest = lines.rest()
    if rest:
        yield rest + b"\n"


def _replaced(file: BinaryIO, path: str) -> bool:
    """Whether the path names another file now; a path that names none may still come back."""
    with contextlib.suppress(FileNotFoundError):
        now, ours = os.stat(path), os.fstat(file.fileno())
        return (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino)
    return False


def is_live(stream: BinaryIO | None) -> bool:
    """Whether a stream is a pipe whose text can be read live, as it comes.

    What is compressed or UTF-16 is read to its end first, like a file. Looks at the first bytes,
    and waits for them; they stay in the stream's buffer.
    """
    try:
        if stream is None or not stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
            return False
        head = stream.peek(16) if isinstance(stream, BufferedReader) else b""
    except (OSError, ValueError):
        return False
    begun = bool(head.strip(b"\0"))  # NUL bytes may go on for ever, and only `chunks` ends that
    return begun and not (packing(head) or utf16(head) or foreign(head))


def follow_stream(
    stream: BinaryIO, *, poll_s: float = POLL_S, heard: Callable[[], None] = _unheard
) -> Iterator[bytes]:
    """Reads a pipe to its end as its data comes.

    Yields whole lines, b"" after each `poll_s` seconds without any, and at the end the last line
    even if it has no newline. `heard` is called for each part of a line too.
    """
    lines = Lines()
    descriptor = stream.fileno()
    if isinstance(stream, BufferedReader) and (head := stream.peek(1)):
        # what a look at the first bytes has put into the buffer
        whole = lines.take(stream.read1(len(head)))
        if whole:
            yield whole
    while True:
        ready, _, _ = select.select([descriptor], [], [], poll_s)
        if not ready:
            yield b""
            continue
        data = os.read(descriptor, BLOCK)
        if not data:
            break
        heard()
        whole = lines.take(data)
        if whole:
            yield whole
    rest = lines.rest()
    if rest:
        yield rest
