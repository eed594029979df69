"""The kinds of warnings and errors that a log prints, to be compared with those of other runs."""

from __future__ import annotations

from collections.abc import Mapping

from ..logs.text import visible
from ..model import Evidence, Line, Message
from .incidents import template

MAX_KINDS = 200
MAX_TEXT = 300


class Messages:
    """Counts lines that differ only in their numbers as one message."""

    def __init__(self) -> None:
        self._kinds: dict[str, Message] = {}

    def add(self, line: Line, is_error: bool) -> None:
        """Takes a warning or an error; beyond MAX_KINDS no further kind is kept."""
        kind = template(line.text.strip(), MAX_TEXT)
        known = self._kinds.get(kind)
        if known is not None:
            self._kinds[kind] = known._replace(count=known.count + line.repeated)
        elif len(self._kinds) < MAX_KINDS:
            first = Evidence(line.path, line.number, visible(line.text.strip(), MAX_TEXT))
            self._kinds[kind] = Message(
                kind, "error" if is_error else "warning", first, line.repeated
            )

    def told(self, offsets: Mapping[str, int]) -> tuple[Message, ...]:
        """The messages in the order of the log, lines counted within their own file.

        Takes the number of lines before each source.
        """
        return tuple(
            one._replace(first=Evidence(path, line - offsets.get(path, 0), text))
            for one in self._kinds.values()
            for path, line, text in (one.first,)
        )
