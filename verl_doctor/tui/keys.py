"""Every key, once: bindings, the line at the bottom, the help screens and docs come from here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual.binding import Binding, BindingType

from ..model import Lang
from .words import word

KEY_WIDTH = 12
"""Cells for the keys of an action where what it does stands beside them."""


class Key(NamedTuple):
    """The keys of one action; what it does is the word `key_<name>`."""

    keys: str
    """As Textual names them, separated by commas."""
    action: str
    """As Textual names it; `screen.` in front: the screen does it."""
    shown: str
    """As a person reads them."""
    hint: bool = False
    """Whether it stands in the line at the bottom."""

    @property
    def name(self) -> str:
        """The action alone, without its argument."""
        return self.action.rpartition(".")[2].partition("(")[0]

    @property
    def argument(self) -> int | None:
        """The number in brackets behind the action."""
        number = self.action.partition("(")[2].rstrip(")")
        return int(number) if number else None

    @property
    def word(self) -> str:
        """Where its words are found."""
        return f"key_{self.name}"

    @property
    def brief(self) -> str:
        """Where the one word for the bottom line is found."""
        return f"hint_{self.name}"


_LIST = (
    Key("j,down", "cursor_down", "j ↓"),
    Key("k,up", "cursor_up", "k ↑"),
    Key("g,home", "first", "g Home"),
    Key("G,end", "last", "G End"),
    Key("ctrl+d,pagedown", "page_down", "Ctrl-d PgDn"),
    Key("ctrl+u,pageup", "page_up", "Ctrl-u PgUp"),
)

PANES: dict[str, tuple[Key, ...]] = {
    "findings": (
        *_LIST,
        Key("enter,right", "open", "Enter", True),
        Key("y", "screen.copy", "y", True),
    ),
    "detail": (*_LIST, Key("enter", "open", "Enter", True), Key("y", "screen.copy", "y", True)),
    "log": (
        Key("j,down", "cursor_down", "j ↓"),
        Key("k,up", "cursor_up", "k ↑"),
        Key("g,home", "first", "g Home"),
        Key("G,end", "last", "G End"),
        Key("ctrl+d", "half_down", "Ctrl-d"),
        Key("ctrl+u", "half_up", "Ctrl-u"),
        Key("pagedown,space", "page_down", "PgDn"),
        Key("pageup", "page_up", "PgUp"),
        Key("h,left", "left", "h ←"),
        Key("l,right", "right", "l →"),
        Key("enter", "open", "Enter", True),
        Key("y", "copy", "y", True),
        Key("b", "mark", "b"),
    ),
    "strip": (
        Key("j,down", "cursor_down", "j ↓"),
        Key("k,up", "cursor_up", "k ↑"),
        Key("g,home", "first", "g Home"),
        Key("G,end", "last", "G End"),
        Key("enter", "open", "Enter", True),
    ),
    "triage": (
        Key("tab", "next_pane", "Tab", True),
        Key("shift+tab", "previous_pane", "Shift-Tab"),
        Key("escape", "back", "Esc"),
        Key("e", "next_error", "e", True),
        Key("E", "previous_error", "E"),
        Key("w", "next_warning", "w"),
        Key("W", "previous_warning", "W"),
        Key("slash", "search", "/", True),
        Key("n", "next_hit", "n"),
        Key("N", "previous_hit", "N"),
        Key("f", "filter", "f", True),
        Key("t", "toggle_filters", "t"),
        Key("z", "toggle_fold", "z"),
        Key("T", "toggle_gaps", "T"),
        Key("S", "toggle_wrap", "S"),
        Key("F", "toggle_follow", "F"),
        Key("u", "next_mark", "u"),
        Key("U", "previous_mark", "U"),
        Key("ctrl+o", "jump", "Ctrl-o"),
        Key("0", "last_moment(0)", "0"),
        Key("1", "last_moment(1)", "1"),
        Key("2", "last_moment(5)", "2"),
        Key("3", "last_moment(15)", "3"),
        Key("4", "last_moment(30)", "4"),
        Key("5", "last_moment(60)", "5"),
        Key("6", "log_start", "6"),
        Key("right_square_bracket", "next_file", "]"),
        Key("left_square_bracket", "previous_file", "["),
        Key("o", "editor", "o"),
        Key("Y", "copy_finding", "Y", True),
        Key("a", "acknowledge", "a"),
        Key("r", "resolve", "r"),
        Key("m", "mute", "m"),
        Key("c", "note", "c"),
        Key("i", "incidents", "i"),
        Key("R", "rules", "R"),
        Key("M", "metrics", "M"),
        Key("p", "check", "p"),
        Key("P", "check_results", "P"),
        Key("x", "stop_reading", "x"),
        Key("plus", "zoom", "+"),
    ),
    "incidents": (
        *_LIST,
        Key("slash", "search", "/", True),
        Key("a", "acknowledge", "a", True),
        Key("r", "resolve", "r", True),
        Key("m", "mute", "m", True),
        Key("c", "note", "c", True),
        Key("y", "copy", "y"),
        Key("tab", "next_pane", "Tab"),
        Key("escape", "back", "Esc", True),
    ),
    "rules": (
        *_LIST,
        Key("slash", "search", "/", True),
        Key("y", "copy", "y"),
        Key("tab", "next_pane", "Tab"),
        Key("escape", "back", "Esc", True),
    ),
    "metrics": (
        *_LIST,
        Key("h,left", "left", "h ←", True),
        Key("l,right", "right", "l →", True),
        Key("enter", "open", "Enter", True),
        Key("escape", "back", "Esc", True),
    ),
    "checks": (
        *_LIST,
        Key("enter", "open", "Enter", True),
        Key("y", "copy", "y", True),
        Key("p", "check", "p", True),
        Key("tab", "next_pane", "Tab"),
        Key("escape", "back", "Esc", True),
    ),
    "app": (
        Key("question_mark,f1", "help", "?", True),
        Key("ctrl+p", "command_palette", "Ctrl-p"),
        Key("ctrl+t", "theme", "Ctrl-t"),
        Key("q", "quit", "q", True),
    ),
}


def bindings(pane: str) -> list[BindingType]:
    """A pane's keys as Textual takes them."""
    return [Binding(key.keys, key.action, key.action, show=False) for key in PANES[pane]]


LIST: list[BindingType] = [
    Binding(key.keys, key.action, key.action, show=False)
    for key in (*_LIST, Key("enter", "open", "Enter"))
]
"""Keys of any list; a screen's table has them too."""


def help_lines(pane: str, lang: Lang) -> list[tuple[str, str]]:
    """(keys, what they do) of a pane, in the order of the table."""
    return [(key.shown, word(key.word, lang, n=key.argument)) for key in PANES[pane]]


def hints(panes: Iterable[str], lang: Lang) -> list[tuple[str, str]]:
    """(key, what it does) of everything worth a place at the bottom of the screen."""
    return [(key.shown, word(key.brief, lang)) for pane in panes for key in PANES[pane] if key.hint]
