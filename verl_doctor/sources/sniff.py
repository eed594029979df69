"""What a file is, by its first bytes: how compressed, a log or something else, which encoding."""

from __future__ import annotations

import re
from typing import NamedTuple

from verl_doctor import lazy
from verl_doctor.sources.types import Packing

HEAD = 4096
"""Bytes of content that decide whether something is text."""

_SKIPPABLE_ZST = lazy.compile(rb"[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
_UNPRINTABLE = lazy.compile(rb"[\0-\x08\x0e-\x1a\x80-\xff]")  # a text may begin with "PAR1"
_BZ2 = lazy.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")


class Foreign(NamedTuple):
    """A file that is no log: what it is, and what to do instead."""

    what: str
    instead: str


_THE_LOG = "Give verl-doctor the console log of the run, what the terminal or scheduler printed"
_UNPACK = "Unpack it and give verl-doctor the folder"

_MAGIC: tuple[tuple[int, bytes, Foreign], ...] = tuple(
    (offset, magic, Foreign(what, instead))
    for offset, magic, what, instead in (
        (0, b"PAR1", "a Parquet file (data, not a log)", _THE_LOG),
        (0, b"ARROW1", "an Arrow file (data, not a log)", _THE_LOG),
        (0, b"GGUF", "GGUF model weights", _THE_LOG),
        (0, b"\x93NUMPY", "a NumPy array", _THE_LOG),
        (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", _THE_LOG),
        (0, b"\x89PNG\r\n\x1a\n", "a PNG image", f"{_THE_LOG}; a screenshot cannot be read"),
        (0, b"\xff\xd8\xff", "a JPEG image", f"{_THE_LOG}; a screenshot cannot be read"),
        (0, b"GIF8", "a GIF image", f"{_THE_LOG}; a screenshot cannot be read"),
        (0, b"%PDF-", "a PDF document", _THE_LOG),
        (0, b"SQLite format 3\0", "an SQLite database", _THE_LOG),
        (0, b":W&B", "a Weights & Biases file", "Give verl-doctor files/output.log of that run"),
        (
            0,
            b"LPKSHHRH",
            "a systemd journal",
            "Type: journalctl --file FILE -o short-iso | verl-doctor -",
        ),
        (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
        (0, b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
        (0, b"\x1f\x9d", "a file packed by compress", "Type: zcat FILE | verl-doctor -"),
        (
            0,
            b"\x04\x22\x4d\x18",
            "an LZ4-compressed file",
            "Type: lz4 -dc FILE | verl-doctor -",
        ),
        (257, b"ustar", "a tar archive", "Type: tar xf FILE, and give verl-doctor the folder"),
    )
)


def packing(head: bytes) -> Packing | None:
    """How a stream is compressed. Takes its first bytes (at least 10 to be sure), returns the
    format, or None for anything else. The name of a file says nothing here."""
    if head.startswith(b"\x1f\x8b\x08"):
        return "gz"
    if _BZ2.match(head):
        return "bz2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd") or _SKIPPABLE_ZST.match(head):
        return "zst"
    return None


def utf16(head: bytes) -> str | None:
    """Whether text is UTF-16. Takes the first bytes of the content, returns the name of the codec
    (`utf-16-le`, `utf-16-be`) or None. Without a byte order mark the NULs decide: a log is mostly
    ASCII, whose every other byte is then 0."""
    if head.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if head.startswith(b"\xfe\xff"):
        return "utf-16-be"
    sample = head[: min(len(head), 1024) & ~1]
    pairs = len(sample) // 2
    if pairs < 4:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd >= 0.3 * pairs and even <= 0.02 * pairs:
        codec = "utf-16-le"
    elif even >= 0.3 * pairs and odd <= 0.02 * pairs:
        codec = "utf-16-be"
    else:
        return None
    text = sample.decode(codec, "replace")
    good = sum(c.isprintable() or c in "\t\r\n\x1b\b" for c in text)
    return codec if good >= 0.95 * len(text) else None


def foreign(head: bytes) -> Foreign | None:
    """Whether content is something else than text. Takes its first bytes (up to HEAD, after
    decompression), returns what it is, or None for a log."""
    for offset, magic, found in _MAGIC:
        if head.startswith(magic, offset) and (offset or _UNPRINTABLE.search(head[:64])):
            return found
    if head.startswith(b"\x7fELF"):
        if len(head) > 17 and 4 in (head[16], head[17]):
            return Foreign("a core dump", f"Type: gdb -batch -ex bt PROGRAM FILE. {_THE_LOG}")
        return Foreign("a program or shared library (ELF)", _THE_LOG)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if b"data.pkl" in head[:512]:
            return Foreign("a PyTorch checkpoint", _THE_LOG)
        return Foreign("a ZIP archive", _UNPACK)
    if b"brain.Event:2" in head[:64]:
        return Foreign("a TensorBoard event file", _THE_LOG)
    if _is_safetensors(head):
        return Foreign("safetensors model weights", _THE_LOG)
    if re.match(rb"\x80[\x02-\x05][\x95\x8a}(\]cX\x8c]", head):
        return Foreign("a Python pickle (a checkpoint, or a dump of a library)", _THE_LOG)
    return None if is_text(head) else Foreign("a binary file", _THE_LOG)


def _is_safetensors(head: bytes) -> bool:
    """An 8-byte little-endian length, then JSON."""
    length = int.from_bytes(head[:8], "little")
    return len(head) > 9 and 2 <= length < 1 << 31 and head[8:10] in (b'{"', b"{}", b"{ ")


_CONTROLS = bytes(set(range(32)) - set(b"\0\t\n\r\x1b\b\f\a\v")) + b"\x7f"


def is_text(head: bytes) -> bool:
    """Whether bytes read as text. Takes the first bytes of the content, returns False for binary.

    NULs alone do not make a file binary: a log that was truncated while its writer kept its place
    begins with a run of them, and programs print a few. UTF-16 counts as text.
    """
    if 0 not in head or utf16(head):
        return True
    body = head.strip(b"\0")
    if len(body) < 32:
        return not body or len(body) == len(body.translate(None, _CONTROLS + b"\0"))
    nuls = body.count(0)
    controls = len(body) - len(body.translate(None, _CONTROLS))
    return nuls <= 0.05 * len(body) and controls <= 0.02 * len(body)
