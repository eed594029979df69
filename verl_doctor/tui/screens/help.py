"""The keys of the pane in use."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ...model import Lang
from ..keys import KEY_WIDTH, help_lines
from ..words import word
from .base import titled


class Help(ModalScreen[None]):
    """Shows keys; any of Esc, q, ? closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]
    DEFAULT_CSS = """
    Help { align: center middle; background: $background 60%; }
    Help > VerticalScroll {
        width: 64; max-width: 100%; height: auto; max-height: 100%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    """

    def __init__(self, panes: tuple[str, ...], lang: Lang) -> None:
        super().__init__()
        self._panes = panes
        self._lang = lang

    def compose(self) -> ComposeResult:
        box = VerticalScroll(Static(self._text()))
        titled(box, word("screen_help", self._lang), word("help_close", self._lang))
        yield box

    def action_down(self) -> None:
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        self.query_one(VerticalScroll).scroll_up(animate=False)

    def _text(self) -> Content:
        parts: list[str | tuple[str, str]] = []
        for i, pane in enumerate(self._panes):
            head = "help_here" if i == 0 else "help_everywhere"
            if i < 2:
                parts.append((word(head, self._lang) + "\n", "bold"))
            for keys, text in help_lines(pane, self._lang):
                parts += [(f" {keys:<{KEY_WIDTH}}", "bold"), f" {text}\n"]
        return Content.assemble(*parts)
