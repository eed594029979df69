"""What `expand` gives, and small helpers that its neighbours share."""

from __future__ import annotations

import shlex
from typing import Literal, NamedTuple

Kind = Literal["file", "stdin", "gz", "bz2", "xz", "zst"]
Packing = Literal["gz", "bz2", "xz", "zst"]

STDIN_LABEL = "<stdin>"


class Source(NamedTuple):
    """One thing to read, recognised but not yet opened."""

    path: str
    """What to open, and the label to show; `<stdin>` for standard input."""
    kind: Kind
    """`file` covers FIFOs too. How a stream is compressed is looked at again when it is read."""
    size: int | None = None
    """Bytes on disk, before decompression; None where no one can know (a pipe, a FIFO)."""


class Failure(NamedTuple):
    """Something that was asked for and is not read, in words for the person who asked."""

    path: str
    message: str
    """Where, what, and what to type next: whole sentences in one line."""
    fatal: bool
    """True where an argument yields nothing that the user asked for; False for a remark."""


def shown(path: str) -> str:
    """A path that any terminal and any encoder takes.

    Takes a path as the operating system gave it, and returns it with undecodable bytes and control
    characters (a file name can hold an escape sequence) written as `\\x..`. Never fails.
    """
    path = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)


def typed(path: str) -> str:
    """A path as it can be pasted into a shell. Takes and returns what `shown` does, quoted."""
    return shlex.quote(shown(path))


class Notes:
    """Collects the remarks on one source, and knows whether its reading has failed already."""

    __slots__ = ("path", "said", "stopped")

    def __init__(self, path: str, said: list[str] | None) -> None:
        self.path = shown(path)
        self.said: list[str] = [] if said is None else said
        self.stopped = False
        """A stage below has ended early and has said why: those above need not say it again."""

    def say(self, sentence: str) -> None:
        """Adds `sentence`, led by the path, once."""
        text = f"{self.path}: {sentence}"
        if text not in self.said:
            self.said.append(text)

    def stop(self, sentence: str) -> None:
        """Adds `sentence` as the reason why reading ends here."""
        self.say(sentence)
        self.stopped = True
