"""All rules, searchable, and everything that one knows."""

from __future__ import annotations

import io

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList

from ...knowledge.base import RuleBase
from ...render.manual import render
from ..keys import LIST, bindings
from ..widgets.findings import MARKS, STYLES
from ..widgets.lists import Entry, ItemList
from ..widgets.page import Page
from ..words import word
from .ask import Ask
from .base import DoctorScreen, Hints, titled

LEAST_WIDTH = 30


class RuleList(ItemList[str], inherit_bindings=False):
    """Ids of rules."""

    BINDINGS = LIST
    DEFAULT_CSS = (
        "RuleList { text-wrap: nowrap; text-overflow: ellipsis; width: 40%; padding-right: 1; }"
    )


class Rules(DoctorScreen):
    """`R`: opens on the rule of the chosen finding."""

    PANE = "rules"
    BINDINGS = bindings("rules")

    def __init__(self, base: RuleBase, rule: str | None = None) -> None:
        super().__init__()
        self._base = base
        self._wanted = rule
        self._text = ""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield RuleList().add_class("pane")
            yield Page().add_class("pane")
        yield Hints()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RuleList).focus()
        self._fill()

    def action_search(self) -> None:
        def asked(text: str | None) -> None:
            if text is not None:
                self._text = text
                self._fill()

        self.app.push_screen(Ask(word("find_rules", self.lang), self._text), asked)

    def _fill(self) -> None:
        words = self._text.lower().split()
        entries: list[Entry[str]] = []
        place = None
        for rule_id, plain in sorted(self._base.plains.items()):
            title = plain["title"].get(self.lang) or plain["title"]["en"]
            searched = f"{rule_id} {plain['slug']} {title}".lower()
            if all(one in searched for one in words):
                if rule_id == self._wanted:
                    place = len(entries)
                severity = plain["severity"]
                content = Content.assemble(
                    (MARKS[severity], STYLES[severity]), (f"{rule_id} ", "bold"), title
                )
                entries.append(Entry(content, rule_id))
        count = len(entries)
        if not entries:
            entries.append(Entry(Content(word("no_rules", self.lang))))
        rules = self.query_one(RuleList)
        rules.fill(entries, place)
        titled(rules, f"{word('screen_rules', self.lang)} ({count})", self._text)
        self._explain()

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        self._explain()

    def on_resize(self, _: events.Resize) -> None:
        self.call_after_refresh(self._explain)

    def _page(self) -> str:
        chosen = self.query_one(RuleList).chosen
        if chosen is None:
            return ""
        buffer = io.StringIO()
        width = max(LEAST_WIDTH, self.query_one(Page).size.width - 2)
        rule = self._base.rule(chosen)
        render(rule, lang=self.lang, color="never", stream=buffer, width=width)
        return buffer.getvalue()

    def _explain(self) -> None:
        box = self.query_one(Page)
        box.show(Content(self._page()))
        chosen = self.query_one(RuleList).chosen
        titled(box, chosen or "")

    def action_copy(self) -> None:
        self.doctor.copy(self._page())
