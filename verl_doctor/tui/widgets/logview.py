"""The log at any place: how keys and the mouse move through it."""

from __future__ import annotations

from textual import events
from textual.message import Message

from ..keys import bindings
from ..logfile.text import shown
from .logpage import LogPage

SIDE_STEP = 16
"""Cells that the view moves sideways."""


class LogView(LogPage, can_focus=True):
    """Shows one source. The screen gives it lines, marks and a query, and asks where it stands."""

    BINDINGS = bindings("log")
    DEFAULT_CSS = """
    LogView:focus > .log--cursor { background: $primary 40%; }
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

    # --- what is asked of it ----------------------------------------------------------------

    def goto(self, offset: int) -> None:
        """Puts the cursor on the line that holds an offset (or the nearest that is shown); what
        a fold hides is unfolded."""
        folds = self.shown.folds
        for head in [head for head, end in folds.items() if head < offset < end]:
            del folds[head]
        place = self.shown.nearest(offset)
        if place is None:
            return
        visible = {start for start, _ in self.page}
        self.cursor = place
        if place not in visible:
            self.top = self.above(place, self.size.height // 3)
        self._moved()

    def refilter(self) -> None:
        """What is shown has changed: the cursor stays on its line, or the nearest to it."""
        place = self.shown.nearest(self.cursor)
        above = sum(1 for start, _ in self.page if start is not None and start < self.cursor)
        if place is not None:
            self.cursor = place
            self.top = self.above(place, above)
        self._moved()

    def grown(self) -> None:
        """The source may have grown, or been counted further: paints again if that can be seen."""
        if not self.stale:
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
        self.cursor = self.top = self.shown.first() or 0
        self._moved()

    def action_last(self) -> None:
        last = self.shown.last()
        if last is None:
            return
        self.following = self.following or self.cursor == last
        self.cursor = last
        self.top = self.above(last, self.size.height - 1)
        self._moved()

    def action_left(self) -> None:
        self.side = max(0, self.side - SIDE_STEP)
        self.paint()

    def action_right(self) -> None:
        self.side += SIDE_STEP
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
        elif place.y < len(self.page) and (start := self.page[place.y][0]) is not None:
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

    def _moved(self) -> None:
        self.reveal()
        self.post_message(self.Moved())
