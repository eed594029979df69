"""Workers over time: since when each is alive, its first error, its last sign of life."""

from __future__ import annotations

import time
from collections.abc import Sequence

from textual import events
from textual.content import Content

from ...diagnose.words import say
from ...model import Lang
from ..keys import bindings
from ..presence import Presence, axis, drawn
from ..words import word
from .lists import Entry, ItemList

SCROLLBAR = 1
LABEL = 24
"""Cells for a worker's name."""


class Strip(ItemList[Presence]):
    """The pane at the bottom, one row a worker."""

    BINDINGS = bindings("strip")
    DEFAULT_CSS = """
    Strip { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, lang: Lang, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lang = lang
        self._some: Sequence[Presence] = ()
        self._total = 0

    def show(self, some: Sequence[Presence], total: int) -> None:
        """Shows these workers over so many lines of the run."""
        self._some, self._total = some, total
        self._draw()

    def on_resize(self, _: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        room = self.size.width - SCROLLBAR
        name = min(LABEL, room // 3)
        width = room - name - 1
        if width < 8:
            return
        span, clock = axis(self._some, self._total)
        entries = []
        for one in self._some:
            text = Content(one.label or say("driver", self._lang))
            entries.append(Entry(_content(text, name, drawn(one, span, width, clock)), one))
        self.fill(entries)
        if not self._some:
            return
        ends = [_clock(end) if clock else f"{int(end):,}" for end in span]
        key = "axis_time" if clock else "axis_lines"
        across = word(key, self._lang, first=ends[0], last=ends[1])
        self.border_title = Content(f"{word('pane_strip', self._lang)}  {across}")


def _content(text: Content, name: int, row: str) -> Content:
    text = text.truncate(name, ellipsis=True, pad=True)
    content = Content.assemble(text, " ", (row, ""))
    place = row.find("X")
    if place >= 0:
        start = len(text) + 1 + place
        content = content.stylize("bold $text-error", start, start + 1)
    return content


def _clock(stamp: float) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(stamp))
