"""One source to chunks of whole lines, in flat memory."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from verl_doctor.sources.encoding import chinese_lines, unicode_blocks
from verl_doctor.sources.lines import MAX_LINE, Lines
from verl_doctor.sources.sniff import HEAD, foreign, packing
from verl_doctor.sources.types import Notes, Source, typed
from verl_doctor.sources.unpack import unpacked

MAX_BLANK = 256 << 20
"""NUL bytes without anything else after which a pipe or compressed file is given up. A regular file
may begin with more: one that was emptied under its writer does, and its end tells the cause."""

_Read = Callable[[int], bytes]


def chunks(
    source: Source,
    *,
    stdin: BinaryIO | None = None,
    size: int = 1 << 20,
    notes: list[str] | None = None,
) -> Iterator[bytes]:
    """Reads one source from its start to its end.

    Takes a source of `expand`; `stdin` stands in for standard input; `size` is the number of bytes
    that a chunk has at most, give or take one line. Yields UTF-8-compatible bytes, each chunk
    ending with `\\n` except the last, and except the pieces of a line longer than MAX_LINE: no
    line end is ever added or removed, so counting `\\n` gives the line numbers of the file. A pipe
    yields the whole lines that are there and does not wait for more. A lone `\\r` ends no line.

    Never raises: what cannot be read ends the iteration after everything that could, and a
    sentence in `notes` says where and why.
    """
    size = max(size, 1 << 10)
    log = Notes(source.path, notes)
    with contextlib.ExitStack() as opened:
        try:
            if source.kind == "stdin":
                read = _stream_reader(stdin if stdin is not None else sys.stdin.buffer)
            else:
                file = opened.enter_context(open(source.path, "rb", buffering=0))
                read = _file_reader(file, log)
        except (OSError, ValueError, AttributeError) as error:
            log.stop(f"could not be opened: {_why(error)}.")
            return
        blocks = _blocks(read, size, log)
        head, blocks = _peek(blocks)
        kind = packing(head)
        if kind is not None:
            head, blocks = _peek(unpacked(kind, blocks, size, log))
        if kind is not None or source.size is None:
            blocks = _until_blank(blocks, log)
        found = foreign(head)
        if found is not None:
            instead = found.instead
            if source.kind != "stdin":
                instead = instead.replace("FILE", typed(source.path))
            log.stop(f"is {found.what}. {instead}.")
            return
        yield from chinese_lines(_lines(unicode_blocks(head, blocks), log), log)


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _file_reader(file: BinaryIO, log: Notes) -> _Read:
    """Reads a file or FIFO; says at the end where the file has become shorter meanwhile."""
    info = os.fstat(file.fileno())
    expected = info.st_size if stat.S_ISREG(info.st_mode) else 0
    done = 0

    def read(size: int) -> bytes:
        nonlocal done
        block = file.read(size)
        done += len(block)
        if not block and done < expected:
            log.stop(
                f"became shorter while it was read ({done} of {expected} bytes could be read): "
                "it is being rotated or overwritten."
            )
        return block

    return read


def _stream_reader(stream: BinaryIO) -> _Read:
    """Reads what a stream holds now, and waits only where it holds nothing."""
    once: Callable[[int], bytes | None] = getattr(stream, "read1", stream.read)

    def read(size: int) -> bytes:
        ready = False
        while True:
            try:
                block = once(size)
            except BlockingIOError:
                block = None
            if block or (block is not None and (ready or not _would_block(stream))):
                return block
            select.select([stream], [], [])
            ready = True

    return read


def _would_block(stream: BinaryIO) -> bool:
    """Whether an empty read can mean "nothing yet": only where a descriptor is non-blocking."""
    try:
        return not os.get_blocking(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return False


def _blocks(read: _Read, size: int, log: Notes) -> Iterator[bytes]:
    while True:
        try:
            block = read(size)
        except (OSError, ValueError) as error:
            log.stop(f"could not be read any further: {_why(error)}.")
            return
        if not block:
            return
        yield block


def _peek(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough to tell formats apart, and the blocks with them put back.

    A line end shows that a slow pipe has begun to print text: no need to wait for more.
    """
    head = b""
    for block in blocks:
        head += block
        if len(head) >= 16 or (b"\n" in head and 0 not in head):
            break
    return head[:HEAD], chain((head,), blocks) if head else blocks


def _until_blank(blocks: Iterator[bytes], log: Notes) -> Iterator[bytes]:
    """Ends what holds nothing but NUL bytes for MAX_BLANK: /dev/zero behind a pipe, or a bomb."""
    blank = 0
    for block in blocks:
        blank = 0 if block.strip(b"\0") else blank + len(block)
        if blank > MAX_BLANK:
            log.stop(f"is nothing but NUL bytes for {MAX_BLANK >> 20} MiB; the rest was not read.")
            return
        yield block


def _lines(blocks: Iterator[bytes], log: Notes) -> Iterator[bytes]:
    """Cuts at line ends; carries what follows the last one over to the next chunk."""
    lines = Lines()
    for block in blocks:
        whole = lines.take(block)
        if lines.overlong:
            log.say(f"a line is longer than {MAX_LINE >> 20} MiB; it was read in pieces.")
        if whole:
            yield whole
    if rest := lines.rest():
        yield rest
