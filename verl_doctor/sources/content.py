"""Looks into one file: what it holds, before it is decided whether to read it."""

from __future__ import annotations

import os
from typing import NamedTuple

from verl_doctor.sources.sniff import HEAD, Foreign, foreign, packing
from verl_doctor.sources.types import Kind, Notes
from verl_doctor.sources.unpack import unpacked


class Content(NamedTuple):
    """What the first bytes of a regular file show."""

    kind: Kind
    size: int
    """Bytes on disk."""
    head: bytes
    """The first bytes after decompression, at most HEAD."""
    empty: bool
    foreign: Foreign | None


def inspect(path: str) -> Content:
    """Reads as little of a regular file as shows what it is.

    Takes a path; returns its content's traits. Raises OSError where it cannot be opened or read.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(HEAD) or b""
        kind = packing(head)
        if kind is None:
            return Content("file", size, head, not head, foreign(head))
        notes = Notes(path, None)
        file.seek(0)
        content = b""
        for piece in unpacked(kind, iter(lambda: file.read(1 << 16), b""), HEAD, notes):
            content += piece
            if len(content) >= HEAD:
                break
    content = content[:HEAD]
    return Content(kind, size, content, not content and not notes.stopped, foreign(content))
