"""The main screen: findings, the chosen one in full, the log at its evidence, workers over time.

Findings, lines and causes lead to each other: choosing a finding moves the log to its decisive
line, Enter on a line of evidence chooses its finding, Enter on a cause or on evidence goes to the
line.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import OptionList
from textual.worker import get_current_worker

from ...model import Finding
from ...render.labels import pasted
from ...render.text import short_names
from ...sources.types import shown
from ..keys import bindings
from ..presence import Presence, Signs, presences, signs_of
from ..reading import Snapshot
from ..widgets.detail import Detail, Item, Shown
from ..widgets.findings import FindingList, same_fault
from ..widgets.header import Header
from ..widgets.logview import LogView
from ..widgets.strip import Strip
from ..words import word
from .base import Hints, titled
from .hunting import Hunting
from .keeping import Keeping, Subject

TICK_S = 0.25
SIGNS_EVERY_S = 10.0
"""Seconds between looks for the last sign of each worker while a log grows."""


class Triage(Hunting, Keeping):
    """Where a user starts."""

    PANE = "triage"
    BINDINGS = bindings("triage")
    DEFAULT_CSS = """
    Triage {
        #top { height: 45%; min-height: 6; }
        FindingList { width: 36%; min-width: 24; }
        Detail { width: 1fr; }
        Strip { height: 18%; min-height: 4; max-height: 12; }
        &.zoomed {
            .pane { display: none; }
            #top { height: 0; min-height: 0; }
            #top.big { height: 1fr; }
            .pane.big { display: block; width: 1fr; height: 1fr; max-height: 100%; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.snapshot = Snapshot()
        self.finding: Finding | None = None
        self._signs: dict[str, Signs] = {}
        self._since_signs = 0.0
        self._chose = False
        """The user has chosen a finding: a later report leaves it chosen."""
        self._put: tuple[str, int] | None = None
        """Where a report has put the cursor of the log: it moves it again only from there."""

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="top"):
            yield FindingList(id="findings").add_class("pane")
            yield Detail(id="detail").add_class("pane")
        yield LogView(self.doctor.lines[0], self.lang).add_class("pane")
        yield Strip(self.lang, id="strip").add_class("pane")
        yield Hints()

    def on_mount(self) -> None:
        super().on_mount()
        for widget, key in ((FindingList, "findings"), (Detail, "detail"), (Strip, "strip")):
            titled(self.query_one(widget), word(f"pane_{key}", self.lang))
        self.query_one(FindingList).focus()
        self.tell_log()
        self.set_interval(TICK_S, self._tick)

    def on_resize(self, _: events.Resize) -> None:
        self.call_after_refresh(self._tell_reading)

    def panes(self) -> tuple[str, ...]:
        focused = self.focused
        if isinstance(focused, LogView):
            return ("log", self.PANE, "app")
        name = focused.id if focused is not None else None
        return (name or "findings", self.PANE, "app")

    # --- what reading says ------------------------------------------------------------------

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows what is known now."""
        ended = snapshot.finished and not self.snapshot.finished
        self.snapshot = snapshot
        report = snapshot.report
        if report is None:
            return
        findings = self.query_one(FindingList)
        keep = self.finding if self._chose else None
        findings.show(report.findings, self.lang, finished=snapshot.finished, keep=keep)
        self._choose(findings.chosen)
        self._draw_strip()
        if ended or (self._since_signs >= SIGNS_EVERY_S and not snapshot.finished):
            self._since_signs = 0.0
            self._look_for_signs()
        self._tell_reading()

    def _tick(self) -> None:
        self._since_signs += TICK_S
        self.view.grown()
        self.filter_growth()
        self._tell_reading()

    def _tell_reading(self) -> None:
        snapshot = self.snapshot
        told = self.doctor.reading.told(snapshot, self.lang)
        header = self.query_one(Header)
        header.show(snapshot.report, told, self.lang, finished=snapshot.finished)

    def _look_for_signs(self) -> None:
        offsets = dict(self.snapshot.offsets)

        def work() -> None:
            worker = get_current_worker()
            found = signs_of(self.doctor.lines, offsets, lambda: worker.is_cancelled)
            if not worker.is_cancelled:
                self.app.call_from_thread(self._signed, found)

        self.run_worker(work, thread=True, exclusive=True, group="signs")

    def _signed(self, found: dict[str, Signs]) -> None:
        self._signs = found
        self._draw_strip()

    def _draw_strip(self) -> None:
        snapshot = self.snapshot
        findings: Sequence[Finding] = snapshot.report.findings if snapshot.report else ()
        some = presences(snapshot.lives, findings, dict(snapshot.offsets), self._signs)
        self.query_one(Strip).show(some, snapshot.lines)

    # --- the chosen finding -----------------------------------------------------------------

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if not isinstance(event.option_list, FindingList):
            return
        finding = event.option_list.chosen
        if finding is not None and finding is not self.finding:
            self._chose = True
            self._choose(finding)

    def _choose(self, finding: Finding | None) -> None:
        """Shows a finding; the log goes to its decisive line where it is another one than before,
        unless the user has gone elsewhere meanwhile."""
        before, self.finding = self.finding, finding
        same = same_fault(finding, before)
        self._show_detail(same=same)
        self._mark_evidence()
        view = self.view
        left = (view.lines.name, view.cursor) == (self._put or (view.lines.name, 0))
        moves = not same and (self._chose or (left and not view.following))
        if moves and finding is not None and finding.evidence:
            self._goto(finding.evidence[0].path, finding.evidence[0].line)
            self._put = view.lines.name, view.cursor
        self.tell_log()

    def _show_detail(self, *, same: bool) -> None:
        report = self.snapshot.report
        if report is None:
            return
        paths = [source.path for source in report.sources]
        finding = self.finding
        full = Shown(
            report,
            finding,
            self.doctor.recorded,
            self.lang,
            short_names(paths) if len(paths) > 1 else {},
        )
        self.query_one(Detail).show(full, same=same)

    def _mark_evidence(self) -> None:
        marked: dict[int, bool] = {}
        report = self.snapshot.report
        for finding in report.findings if report is not None else ():
            for one in finding.evidence:
                if one.path == self.view.lines.name:
                    marked[one.line] = marked.get(one.line, False) or finding is self.finding
        self.view.evidence = marked
        self.view.paint()

    def _finding_at(self, number: int | None) -> Finding | None:
        """The finding that a line of the shown file is evidence of; the chosen one first."""
        place = self.view.lines.name, number
        report = self.snapshot.report
        if number is None or report is None:
            return None
        order = sorted(report.findings, key=lambda one: one is not self.finding)
        return next(
            (one for one in order if any((e.path, e.line) == place for e in one.evidence)), None
        )

    # --- links ------------------------------------------------------------------------------

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option_list
        if isinstance(chosen, FindingList):
            self.query_one(Detail).focus()
        elif isinstance(chosen, Detail):
            item: Item | None = chosen.chosen
            if item is not None and item.place is not None and self._goto(*item.place):
                self.view.focus()
        elif isinstance(chosen, Strip):
            one: Presence | None = chosen.chosen
            place = (one.fault or one.last)[0] if one is not None else 0
            if place and self._goto(*self.snapshot.place(place)):
                self.view.focus()

    def on_log_view_opened(self, event: LogView.Opened) -> None:
        finding = self._finding_at(event.number)
        if finding is None or event.number is None:
            return
        findings, detail = self.query_one(FindingList), self.query_one(Detail)
        self._chose, self.finding = True, finding  # so that the highlight does not move the log
        findings.choose(next(i for i, one in enumerate(findings.values) if one is finding))
        self._show_detail(same=True)
        self._mark_evidence()
        detail.choose_line((self.view.lines.name, event.number))
        detail.focus()

    def on_log_view_moved(self) -> None:
        self.tell_log()

    def _goto(self, path: str, line: int) -> bool:
        """Shows a line of a source; whether it is there."""
        lines = next((one for one in self.doctor.lines if one.name == path), None)
        if lines is None:
            return False
        if lines is not self.view.lines:
            self.show_file(lines)
            self._mark_evidence()
        return self.goto_line(line)

    def goto_run_line(self, number: int) -> None:
        """Shows a line by its number in the whole run; the metrics screen asks for it."""
        if self._goto(*self.snapshot.place(number)):
            self.view.focus()

    def tell_log(self) -> None:
        log, lang, every = self.view, self.lang, self.doctor.lines
        name = shown(log.lines.name)
        if len(every) > 1:
            name = word("file_of", lang, name=name, n=every.index(log.lines) + 1, all=len(every))
        notes = []
        finding = self._finding_at(log.number())
        if self.searching:
            notes.append(word("searching", lang, what=self.searching))
        elif finding is not None and finding is not self.finding:
            notes.append(word("line_of_finding", lang, rule=finding.rule or finding.title[:30]))
        if self.filters:
            what = ", ".join(query.typed for query in self.filters)
            notes.append(word("filters_on" if self.filtering else "filters_off", lang, what=what))
        notes += [
            word(key, lang)
            for on, key in ((log.following, "follow_on"), (log.wrap, "wrap_on"))
            if on
        ]
        notes.append(name)
        titled(log, f"{word('pane_log', lang)}: {' · '.join(notes)}")

    # --- keys -------------------------------------------------------------------------------

    def subject(self) -> Subject | None:
        finding = self.finding
        if finding is None:
            return None
        fixes = [fix.text + "".join(f"  {text}" for _, text in pasted(fix)[:1])
                 for fix in finding.fixes]  # fmt: skip
        return Subject(finding.fingerprint, finding.rule or finding.title[:40], tuple(fixes))

    def kept(self) -> None:
        self.doctor.ask_history()

    def action_back(self) -> None:
        if self.stop_hunting():
            return
        if self.has_class("zoomed"):
            self.action_zoom()
        else:
            self.query_one(FindingList).focus()

    def action_zoom(self) -> None:
        zoomed = self.toggle_class("zoomed").has_class("zoomed")
        for widget in self.query(".pane, #top"):
            widget.set_class(zoomed and self.focused in (widget, *widget.children), "big")

    def action_stop_reading(self) -> None:
        if not self.snapshot.finished:
            self.doctor.reading.stop()
            self.doctor.say(word("reading_stopped", self.lang))

    def action_copy(self) -> None:
        chosen = self.focused
        if isinstance(chosen, FindingList) and self.finding is not None:
            self.doctor.copy(self.finding.title)
        elif isinstance(chosen, Detail) and chosen.chosen is not None:
            self.doctor.copy(chosen.chosen.copy)

    def on_log_view_copied(self, event: LogView.Copied) -> None:
        self.doctor.copy(event.text)

    def action_copy_finding(self) -> None:
        self.doctor.copy_finding(self.snapshot.report, self.finding)

    def action_editor(self) -> None:
        self.doctor.edit(self.view.lines.name, self.view.number())

    def action_incidents(self) -> None:
        self.doctor.open_incidents()

    def action_rules(self) -> None:
        self.doctor.open_rules(self.finding.rule if self.finding is not None else None)

    def action_metrics(self) -> None:
        self.doctor.open_metrics(self.snapshot)
