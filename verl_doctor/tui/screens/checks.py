"""What the checks of this machine have found, each with what was seen."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList

from ...checks.names import SUBJECTS
from ...checks.types import Result
from ...logs.text import visible
from ...model import Lang
from ...render.checks import MARKS, SUM, counts, standing
from ...render.labels import label, pasted
from ..keys import LIST, bindings
from ..widgets.findings import STYLES
from ..widgets.lists import Entry, ItemList
from ..widgets.page import Page
from ..words import word
from .base import Hints, titled
from .checking import Checked, Checking

_STYLES = {**STYLES, "ok": "$text-success", "unknown": "$text-accent"}
MARK_WIDTH = 3
MAX_TEXT = 2000


class ResultList(ItemList[Result], inherit_bindings=False):
    """Results: first of the checks that a finding asked for, then the faults, the worst first."""

    BINDINGS = LIST
    DEFAULT_CSS = """
    ResultList { text-wrap: nowrap; text-overflow: ellipsis; height: auto; max-height: 60%; }
    """


class Checks(Checking):
    """`P`: a result is chosen above and shown in full below."""

    PANE = "checks"
    BINDINGS = bindings("checks")

    def __init__(self, checked: Checked) -> None:
        super().__init__()
        self._checked = checked

    def compose(self) -> ComposeResult:
        with Vertical():
            yield ResultList().add_class("pane")
            yield Page().add_class("pane")
        yield Hints()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(ResultList).focus()
        self.show_checked(self._checked)

    def show_checked(self, checked: Checked) -> None:
        self._checked = checked
        results = self.query_one(ResultList)
        entries: list[Entry[Result]] = [
            Entry(Content(SUM.get(self.lang).format(**counts(checked.results))))
        ]
        entries += [
            Entry(Content(word("check_silent", self.lang, name=name))) for name in checked.silent
        ]
        first = len(entries)
        entries += [Entry(_row(one, self.lang), one) for one in _ordered(checked)]
        results.fill(entries, first if checked.results else None)
        about = f" ({checked.about})" if checked.about else ""
        titled(results, word("screen_checks", self.lang, python=checked.python + about))

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        one = self.query_one(ResultList).chosen
        if one is not None:
            page = self.query_one(Page)
            page.show(Content.assemble(*_full(one, self.lang)))
            titled(page, one.check)

    def on_option_list_option_selected(self, _: OptionList.OptionSelected) -> None:
        self.query_one(Page).focus()

    def action_back(self) -> None:
        results = self.query_one(ResultList)
        if results.has_focus:
            super().action_back()
        else:
            results.focus()

    def action_copy(self) -> None:
        one = self.query_one(ResultList).chosen
        if one is not None:
            self.doctor.copy("".join(text for text, _ in _full(one, self.lang)))

    def action_check(self) -> None:
        self.examine(self._checked.wanted, self._checked.about)


def _ordered(checked: Checked) -> list[Result]:
    def place(one: Result) -> tuple[bool, int]:
        return one.check not in checked.wanted, list(MARKS).index(standing(one))

    return sorted(checked.results, key=place)


def _row(one: Result, lang: Lang) -> Content:
    key = standing(one)
    mark, _ = MARKS[key]
    text = visible(one.text.get(lang), MAX_TEXT)
    return Content.assemble(
        (f"{mark:<{MARK_WIDTH}}", _STYLES[key]), (f"{one.check}  ", "bold"), text
    )


def _full(one: Result, lang: Lang) -> list[tuple[str, str]]:
    """A result with all that was seen, as (text, style) pieces."""
    key = standing(one)
    mark, _ = MARKS[key]
    rule = f"  [{one.rule}]" if one.rule else ""
    parts = [
        (f"{mark} ", _STYLES[key]),
        (visible(one.text.get(lang), MAX_TEXT), ""),
        (rule, "dim"),
    ]
    if one.fix is not None:
        parts.append((f"\n{label('fix', lang)} {one.fix.text.get(lang)}", "bold"))
        for sign, text in pasted(one.fix):
            parts.append((f"\n  {sign} {visible(text, MAX_TEXT)}", "$text-success"))
    if one.seen:
        parts.append((f"\n{word('check_seen', lang)}", "bold"))
    parts += [(f"\n  {visible(text, MAX_TEXT)}", "") for text in one.seen]
    if one.check in SUBJECTS:
        subject = SUBJECTS[one.check].get(lang)
        parts.append((f"\n{word('check_looks', lang, what=subject)}", "dim"))
    return parts
