"""What all screens share: the line of keys at the bottom, help for the pane in use, answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from ...model import Lang
from ..keys import hints

if TYPE_CHECKING:
    from ..app import DoctorApp


class Hints(Static):
    """The keys that matter in the pane that is in use."""

    DEFAULT_CSS = "Hints { height: 1; dock: bottom; color: $text-muted; }"

    def show(self, panes: tuple[str, ...], lang: Lang) -> None:
        """Shows the keys of these panes."""
        parts: list[str | tuple[str, str]] = []
        for shown, text in hints(panes, lang):
            parts += [(shown, "bold reverse"), f" {text}  "]
        self.update(Content.assemble(*parts))


class DoctorScreen(Screen[None]):
    """A screen of the doctor."""

    PANE = ""
    """Its name in the table of keys."""

    DEFAULT_CSS = """
    DoctorScreen .pane { border-top: solid $foreground 40%; border-title-color: $foreground; }
    DoctorScreen .pane:focus-within { border-top: heavy $primary; }
    DoctorScreen .pane:focus { border-top: heavy $primary; }
    """

    @property
    def doctor(self) -> DoctorApp:
        """The app, as what it is."""
        return cast("DoctorApp", self.app)

    @property
    def lang(self) -> Lang:
        """The language of the screen."""
        return self.doctor.lang

    def panes(self) -> tuple[str, ...]:
        """The tables of keys that hold now, that of the pane in use first."""
        return (self.PANE, "app")

    def tell_keys(self) -> None:
        """Shows the keys of the pane in use."""
        for line in self.query(Hints):
            line.show(self.panes(), self.lang)

    def on_mount(self) -> None:
        self.tell_keys()

    def on_descendant_focus(self) -> None:
        self.tell_keys()

    def action_next_pane(self) -> None:
        self.focus_next()

    def action_previous_pane(self) -> None:
        self.focus_previous()

    def action_back(self) -> None:
        self.app.pop_screen()


def titled(widget: Widget, title: str, note: str = "") -> None:
    """Puts a title on a pane, and a note at its other end where it has a frame there; neither is
    ever markup."""
    widget.border_title = Content(title)
    widget.border_subtitle = Content(note)
