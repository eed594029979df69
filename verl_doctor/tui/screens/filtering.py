"""Filters over the log: which lines are shown. They are found in a thread, from the top on."""

from __future__ import annotations

from textual.worker import get_current_worker

from ..logfile.find import Query, Selection
from ..logfile.lines import Lines
from ..widgets.logview import LogView
from ..words import word
from .ask import Ask
from .base import DoctorScreen


class Filtering(DoctorScreen):
    """A screen with a log."""

    def __init__(self) -> None:
        super().__init__()
        self.filters: list[Query] = []
        self.filtering = True
        """Whether the filters hold, or are switched off for now."""
        self._selections: dict[str, Selection] = {}

    @property
    def view(self) -> LogView:
        """The pane with the log."""
        return self.query_one(LogView)

    def tell_log(self) -> None:
        """Says in the pane's frame what it shows."""
        raise NotImplementedError

    def selection(self, lines: Lines) -> Selection | None:
        """The lines of a source that the filters leave; None where none hold."""
        return self._selections.get(lines.name) if self.filtering else None

    def action_filter(self) -> None:
        def asked(text: str | None) -> None:
            if text is None:
                return
            query = Query.parse(text)
            self.filters = [*self.filters, query] if query is not None else []
            self.filtering = True
            self._selections.clear()
            self.apply_filters()

        self.app.push_screen(Ask(word("ask_filter", self.lang)), asked)

    def action_toggle_filters(self) -> None:
        if not self.filters:
            self.doctor.say(word("no_filters", self.lang), "warning")
            return
        self.filtering = not self.filtering
        self.apply_filters()

    def apply_filters(self) -> None:
        """Shows what the filters leave of the file, and keeps the cursor on its line."""
        log = self.view
        self.workers.cancel_group(self, "filter")
        if not self.filters or not self.filtering:
            log.shown.spans = None
            log.refilter()
        else:
            lines = log.lines
            selection = self._selections.get(lines.name) or Selection(lines, self.filters)
            self._selections[lines.name] = selection
            self._extend(selection, log.cursor)
        self.tell_log()

    def filter_growth(self) -> None:
        """Filters what the file has got since; called now and then."""
        selection = self.selection(self.view.lines)
        waiting = any(worker.group == "filter" and worker.is_running for worker in self.workers)
        if selection is None or waiting:
            return
        if selection.done < selection.lines.size and not selection.spans.full:
            self._extend(selection, None)

    def _extend(self, selection: Selection, cursor: int | None) -> None:
        def work() -> None:
            worker = get_current_worker()
            try:
                selection.extend(lambda: worker.is_cancelled)
            except TimeoutError:
                what = ", ".join(query.typed for query in self.filters)
                self.doctor.say(word("slow_pattern", self.lang, what=what), "error")
            if not worker.is_cancelled:
                self.app.call_from_thread(self._filtered, selection, cursor)

        self.run_worker(work, thread=True, group="filter")

    def _filtered(self, selection: Selection, cursor: int | None) -> None:
        log = self.view
        if log.lines is not selection.lines or not self.filtering:
            return
        log.shown.spans = selection.spans
        if cursor is not None:
            log.refilter()
        else:
            log.paint()
        self.tell_log()
