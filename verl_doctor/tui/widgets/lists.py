"""A list of items that can hold log text: nothing in it is markup, and the place is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from textual.content import Content
from textual.geometry import Spacing
from textual.visual import Padding
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from .folded import Folded

Value = TypeVar("Value")


class Entry(NamedTuple, Generic[Value]):
    """What is shown of an item, and the item; a heading has none and can't be chosen."""

    content: Content
    value: Value | None = None
    indent: int = 0
    """Cells to the left of every line of it, wrapped ones too."""


class ItemList(OptionList, Generic[Value], inherit_bindings=False):
    """An option list over values. Filled anew, it stays on the item that was chosen."""

    DEFAULT_CSS = """
    ItemList {
        border: none; padding: 0; height: 1fr; background: $background;
        scrollbar-size-vertical: 1;
    }
    ItemList:focus { border: none; }
    ItemList > .option-list--option-highlighted { background: $primary 15%; color: $foreground; }
    ItemList:focus > .option-list--option-highlighted {
        background: $primary 40%; color: $foreground; text-style: bold;
    }
    ItemList > .option-list--option-disabled { color: $text-muted; text-style: bold; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._values: list[Value | None] = []

    @property
    def chosen(self) -> Value | None:
        """The highlighted item; None where there is none."""
        place = self.highlighted
        return self._values[place] if place is not None and place < len(self._values) else None

    def fill(self, entries: Sequence[Entry[Value]], place: int | None = None) -> None:
        """Shows these entries; the highlight goes to `place`, else stays where it was, else to
        the first item."""
        before, top = self.highlighted, self.scroll_offset.y
        self._values = [entry.value for entry in entries]
        self.set_options(
            Option(
                Padding(Folded(one.content), Spacing(0, 0, 0, one.indent)),
                disabled=one.value is None,
            )
            for one in entries
        )
        wanted = before if place is None else place
        if wanted is None or wanted >= len(entries) or self._values[wanted] is None:
            wanted = next((i for i, value in enumerate(self._values) if value is not None), None)
        self.highlighted = wanted
        if place is None and before is not None:
            self.scroll_to(y=top, animate=False)

    def choose(self, place: int) -> None:
        """Puts the highlight on an entry."""
        self.highlighted = place

    @property
    def values(self) -> Sequence[Value | None]:
        """The items as they stand, None for headings."""
        return self._values

    def action_open(self) -> None:
        """What Enter does: the screen is told that the item was selected."""
        self.action_select()
