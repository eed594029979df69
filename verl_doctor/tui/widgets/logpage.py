"""The rows of a log as they stand on the screen: where the view is, and how it is painted.

The view is held by the offset of its top line, not by a line's number, so it can stand anywhere in
a file that has not been counted yet. Log text is never markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from ...model import Lang
from ..logfile.find import Query
from ..logfile.lines import Lines, Row
from ..logfile.shown import Shown
from ..logfile.text import peeled
from ..words import word
from .rows import Painter, gap_words

LEAST_WIDTH = 8


class LogPage(Widget):
    """A screenful of one source. What moves it says so by `cursor` and `top`, then `reveal`s."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log--gutter",
        "log--cursor",
        "log--error",
        "log--warning",
        "log--hit",
        "log--bar",
        "log--note",
    }
    DEFAULT_CSS = """
    LogPage { height: 1fr; }
    LogPage > .log--gutter { color: $text-muted; }
    LogPage > .log--cursor { background: $surface-lighten-2; }
    LogPage > .log--error { color: $text-error; }
    LogPage > .log--warning { color: $text-warning; }
    LogPage > .log--hit { text-style: reverse; }
    LogPage > .log--bar { color: $primary; }
    LogPage > .log--note { color: $text-muted; text-style: italic; }
    """

    def __init__(self, lines: Lines, lang: Lang) -> None:
        super().__init__()
        self.lang = lang
        self.shown = Shown(lines)
        self.cursor = 0
        """Offset of the line that the cursor is on."""
        self.searched: Query | None = None
        self.evidence: Mapping[int, bool] = {}
        """Line number -> whether it is the decisive line of the chosen finding."""
        self.bookmarks: set[int] = set()
        self.wrap = False
        self.gaps = False
        self.following = False
        self.top = 0
        """Offset of the line at the top."""
        self.side = 0
        """Cells that the text is moved to the left by."""
        self.page: list[tuple[int | None, Strip]] = []
        """(offset of the line, what is shown) of every row of the screen."""
        self._cut_short = False
        """The last line on the screen has more rows than fit."""
        self._painted = (-1, -1, False)

    @property
    def lines(self) -> Lines:
        """The source that is shown."""
        return self.shown.lines

    def show(self, lines: Lines) -> None:
        """Shows another source, from its top."""
        self.shown = Shown(lines)
        self.bookmarks = set()
        self.cursor = self.top = self.side = 0
        self.paint()

    def number(self) -> int | None:
        """Number of the line under the cursor, where lines have been counted."""
        return self.lines.number_of(self.cursor)

    def row(self) -> Row | None:
        """The line under the cursor."""
        return self.lines.row(self.cursor)

    def above(self, start: int, count: int) -> int:
        """The line `count` shown lines above one, or the first."""
        for _ in range(count):
            before = self.shown.before(start)
            if before is None:
                break
            start = before
        return start

    def reveal(self) -> None:
        """Moves the view until the cursor is in it, as little as that takes."""
        if self.cursor < self.top:
            self.top = self.cursor
        self.paint()
        if not self._whole() and self.cursor not in {start for start, _ in self.page}:
            self.top = self.above(self.cursor, self.size.height - 1)
            self.paint()
        while not self._whole() and self.top < self.cursor:  # wrapped lines above take more rows
            top = self.lines.row(self.top)
            self.top = (self.shown.after(top) if top is not None else None) or self.cursor
            self.paint()

    def _whole(self) -> bool:
        """Whether every row of the line under the cursor is on the screen."""
        if not self.page:
            return True
        last = self.page[-1][0]
        if last == self.cursor:
            return not self._cut_short
        return self.cursor in {start for start, _ in self.page}

    def paint(self) -> None:
        """Builds the rows of the screen anew."""
        height = self.size.height
        if not height or self.size.width < LEAST_WIDTH:
            return
        painter = self._painter()
        page: list[tuple[int | None, Strip]] = []
        time: float | None = None
        place = self.shown.nearest(self.top)
        while place is not None and len(page) < height:
            row = self.shown.row(place)
            if row is None:
                break
            gap = ""
            if self.gaps:
                now = peeled(row).time
                gap = gap_words(time, now)
                time = now or time
            page += [(place, strip) for strip in painter.strips(row, gap)]
            place = self.shown.after(row)
        if not page:
            style = self.get_component_rich_style("log--note")
            page.append((None, Strip([Segment(word(self._nothing(), self.lang), style)])))
        self._cut_short = len(page) > height
        self.page = page[:height]
        self._painted = self._state()
        self.refresh()

    def on_resize(self) -> None:
        self.paint()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.paint()  # another theme: the rows hold colours

    @property
    def stale(self) -> bool:
        """Whether painting again would show something else, since the source has grown."""
        return self._state() != self._painted

    def _state(self) -> tuple[int, int, bool]:
        """What a repaint depends on: the size, which lines have numbers, the end."""
        lines = self.lines
        bottom = self.page[-1][0] if self.page else None
        return lines.size, min(lines.indexed, bottom or 0), lines.finished

    def _painter(self) -> Painter:
        return Painter(
            console=self.app.console,
            style=lambda name: self.get_component_rich_style(f"log--{name}"),
            lang=self.lang,
            lines=self.lines,
            width=self.size.width - 1,
            digits=len(str(max(self.lines.newlines, 999))),
            cursor=self.cursor,
            evidence=self.evidence,
            bookmarks=self.bookmarks,
            folds=self.shown.folds,
            searched=self.searched,
            wrap=self.wrap,
            side=self.side,
            gaps=self.gaps,
        )

    def _nothing(self) -> str:
        """The word for an empty view."""
        if self.shown.spans is not None:
            return "nothing_left"
        return "no_lines" if self.lines.finished else "no_lines_yet"

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y < len(self.page):
            start, strip = self.page[y]
            strip = strip.adjust_cell_length(width - 1)
            if start is not None and start == self.cursor:
                strip = strip.apply_style(self.get_component_rich_style("log--cursor"))
        else:
            strip = Strip.blank(width - 1)
        bar = self.get_component_rich_style("log--bar")
        strip = Strip.join([strip, Strip([Segment(self._bar(y), bar)])])
        own = self.rich_style  # both colours: a light screen may stand in a dark terminal
        return strip.apply_style(Style(color=own.color, bgcolor=own.bgcolor))

    def _bar(self, y: int) -> str:
        """The scroll bar's character: where in the source the view stands, by bytes."""
        size, height = self.lines.size, self.size.height
        if not size:
            return " "
        place = min(height - 1, self.top * height // size)
        return "█" if y == place else "│"
