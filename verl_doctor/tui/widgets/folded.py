"""Text whose lines are broken between Chinese characters too, and hang under their beginning."""

from __future__ import annotations

import re

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from ...render.wrapping import breaks

_HANG = re.compile(r" *(?:[$+>] )?")
"""What the further rows of a line stand under: its indent, and the sign of something to paste."""
LEAST_WIDTH = 20
"""Cells for the text; where there are fewer, nothing hangs."""


class Folded(Visual):
    """A text to be read, of any number of lines."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._folded: tuple[int, Content] | None = None

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return self._content.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self._at(rules, width).get_height(rules, width)

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        return self._at(options.rules, width).render_strips(width, height, style, options)

    def _at(self, rules: RulesMap, width: int) -> Content:
        """The text as it stands in a pane of so many cells."""
        if rules.get("text_wrap") == "nowrap":
            return self._content
        if self._folded is None or self._folded[0] != width:
            lines = [_folded(line, width) for line in self._content.split(allow_blank=True)]
            self._folded = width, Content("\n").join(lines)
        return self._folded[1]


def _folded(line: Content, width: int) -> Content:
    found = _HANG.match(line.plain)
    hang = found.end() if found is not None else 0
    if width - hang < LEAST_WIDTH:
        hang = 0
    body = line[hang:]
    rows = [row.rstrip() for row in body.divide(breaks(body.plain, max(1, width - hang)))]
    return Content.assemble(line[:hang], Content("\n" + " " * hang).join(rows))
