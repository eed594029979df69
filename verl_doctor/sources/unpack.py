"""Decompression as a stream: bounded output a step, many members, and errors as notes.

The modules of the formats are imported when a file of that format is read, not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from verl_doctor.sources.sniff import packing
from verl_doctor.sources.types import Notes, Packing

MAX_TOTAL = 64 << 30
"""Bytes after decompression at which a source ends: no log is that long, a trap is."""

_NAMES = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}
_TOOLS = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}
_XZ_MEMORY = 256 << 20


class _Engine(Protocol):
    """One member of a compressed stream."""

    errors: tuple[type[Exception], ...]

    def feed(self, data: bytes, limit: int) -> bytes: ...
    def hungry(self) -> bool: ...
    def rest(self) -> bytes | None:
        """The input after the end of the member, or None before it."""

    def salvage(self) -> bytes:
        """What stood before the error in the input of the last `feed`."""


class _Gz:
    def __init__(self) -> None:
        import zlib

        self.errors: tuple[type[Exception], ...] = (zlib.error,)
        self._z: Any = zlib.decompressobj(wbits=31)
        self._full = False
        self._before: Any = None
        self._data = b""

    def feed(self, data: bytes, limit: int) -> bytes:
        self._data = self._z.unconsumed_tail + data
        self._before = self._z.copy()
        out: bytes = self._z.decompress(self._data, limit)
        self._full = len(out) >= limit
        return out

    def hungry(self) -> bool:
        return bool(self._z.eof) or not (self._full or self._z.unconsumed_tail)

    def rest(self) -> bytes | None:
        return self._z.unused_data if self._z.eof else None

    def salvage(self) -> bytes:
        out = bytearray()
        try:
            for i in range(len(self._data)):
                out += self._before.decompress(self._data[i : i + 1])
        except self.errors:
            pass
        return bytes(out)


class _Block:
    """bz2 and xz, whose objects of the standard library share one interface."""

    def __init__(self, kind: Packing) -> None:
        self._z: Any
        if kind == "bz2":
            import bz2

            self.errors: tuple[type[Exception], ...] = (OSError, ValueError)
            self._z = bz2.BZ2Decompressor()
        else:
            import lzma

            self.errors = (lzma.LZMAError,)
            self._z = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def feed(self, data: bytes, limit: int) -> bytes:
        out: bytes = self._z.decompress(data, limit)
        return out

    def hungry(self) -> bool:
        return bool(self._z.eof or self._z.needs_input)

    def rest(self) -> bytes | None:
        return self._z.unused_data if self._z.eof else None

    def salvage(self) -> bytes:
        return b""


class _Zst:
    def __init__(self) -> None:
        import zstandard

        self.errors: tuple[type[Exception], ...] = (zstandard.ZstdError,)
        self._z: Any = zstandard.ZstdDecompressor().decompressobj()

    def feed(self, data: bytes, limit: int) -> bytes:  # noqa: ARG002
        out: bytes = self._z.decompress(data)
        return out

    def hungry(self) -> bool:
        return True

    def rest(self) -> bytes | None:
        return self._z.unused_data if self._z.eof else None

    def salvage(self) -> bytes:
        return b""


def _engine(kind: Packing) -> _Engine:
    if kind == "gz":
        return _Gz()
    return _Zst() if kind == "zst" else _Block(kind)


def unpacked(kind: Packing, blocks: Iterator[bytes], size: int, notes: Notes) -> Iterator[bytes]:
    """Decompresses a stream.

    Takes the compressed bytes, cut anywhere, and yields blocks of about `size` bytes. Members that
    follow each other are joined; zero padding between them is skipped. A stream that is cut short
    or damaged ends after everything that could be decompressed, and `notes` says so.
    """
    out = bytearray()
    total = 0
    for piece in _pieces(kind, blocks, size, notes):
        out += piece
        total += len(piece)
        while len(out) >= size:
            yield bytes(memoryview(out)[:size])
            del out[:size]
        if total >= MAX_TOTAL:
            notes.stop(
                f"decompresses to more than {MAX_TOTAL >> 30} GiB; the rest was not read. "
                "Decompress it yourself and give verl-doctor the part that matters."
            )
            break
    if out:
        yield bytes(out)


def _pieces(kind: Packing, blocks: Iterator[bytes], size: int, notes: Notes) -> Iterator[bytes]:
    """What each step gives, in order."""
    name = _NAMES[kind]
    try:
        engine: _Engine | None = _engine(kind)
    except ImportError as error:
        notes.stop(
            f"is {name}-compressed, and this Python cannot unpack it ({error}). "
            f"Type: {_TOOLS[kind]} -dc FILE | verl-doctor -"
        )
        return
    # Bytes of input a step bound its output and what an error can cost. In zstd a block of 4 bytes
    # can hold 128 KiB, and no limit can be set: 16 MiB a step at worst.
    step = 1 << 9 if kind == "zst" else 1 << 14
    shortest = 9 if kind == "zst" else 10  # bytes that a member has at least
    waiting = b""  # bytes after a member, too few to tell what they are
    for block in blocks:
        for at in range(0, len(block), step):
            data = block[at : at + step]
            while data or (engine is not None and not engine.hungry()):
                if engine is None:
                    waiting = (waiting + data).lstrip(b"\0")
                    data = b""
                    if len(waiting) < shortest:
                        break
                    if packing(waiting) != kind:
                        notes.stop(f"bytes after the end of its {name} data were ignored.")
                        return
                    engine, data, waiting = _engine(kind), waiting, b""
                try:
                    piece = engine.feed(data, size)
                except engine.errors as error:
                    if piece := engine.salvage():
                        yield piece
                    notes.stop(f"its {name} data is damaged ({error}); the log ends there.")
                    return
                if piece:
                    yield piece
                data = b""
                rest = engine.rest()
                if rest is not None:
                    engine, data = None, rest
    if notes.stopped:
        return
    if engine is not None or packing(waiting) == kind:
        notes.stop(
            f"its {name} data ends in the middle (an incomplete copy, or a file still being "
            "written); the log ends there."
        )
    elif waiting:
        notes.stop(f"bytes after the end of its {name} data were ignored.")
