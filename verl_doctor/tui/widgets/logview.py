"""The log at any place: lines, their numbers and marks, a cursor. Log text is never markup.

The view is held by the offset of its top line, not by a line's number, so it can stand anywhere in
a file that has not been counted yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ...model import Lang
from ..keys import bindings
from ..logfile.find import Query
from ..logfile.lines import Lines, Row
from ..logfile.shown import Shown
from ..logfile.text import peeled, shown
from ..words import word
from .rows import Painter, gap_words

LEAST_WIDTH = 8
SIDE_STEP = 16
"""Cells that the view moves sideways."""


class LogView(Widget, can_focus=True):
    """Shows one source. The screen gives it lines, marks and a query, and asks where it stands."""

    BINDINGS = bindings("log")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log--gutter",
        "log--cursor",
        "log--error",
        "log--warning",
        "log--evidence",
        "log--hit",
        "log--bar",
        "log--note",
    }
    DEFAULT_CSS = """
    LogView { height: 1fr; }
    LogView > .log--gutter { color: $text-muted; }
    LogView > .log--cursor { background: $surface-lighten-2; }
    LogView:focus > .log--cursor { background: $primary 40%; }
    LogView > .log--error { color: $text-error; }
    LogView > .log--warning { color: $text-warning; }
    LogView > .log--evidence { text-style: bold; }
    LogView > .log--hit { text-style: reverse; }
    LogView > .log--bar { color: $primary; }
    LogView > .log--note { color: $text-muted; text-style: italic; }
    """

    class Moved(Message):
        """The cursor stands on another line."""

    class Opened(Message):
        """Enter was pressed on a line."""

        def __init__(self, number: int | None) -> None:
            super().__init__()
            self.number = number

    class Copied(Message):
        """The line under the cursor is to be copied."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

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
        self._top = 0
        self._side = 0
        self._page: list[tuple[int | None, Strip]] = []
        """(offset of the line, what is shown) of every row of the screen."""
        self._cut_short = False
        """The last line on the screen has more rows than fit."""
        self._painted = (-1, -1, False)

    @property
    def lines(self) -> Lines:
        """The source that is shown."""
        return self.shown.lines

    # --- what is asked of it ----------------------------------------------------------------

    def show(self, lines: Lines) -> None:
        """Shows another source, from its top."""
        self.shown = Shown(lines)
        self.bookmarks = set()
        self.cursor = self._top = self._side = 0
        self.paint()

    def goto(self, offset: int) -> None:
        """Puts the cursor on the line that holds an offset (or the nearest that is shown); what
        a fold hides is unfolded."""
        folds = self.shown.folds
        for head in [head for head, end in folds.items() if head < offset < end]:
            del folds[head]
        place = self.shown.nearest(offset)
        if place is None:
            return
        visible = {start for start, _ in self._page}
        self.cursor = place
        if place not in visible:
            self._top = self._above(place, self.size.height // 3)
        self._moved()

    def number(self) -> int | None:
        """Number of the line under the cursor, where lines have been counted."""
        return self.lines.number_of(self.cursor)

    def row(self) -> Row | None:
        """The line under the cursor."""
        return self.lines.row(self.cursor)

    def refilter(self) -> None:
        """What is shown has changed: the cursor stays on its line, or the nearest to it."""
        place = self.shown.nearest(self.cursor)
        above = sum(1 for start, _ in self._page if start is not None and start < self.cursor)
        if place is not None:
            self.cursor = place
            self._top = self._above(place, above)
        self._moved()

    def grown(self) -> None:
        """The source may have grown, or been counted further: paints again if that can be seen."""
        if self._state() == self._painted:
            return
        if self.following:
            self.action_last()
        else:
            self.paint()

    # --- keys and mouse ---------------------------------------------------------------------

    def action_cursor_down(self, count: int = 1) -> None:
        for _ in range(count):
            row = self.row()
            after = self.shown.after(row) if row is not None else None
            if after is None:
                break
            self.cursor = after
        self._moved()

    def action_cursor_up(self, count: int = 1) -> None:
        for _ in range(count):
            before = self.shown.before(self.cursor)
            if before is None:
                break
            self.cursor = before
        self.following = False
        self._moved()

    def action_half_down(self) -> None:
        self.action_cursor_down(max(1, self.size.height // 2))

    def action_half_up(self) -> None:
        self.action_cursor_up(max(1, self.size.height // 2))

    def action_page_down(self) -> None:
        self.action_cursor_down(max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self.action_cursor_up(max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.following = False
        self.cursor = self._top = self.shown.first() or 0
        self._moved()

    def action_last(self) -> None:
        last = self.shown.last()
        if last is None:
            return
        self.following = self.following or self.cursor == last
        self.cursor = last
        self._top = self._above(last, self.size.height - 1)
        self._moved()

    def action_left(self) -> None:
        self._side = max(0, self._side - SIDE_STEP)
        self.paint()

    def action_right(self) -> None:
        self._side += SIDE_STEP
        self.paint()

    def action_open(self) -> None:
        self.post_message(self.Opened(self.number()))

    def action_copy(self) -> None:
        row = self.row()
        if row is not None:
            self.post_message(self.Copied(shown(row)))

    def action_mark(self) -> None:
        self.bookmarks ^= {self.cursor}
        self.paint()

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is None:
            return
        if place.x >= self.size.width - 1:
            share = place.y / max(1, self.size.height - 1)
            self.following = False
            self.goto(min(self.lines.last(), int(self.lines.size * share)))
        elif place.y < len(self._page) and (start := self._page[place.y][0]) is not None:
            self.cursor = start
            self._moved()
            if event.chain == 2:
                self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_cursor_down(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_cursor_up(3)

    def on_resize(self) -> None:
        self.paint()

    def _moved(self) -> None:
        self._reveal()
        self.post_message(self.Moved())

    # --- painting ---------------------------------------------------------------------------

    def _above(self, start: int, count: int) -> int:
        """The line `count` shown lines above one, or the first."""
        for _ in range(count):
            before = self.shown.before(start)
            if before is None:
                break
            start = before
        return start

    def _reveal(self) -> None:
        """Moves the view until the cursor is in it, as little as that takes."""
        if self.cursor < self._top:
            self._top = self.cursor
        self.paint()
        if not self._whole() and self.cursor not in {start for start, _ in self._page}:
            self._top = self._above(self.cursor, self.size.height - 1)
            self.paint()
        while not self._whole() and self._top < self.cursor:  # wrapped lines above take more rows
            top = self.lines.row(self._top)
            self._top = (self.shown.after(top) if top is not None else None) or self.cursor
            self.paint()

    def _whole(self) -> bool:
        """Whether every row of the line under the cursor is on the screen."""
        if not self._page:
            return True
        last = self._page[-1][0]
        if last == self.cursor:
            return not self._cut_short
        return self.cursor in {start for start, _ in self._page}

    def paint(self) -> None:
        """Builds the rows of the screen anew."""
        height = self.size.height
        if not height or self.size.width < LEAST_WIDTH:
            return
        painter = self._painter()
        page: list[tuple[int | None, Strip]] = []
        time: float | None = None
        place = self.shown.nearest(self._top)
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
        self._page = page[:height]
        self._painted = self._state()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.paint()  # another theme: the rows hold colours

    def _state(self) -> tuple[int, int, bool]:
        """What a repaint would show differently: the size, which lines have numbers, the end."""
        lines = self.lines
        bottom = self._page[-1][0] if self._page else None
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
            side=self._side,
            gaps=self.gaps,
        )

    def _nothing(self) -> str:
        """The word for an empty view."""
        if self.shown.spans is not None:
            return "nothing_left"
        return "no_lines" if self.lines.finished else "no_lines_yet"

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y < len(self._page):
            start, strip = self._page[y]
            strip = strip.adjust_cell_length(width - 1)
            if start is not None and start == self.cursor:
                strip = strip.apply_style(self.get_component_rich_style("log--cursor"))
        else:
            strip = Strip.blank(width - 1)
        bar = self.get_component_rich_style("log--bar")
        strip = Strip.join([strip, Strip([Segment(self._bar(y), bar)])])
        return strip.apply_style(Style(bgcolor=self.rich_style.bgcolor))

    def _bar(self, y: int) -> str:
        """The scroll bar's character: where in the source the view stands, by bytes."""
        size, height = self.lines.size, self.size.height
        if not size:
            return " "
        place = min(height - 1, self._top * height // size)
        return "█" if y == place else "│"
