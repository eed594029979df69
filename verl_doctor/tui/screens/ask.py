"""Small questions at the bottom of the screen: a line of text, one of a few choices, yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ..widgets.folded import Folded

Answer = TypeVar("Answer")


class Question(ModalScreen[Answer], Generic[Answer]):
    """A box at the bottom of the screen."""

    DEFAULT_CSS = """
    Question { align: left bottom; background: $background 30%; }
    Question > Vertical, Question > VerticalScroll {
        height: auto; max-height: 80%; padding: 0 1;
        border-top: solid $primary; background: $surface;
    }
    Question Input, Question OptionList, Question Input:focus, Question OptionList:focus {
        border: none; padding: 0; background: $surface; height: auto;
    }
    """

    def on_mount(self) -> None:
        self.app.clear_notifications()  # they would lie over the box


class Ask(Question[str | None]):
    """Asks for a line of text; None if the user goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, question: str, text: str = "") -> None:
        super().__init__()
        self._question = question
        self._text = text

    def compose(self) -> ComposeResult:
        box = Vertical(Input(self._text, select_on_focus=True))
        box.border_title = Content(self._question)
        yield box

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Choose(Question[int | None]):
    """Asks for one of a few choices; the index of it, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
        *(Binding(str(i), f"pick({i})", show=False) for i in range(1, 10)),
    ]

    def __init__(self, question: str, choices: Sequence[str]) -> None:
        super().__init__()
        self._question = question
        self._choices = choices

    def compose(self) -> ComposeResult:
        options = [
            Option(Folded(Content(f"{i}. {text}"))) for i, text in enumerate(self._choices, 1)
        ]
        box = Vertical(OptionList(*options))
        box.border_title = Content(self._question)
        yield box

    def action_pick(self, number: int) -> None:
        if number <= len(self._choices):
            self.dismiss(number - 1)

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)


class Confirm(Question[bool]):
    """Asks whether to do something that is told in full; False if the user goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", show=False),
        Binding("n,escape", "dismiss(False)", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
    ]

    def __init__(self, question: str, text: Content) -> None:
        """Takes the question, and what would be done, with the keys that answer."""
        super().__init__()
        self._question = question
        self._text = text

    def compose(self) -> ComposeResult:
        box = VerticalScroll(Static(Folded(self._text)))
        box.border_title = Content(self._question)
        yield box

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
