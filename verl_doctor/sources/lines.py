"""Blocks, cut anywhere, to chunks of whole lines."""

from __future__ import annotations

import codecs

MAX_LINE = 4 << 20
"""Bytes that a line may have before it is handed on in pieces."""
NEAR = 1 << 16
"""Bytes before a block's end among which a carriage return is looked for."""


class Lines:
    """Holds back the unfinished last line; `overlong` once a line was handed on in pieces."""

    def __init__(self) -> None:
        self._held = bytearray()
        self.overlong = False

    def take(self, block: bytes) -> bytes:
        """The lines that the next block completes, with what was held of the first; b"" if none.

        What is held is not copied again with each block: a long line may come in small ones.
        """
        end = block.rfind(b"\n") + 1
        if not end and len(self._held) + len(block) >= MAX_LINE:
            self.overlong = True
            end = _cut(block)
        lines = b""
        if end:
            lines = b"".join((self._held, memoryview(block)[:end]))
            self._held.clear()
        self._held += memoryview(block)[end:]
        return lines

    def rest(self) -> bytes:
        """What is still held: the last line, without its end."""
        rest = bytes(self._held)
        self._held.clear()
        return rest


def _cut(block: bytes) -> int:
    """Where a piece of an overlong line may end in a block: behind a carriage return near the
    block's end, else before a character of which the block has but the first bytes."""
    near = block.rfind(b"\r", -NEAR) + 1
    if near:
        return near
    end = block[-4:]
    return len(block) - len(end) + codecs.utf_8_decode(end, "ignore", False)[1]
