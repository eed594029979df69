"""What was found on this machine before, and what people said about it."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList

from ... import store
from ...diagnose.explain import fill, title_in
from ...errors import StoreError
from ...logs.text import visible
from ...model import Rule
from ...quantities import minute
from ...render.labels import label
from ..keys import LIST, bindings
from ..widgets.findings import MARKS, STYLES
from ..widgets.lists import Entry, ItemList
from ..widgets.page import Page
from ..words import word
from .ask import Ask
from .base import Hints, titled
from .keeping import Keeping, Subject

LIMIT = 500
"""Incidents in the list: the ones seen last."""
MAX_RUNS = 10


class IncidentList(ItemList[store.Incident], inherit_bindings=False):
    """Incidents, the one seen last first."""

    BINDINGS = LIST
    DEFAULT_CSS = (
        "IncidentList { text-wrap: nowrap; text-overflow: ellipsis; width: 48%; padding-right: 1; }"
    )


class Incidents(Keeping):
    """`i`: opens on the incident of the chosen finding, if it is on record."""

    PANE = "incidents"
    BINDINGS = bindings("incidents")

    def __init__(self, fingerprint: str = "") -> None:
        super().__init__()
        self._wanted = fingerprint
        self._text = ""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield IncidentList().add_class("pane")
            yield Page().add_class("pane")
        yield Hints()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(IncidentList).focus()
        self._load()

    def subject(self) -> Subject | None:
        one = self.query_one(IncidentList).chosen
        return Subject(one.fingerprint, f"#{one.number}", self._advised(one)) if one else None

    def kept(self) -> None:
        self._load()
        self.doctor.ask_history()

    def action_search(self) -> None:
        def asked(text: str | None) -> None:
            if text is not None:
                self._text = text
                self._load()

        self.app.push_screen(Ask(word("find_incidents", self.lang), self._text), asked)

    def action_copy(self) -> None:
        one = self.query_one(IncidentList).chosen
        if one is not None:
            self.doctor.copy(f"#{one.number} {self._title(one)}")

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        one = self.query_one(IncidentList).chosen
        if one is not None:
            self._ask(lambda: self._page(one), lambda text: self._show_page(one, text), "page")

    def _load(self) -> None:
        self._ask(lambda: store.incidents(limit=LIMIT, text=self._text), self._fill, "list")

    def _ask(self, read: Callable[[], object], show: Callable[..., None], group: str) -> None:
        """Reads the store in a thread and shows what it gave."""

        def work() -> None:
            try:
                found = read()
            except StoreError as error:
                self.doctor.say(str(error), "error")
            else:
                self.app.call_from_thread(show, found)

        self.run_worker(work, thread=True, exclusive=True, group=group, exit_on_error=False)

    def _fill(self, listing: store.Listing) -> None:
        if not self.is_mounted:
            return
        entries: list[Entry[store.Incident]] = []
        place = None
        for one in listing.incidents:
            if one.fingerprint == self._wanted:
                place, self._wanted = len(entries), ""
            muted = f" {word('incident_muted', self.lang)}" if one.muted else ""
            content = Content.assemble(
                (MARKS[one.severity], STYLES[one.severity]),
                (f"#{one.number} ", "bold"),
                (f"{word(f'incident_{one.state}', self.lang)}{muted} x{one.runs} ", "dim"),
                self._title(one),
            )
            entries.append(Entry(content, one))
        if not entries:
            entries.append(Entry(Content(word("no_incidents", self.lang))))
            self.query_one(Page).show(Content(""))
        incidents = self.query_one(IncidentList)
        incidents.fill(entries, place)
        titled(incidents, f"{word('screen_incidents', self.lang)} ({listing.total})", self._text)

    def _title(self, one: store.Incident) -> str:
        """The title in the reader's language where the rule is still there."""
        rule = self._rule(one)
        return visible((rule and title_in(rule, one.captures, self.lang)) or one.title)

    def _advised(self, one: store.Incident) -> tuple[str, ...]:
        """The fixes that the rule knows."""
        rule = self._rule(one)
        texts = (
            fill(fix.text, one.captures, self.lang)
            for cause in (rule.causes if rule is not None else ())
            for fix in cause.fixes
        )
        return tuple(dict.fromkeys(texts))

    def _rule(self, one: store.Incident) -> Rule | None:
        base = self.doctor.reading.base
        return base.rule(one.rule) if base is not None and one.rule and one.rule in base else None

    def _page(self, one: store.Incident) -> list[tuple[str, str]]:
        """An incident in full, as (text, style) pieces. Errors: StoreError."""
        lang = self.lang
        parts = [
            (f"{MARKS[one.severity]}{self._title(one)}\n", STYLES[one.severity]),
            (f"{one.rule or label('unexplained', lang)}  {one.fingerprint}\n\n", "dim"),
            (word("page_seen", lang, first=minute(one.first_seen_at), last=minute(one.last_seen_at),
                  runs=one.runs, n=one.occurrences) + "\n", ""),
        ]  # fmt: skip
        if one.fix:
            parts.append((word("fixed_by", lang, fix=one.fix) + "\n", "bold $text-success"))
        if one.mute_reason:
            until = minute(one.muted_until) if one.muted_until else word("for_good", lang)
            key = "page_muted" if one.muted else "page_was_muted"
            parts.append((word(key, lang, why=one.mute_reason, until=until) + "\n", ""))
        if one.tags:
            parts.append((" ".join(f"[{tag}]" for tag in one.tags) + "\n", "dim"))
        for note in store.notes(one.fingerprint):
            parts.append((f"\n{minute(note.written_at)}  ", "bold"))
            parts.append((note.text, ""))
        for run in store.occurrences(one.fingerprint, limit=MAX_RUNS):
            step = label("at_step", lang, n=run.step) if run.step is not None else ""
            verdict = label(f"verdict_{run.verdict}", lang)
            parts.append((f"\n\n{minute(run.recorded_at)}  {run.name}  {verdict}{step}", "bold"))
            parts.append((f"\n  {run.cause}", ""))
            for line in run.evidence[:2]:
                parts.append((f"\n  {label('line', lang, n=line.line)}  {line.text}", "dim"))
        # a store that was merged holds what somebody else's program has written
        return [(visible(text), style) for text, style in parts]

    def _show_page(self, one: store.Incident, parts: list[tuple[str, str]]) -> None:
        if self.is_mounted and self.query_one(IncidentList).chosen is one:
            page = self.query_one(Page)
            page.show(Content.assemble(*parts))
            titled(page, f"#{one.number}")
