"""Chunks and what hits in them; in a long log the next chunk is scanned while one is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .chunk import Scanned, scan

if TYPE_CHECKING:
    from .database import Scanner

ALONE = 8 << 20
"""Bytes of a log that are scanned before a helper is started: it costs some 20 ms."""
AHEAD = 2
"""Chunks that are scanned before they are asked for; each takes its size in memory."""


def scan_ahead(scanner: Scanner, chunks: Iterable[bytes]) -> Iterator[Scanned]:
    """Scans all chunks, in order; those behind the first ALONE bytes by a helper, which is given a
    second core.

    Where reading the chunks is interrupted by Ctrl-C, what had been read still comes.
    """
    chunks = iter(chunks)
    alone = ALONE
    for chunk in chunks:
        yield scan(scanner, chunk)
        alone -= len(chunk)
        if alone <= 0:
            break
    else:
        return
    from .helper import helper  # a short log needn't wait for what it imports

    interrupt: KeyboardInterrupt | None = None
    with helper(scanner, AHEAD + 1) as other:
        try:
            for chunk in chunks:
                other.submit(chunk)
                if other.waiting > AHEAD:
                    yield other.result()
        except KeyboardInterrupt as error:
            interrupt = error
        while other.waiting:
            yield other.result()
    if interrupt is not None:
        raise interrupt
