"""The main screen: findings, the chosen one in full, the log at its evidence, workers over time."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.worker import get_current_worker

from ...model import Finding
from ...render.labels import pasted
from ..keys import bindings
from ..presence import Signs, presences, signs_of
from ..reading import Snapshot
from ..widgets.detail import Detail
from ..widgets.findings import FindingList
from ..widgets.header import Header
from ..widgets.logview import LogView
from ..widgets.strip import Strip
from ..words import word
from .base import Hints, titled
from .checking import Checked, Checking
from .checks import Checks
from .keeping import Keeping, Subject
from .linking import Linking

TICK_S = 0.25
SIGNS_EVERY_S = 10.0
"""Seconds between looks for the last sign of each worker while a log grows."""


class Triage(Linking, Keeping, Checking):
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
        self._signs: dict[str, Signs] = {}
        self._since_signs = 0.0

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
        if snapshot.report is None:
            return
        self.show_findings(snapshot.report)
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
        if self.snapshot.finished:
            self.doctor.say(word("reading_done", self.lang))
        else:
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

    def action_check(self) -> None:
        finding = self.finding
        if finding is None:
            self.doctor.say(word("no_finding", self.lang), "warning")
        elif asked := self.checks_of(finding):
            self.examine(asked, finding.rule or "")
        else:
            self.doctor.say(word("check_none", self.lang), "warning")

    def action_check_results(self) -> None:
        if self.doctor.checked is not None:
            self.show_checked(self.doctor.checked)
        else:
            self.examine()

    def show_checked(self, checked: Checked) -> None:
        self.app.push_screen(Checks(checked))

    def action_metrics(self) -> None:
        self.doctor.open_metrics(self.snapshot)
