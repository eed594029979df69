"""Bytes of a log freed of what a terminal would eat.

Newlines are never added or removed: line numbers hold before and after.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import lazy

_CSI = lazy.compile(
    rb"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]"
)
_MANGLED = lazy.compile(rb"(?:\^\[|\xef\xbf\xbd)\[[0-9;]{0,12}m")
_COLOUR = lazy.compile(rb"\x1b\[[0-9;]*m")

MAX_COLOURS = 12
"""Distinct colour codes taken out by `bytes.replace` (1 GB/s each) before the slower regex runs."""


def plain(chunk: bytes) -> bytes:
    """The chunk without terminal control sequences, real or mangled (`^[[36m`, U+FFFD `[36m`).

    A message coloured inside must not hide from a pattern. Logs use a handful of different codes,
    so replacing each as a whole is several times faster than one regular expression over all.
    """
    if b"\x1b" in chunk:
        for _ in range(MAX_COLOURS):
            found = _COLOUR.search(chunk)
            if found is None:
                break
            chunk = chunk.replace(found.group(), b"")
        if b"\x1b" in chunk:
            chunk = _CSI.sub(b"", chunk)
    if b"^[[" in chunk or b"\xef\xbf\xbd[" in chunk:
        chunk = _MANGLED.sub(b"", chunk)
    return chunk


SPARSE = 512
"""Bytes of a chunk for each colour, on average, below which stripping all of it costs less than
finding the lines that have any."""


def uncoloured(chunk: bytes, places: Sequence[int]) -> bytes:
    """The chunk with the lines that hold these offsets made `plain`.

    Takes ascending offsets behind the first byte of a line.
    """
    if len(places) * SPARSE > len(chunk):
        return plain(chunk)
    parts: list[bytes] = []
    done = 0
    for place in places:
        if place > done:
            start = chunk.rfind(b"\n", done, place - 1) + 1 or done
            end = chunk.find(b"\n", place - 1)
            end = len(chunk) if end < 0 else end
            parts += chunk[done:start], plain(chunk[start:end])
            done = end
    return b"".join((*parts, chunk[done:]))
