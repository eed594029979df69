"""How the verbs print: JSON for scripts, lines for people."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any, TextIO

from ...logs.json_text import json_text
from ...quantities import utc
from ...store import Incident, Occurrence

if TYPE_CHECKING:
    from rich.text import Text

SCHEMA_VERSION = 1


def write_json(value: dict[str, Any], indent: int | None = None) -> None:
    """Prints a JSON document that stays harmless when a terminal shows it."""
    stdout().write(json_text(value, indent))


def dated(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its times for programs."""
    times = ("_at", "_until")
    return {key: utc(value) if key.endswith(times) else value for key, value in row.items()}


def incident_json(one: Incident) -> dict[str, Any]:
    """An incident as plain data, its times in UTC."""
    return dated(one._asdict())


def occurrence_json(one: Occurrence) -> dict[str, Any]:
    """An incident in one run as plain data, its times in UTC."""
    return {**dated(one._asdict()), "evidence": [line._asdict() for line in one.evidence]}


def stdout() -> TextIO:
    """Standard output that writes what its encoding lacks (`LC_ALL=C`) as an escape."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


class Page:
    """Lines with a hanging indent on a terminal; one line each, whole, in a pipe."""

    def __init__(self, stream: TextIO, color: str) -> None:
        from ...render.paper import console

        self.console = console(stream, color)
        self.wrap = stream.isatty()

    def line(self, head: Text | str, body: str = "", style: str = "", bold: bool = False) -> None:
        """Prints `head`, then `body`, which is log text: never markup, controls made visible."""
        from rich.text import Text

        from ...logs.text import visible
        from ...render.wrapping import wrapped

        head = Text(head, style="bold" if bold else "") if isinstance(head, str) else head
        text = Text(visible(body).replace("\n", " ⏎ "), style=style)
        width = max(20, self.console.width - head.cell_len)
        for number, part in enumerate(wrapped(text, width) if self.wrap else [text]):
            start = head if number == 0 else Text(" " * head.cell_len)
            whole = Text.assemble(start, part)
            whole.rstrip()
            self.console.print(whole, soft_wrap=True)


def padded(cell: str, width: int, right: bool = False) -> str:
    """The text filled up with spaces to so many columns; a Chinese character takes two."""
    from rich.cells import cell_len

    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
