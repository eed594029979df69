"""The log at any place: lines, their numbers and marks, a cursor. Log text is never markup.

The view is held by the offset of its top line, not by a line's number, so it can stand anywhere in
a file that has not been counted yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.cells import chop_cells
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ...model import Lang
from ..keys import bindings
from ..logfile.find import Query, errors, warnings
from ..logfile.lines import Lines, Row
from ..logfile.shown import Shown
from ..logfile.text import peeled, shown
from ..words import word

GAP_WIDTH = 8
LONG_GAP_S = 60.0
"""A pause between two lines that is marked."""
CURSOR = "▌"
"""Stands behind the number of the line under the cursor: its background alone is a colour."""
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
        self.query_: Query | None = None
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
        self._seen_size = -1

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
        """The source may have grown: paints again if that can be seen."""
        if self.lines.size == self._seen_size:
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
        height, width = self.size.height, self.size.width
        if not height or width < 8:
            return
        self._seen_size = self.lines.size
        place = self.shown.nearest(self._top)
        page: list[tuple[int | None, Strip]] = []
        time: float | None = None
        digits = len(str(max(self.lines.newlines, 999)))
        while place is not None and len(page) < height:
            row = self.shown.row(place)
            if row is None:
                break
            gap = ""
            if self.gaps:
                now = peeled(row).time
                gap = _gap(time, now)
                time = now or time
            page += [(place, strip) for strip in self._strips(row, digits, gap, width - 1)]
            place = self.shown.after(row)
        if not page:
            key = "nothing_left" if self.shown.spans is not None else "no_lines"
            if key == "no_lines" and not self.lines.finished:
                key = "no_lines_yet"
            style = self.get_component_rich_style("log--note")
            page.append((None, Strip([Segment(word(key, self.lang), style)])))
        self._cut_short = len(page) > height
        self._page = page[:height]
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        if y < len(self._page):
            start, strip = self._page[y]
            strip = strip.adjust_cell_length(width - 1)
            if start is not None and start == self.cursor:
                strip = strip.apply_style(self.get_component_rich_style("log--cursor"))
        else:
            strip = Strip.blank(width - 1)
        bar = self.get_component_rich_style("log--bar")
        strip = Strip.join([strip, Strip([Segment(self._bar(y), bar)])])
        return strip.apply_style(Style(bgcolor=base.bgcolor))

    def _bar(self, y: int) -> str:
        """The scroll bar's character: where in the source the view stands, by bytes."""
        size, height = self.lines.size, self.size.height
        if not size:
            return " "
        place = min(height - 1, self._top * height // size)
        return "█" if y == place else "│"

    def _strips(self, row: Row, digits: int, gap: str, width: int) -> list[Strip]:
        number = self.lines.number_of(row.start)
        mark = " "
        if number is not None and number in self.evidence:
            mark = ">" if self.evidence[number] else "+"
        elif row.start in self.bookmarks:
            mark = "*"
        sample = row.raw + b"\n"
        level = "E" if any(True for _ in errors().starts(sample)) else " "
        if level == " " and any(True for _ in warnings().starts(sample)):
            level = "W"
        named = str(number) if number is not None else "~"
        cursor = CURSOR if row.start == self.cursor else " "
        gutter = f"{mark}{level}{named:>{digits}}{cursor}" + (
            f"{gap:>{GAP_WIDTH}} " if self.gaps else ""
        )
        style = Style()
        for wanted, name in (("E", "error"), ("W", "warning")):
            if level == wanted:
                style = self.get_component_rich_style(f"log--{name}")
        if mark in ">+":
            style += self.get_component_rich_style("log--evidence")
        text = Text(shown(row), style=style, end="")
        if self.query_ is not None:
            hit = self.get_component_rich_style("log--hit")
            for start, end in self.query_.spans(text.plain):
                text.stylize(hit, start, end)
        if row.start in self.shown.folds:
            text.append(f"  {self._folded(row)}", self.get_component_rich_style("log--note"))
        return self._cut(Text(gutter, self.get_component_rich_style("log--gutter"), end=""), text,
                         max(1, width - len(gutter)))  # fmt: skip

    def _folded(self, row: Row) -> str:
        end = self.shown.folds[row.start]
        hidden = self.lines.tape.read(row.end, end - row.end).count(b"\n")
        return word("folded_lines", self.lang, n=hidden)

    def _cut(self, gutter: Text, text: Text, room: int) -> list[Strip]:
        console = self.app.console
        if not self.wrap:
            body = Strip(text.render(console)).crop(self._side, self._side + room)
            return [Strip.join([Strip(gutter.render(console)), body])]
        cuts, place = [], 0
        for piece in chop_cells(text.plain, room)[:-1]:
            place += len(piece)
            cuts.append(place)
        head = Strip(gutter.render(console))
        strips = []
        for part in text.divide(cuts):
            part.end = ""
            strips.append(Strip.join([head, Strip(part.render(console))]))
            head = Strip([Segment(" " * len(gutter))])
        return strips or [head]


def _gap(before: float | None, now: float | None) -> str:
    """The pause between two times in at most GAP_WIDTH characters; a long one has a `!`."""
    if before is None or now is None:
        return ""
    pause = now - before
    sign = "-" if pause < 0 else "+"
    mark = "!" if pause >= LONG_GAP_S else ""
    pause = abs(pause)
    if pause >= 3600:
        text = f"{pause // 3600:.0f}h{pause % 3600 // 60:02.0f}m"
    elif pause >= 60:
        text = f"{pause // 60:.0f}m{pause % 60:02.0f}s"
    else:
        text = f"{pause:.1f}s"
    return f"{mark}{sign}{text}"
