"""What a page is printed on: a console with colours, or a stream that takes text alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import OverflowMethod
    from rich.text import Text

PIPE_WIDTH = 80


class Paper(Protocol):
    """The part of rich's Console that pages are printed with."""

    @property
    def width(self) -> int:
        """Cells of a line."""

    @property
    def encoding(self) -> str:
        """Of the stream that it writes to."""

    def print(self, *texts: Text, soft_wrap: bool = False) -> None:
        """Prints a text, or an empty line where none is given; `soft_wrap`: as it is, however
        wide."""


class Plain:
    """A stream that takes no colours: it needs no Console, whose import takes longer than all else
    that is done for a page."""

    def __init__(self, stream: TextIO, width: int) -> None:
        self._stream = stream
        self.width = width
        self.encoding = (getattr(stream, "encoding", None) or "utf-8").lower()

    def print(self, *texts: Text, soft_wrap: bool = False) -> None:
        """See `Paper.print`."""
        for text in texts:
            for line in broken(text, self.width, soft_wrap=soft_wrap):
                self._stream.write(f"{line}\n")
        if not texts:
            self._stream.write("\n")


def broken(text: Text, width: int, *, soft_wrap: bool = False) -> list[str]:
    """The lines of a text as rich breaks them, at spaces, so that none is wider than so many cells;
    `soft_wrap`: however wide they are."""
    overflow: OverflowMethod | None = "ignore" if soft_wrap else None
    # the console is asked for nothing where a text is set flush left
    lines = text.wrap(None, width, overflow=overflow)  # type: ignore[arg-type]
    return [line.plain for line in lines]


def console(stream: TextIO, color: str, width: int = 0) -> Paper:
    """A paper on the stream that never interprets what is printed.

    Takes `auto`, `always` or `never` (NO_COLOR and TERM=dumb are respected by `auto`), and a width
    in cells; 0: the terminal's.
    """
    terminal = stream.isatty()
    wide = PIPE_WIDTH
    if terminal or os.environ.get("COLUMNS"):
        from shutil import get_terminal_size  # it brings all of compression along

        wide = get_terminal_size((PIPE_WIDTH, 24)).columns
    wide = width or max(40, min(wide, 120))
    plain = color == "never" or (
        color == "auto"
        and (not terminal or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb")
    )
    if plain and not terminal:
        return Plain(stream, wide)
    from rich.console import Console

    return Console(
        file=stream,
        width=wide,
        markup=False,
        highlight=False,
        emoji=False,
        no_color=plain,
        force_terminal=color == "always" or None,
        color_system=None if plain else "standard",
        legacy_windows=False,
    )
