"""Chunks and what hits in them; in a long log the next chunk is scanned while one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from .anchors import COLOURED
from .colours import uncoloured

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .database import Scanner

LONG = 1 << 20
"""Bytes of a chunk from which on handing it to a thread costs less than it gains."""
AHEAD = 1
"""Chunks that are scanned before they are asked for; each takes its size in memory."""


class Scanned(NamedTuple):
    """A chunk and what hits in it."""

    chunk: bytes
    """With the line ends of the log, and without the colours that could hide a message."""
    hits: list[tuple[int, int]]
    """(end offset, id), in order of end offset."""
    size: int
    """Bytes of the log that it was made of."""


def scan(scanner: Scanner, raw: bytes) -> Scanned:
    """Scans a chunk.

    Colours within a message must not hide it, so lines with any are freed of them before they
    count. The colours of prefixes stay: they are on every line and hide nothing.
    """
    chunk, hits = raw, scanner.scan(raw)
    coloured = [end for end, ident in hits if ident == COLOURED]
    if coloured:
        chunk = uncoloured(raw, coloured)
        hits = scanner.scan(chunk)
    return Scanned(chunk, hits, len(raw))


def scan_ahead(scanner: Scanner, chunks: Iterable[bytes]) -> Iterator[Scanned]:
    """Scans all chunks, in order; those behind the first LONG one in a thread, which is given a
    second core, since hyperscan lets go of Python's lock.

    Where reading the chunks is interrupted by Ctrl-C, what had been read still comes.
    """
    chunks = iter(chunks)
    for chunk in chunks:
        yield scan(scanner, chunk)
        if len(chunk) >= LONG:
            break
    else:
        return
    from concurrent.futures import ThreadPoolExecutor  # 8 ms that a short log needn't wait for

    waiting: deque[Future[Scanned]] = deque()
    interrupt: KeyboardInterrupt | None = None
    with ThreadPoolExecutor(1) as pool:
        try:
            for chunk in chunks:
                waiting.append(pool.submit(scan, scanner, chunk))
                if len(waiting) > AHEAD:
                    yield waiting[0].result()
                    waiting.popleft()
        except KeyboardInterrupt as error:
            interrupt = error
        for one in waiting:
            yield one.result()
    if interrupt is not None:
        raise interrupt
