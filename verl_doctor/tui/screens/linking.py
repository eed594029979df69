"""Findings, lines and causes lead to each other.

Choosing a finding moves the log to its decisive line, Enter on a line of evidence chooses its
finding, Enter on a cause or on evidence goes to the line.
"""

from __future__ import annotations

from textual.widgets import OptionList

from ...model import Finding, Report
from ...render.text import short_names
from ...sources.types import shown
from ..presence import Presence
from ..reading import Snapshot
from ..widgets.detail import Detail, Item, Shown
from ..widgets.findings import FindingList, same_fault
from ..widgets.logview import LogView
from ..widgets.strip import Strip
from ..words import word
from .base import titled
from .hunting import Hunting


class Linking(Hunting):
    """A screen with findings, one of them in full, and the log."""

    def __init__(self) -> None:
        super().__init__()
        self.snapshot = Snapshot()
        self.finding: Finding | None = None
        """The chosen finding."""
        self._chose = False
        """The user has chosen a finding: a later report leaves it chosen."""
        self._put: tuple[str, int] | None = None
        """Where a report has put the cursor of the log: it moves it again only from there."""

    # --- the chosen finding -----------------------------------------------------------------

    def show_findings(self, report: Report) -> None:
        """Shows the findings of a report; what the user has chosen stays chosen."""
        findings = self.query_one(FindingList)
        keep = self.finding if self._chose else None
        findings.show(report.findings, self.lang, finished=self.snapshot.finished, keep=keep)
        self._choose(findings.chosen)

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
            if item is not None and item.place is None:
                self.doctor.say(word("no_place", self.lang))
            elif item is not None and item.place is not None and self._goto(*item.place):
                self.view.focus()
        elif isinstance(chosen, Strip):
            one: Presence | None = chosen.chosen
            place = (one.fault or one.last)[0] if one is not None else 0
            if place and self._goto(*self.snapshot.place(place)):
                self.view.focus()

    def on_log_view_opened(self, event: LogView.Opened) -> None:
        finding = self._finding_at(event.number)
        if finding is None or event.number is None:
            self.doctor.say(word("no_evidence", self.lang))
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
        titled(log, word("pane_log", lang, what=" · ".join(notes)))
