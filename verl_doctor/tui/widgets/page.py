"""A text that is longer than its pane."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from .folded import Folded


class Page(VerticalScroll):
    """Scrolls with the keys of a list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", show=False),
        Binding("k,up", "scroll_up", show=False),
        Binding("g,home", "scroll_home", show=False),
        Binding("G,end", "scroll_end", show=False),
        Binding("ctrl+d,pagedown", "page_down", show=False),
        Binding("ctrl+u,pageup", "page_up", show=False),
    ]
    DEFAULT_CSS = "Page { width: 1fr; padding: 0 1; }"

    def compose(self) -> ComposeResult:
        yield Static()

    def show(self, text: Content) -> None:
        """Shows a text from its top."""
        self.query_one(Static).update(Folded(text))
        self.scroll_home(animate=False)
