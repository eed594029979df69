"""Finding places in the log: errors, warnings, hits, marks, lines by number, times.

Searches run in a thread that Esc stops: a log may have gigabytes without a hit.
"""

from __future__ import annotations

from functools import partial

from textual.worker import get_current_worker

from ..logfile.clock import at_time, last_time
from ..logfile.find import Pattern, Query, find
from ..logfile.fold import traceback_at
from ..logfile.levels import ERRORS, WARNINGS
from ..logfile.lines import Lines
from ..logfile.text import peeled
from ..words import word
from .ask import Ask
from .filtering import Filtering


class Hunting(Filtering):
    """A screen with a log in which places can be found."""

    def __init__(self) -> None:
        super().__init__()
        self.searching = ""
        """What is being searched for just now."""

    # --- errors, warnings, hits -------------------------------------------------------------

    def action_next_error(self) -> None:
        self._hunt(ERRORS, word("key_next_error", self.lang), True)

    def action_previous_error(self) -> None:
        self._hunt(ERRORS, word("key_previous_error", self.lang), False)

    def action_next_warning(self) -> None:
        self._hunt(WARNINGS, word("key_next_warning", self.lang), True)

    def action_previous_warning(self) -> None:
        self._hunt(WARNINGS, word("key_previous_warning", self.lang), False)

    def action_next_hit(self) -> None:
        self._hit(True)

    def action_previous_hit(self) -> None:
        self._hit(False)

    def action_search(self) -> None:
        def asked(text: str | None) -> None:
            query = Query.parse(text) if text else None
            if query is not None:
                self.view.searched = query
                self.view.paint()
                self._hit(True)

        before = self.view.searched.typed if self.view.searched is not None else ""
        self.app.push_screen(Ask(word("ask_search", self.lang), before), asked)

    def _hit(self, forward: bool) -> None:
        query = self.view.searched
        if query is None:
            self.doctor.say(word("no_query", self.lang), "warning")
        else:
            self._hunt(query, query.typed, forward)

    def _hunt(self, pattern: Pattern, what: str, forward: bool) -> None:
        self.searching = what
        self.view.following = False
        self.tell_log()
        work = partial(self._search, pattern, what, forward, self.view.lines, self.view.cursor)
        self.run_worker(work, thread=True, exclusive=True, group="hunt")

    def _search(
        self, pattern: Pattern, what: str, forward: bool, lines: Lines, cursor: int
    ) -> None:
        worker, every = get_current_worker(), self.doctor.lines
        here = every.index(lines)
        order = every[here:] if forward else every[here::-1]
        told = word("not_found", self.lang, what=what)
        for source in order:
            if source is lines:
                row = lines.row(cursor)
                start = (row.end if row is not None else cursor) if forward else cursor
            else:
                start = 0 if forward else source.size
            try:
                place = self._shown_hit(source, pattern, start, forward)
            except TimeoutError:
                told = word("slow_pattern", self.lang, what=what)
                break
            if source is not lines:
                source.tape.release()
            if place is not None or worker.is_cancelled:
                break
        else:
            place = None
        if worker.is_cancelled:
            return
        self.app.call_from_thread(self._found, source, place, told)

    def _shown_hit(self, lines: Lines, pattern: Pattern, start: int, forward: bool) -> int | None:
        """The next hit that filters leave."""
        worker = get_current_worker()
        selection = self.selection(lines)
        while True:
            place = find(lines, pattern, start, forward, lambda: worker.is_cancelled)
            if place is None or selection is None or selection.spans.from_(place) == place:
                return place
            row = lines.row(place)
            start = row.end if forward and row is not None else place

    def _found(self, lines: Lines, place: int | None, told: str) -> None:
        self.searching = ""
        if place is None:
            self.doctor.say(told, "warning")
        else:
            if lines is not self.view.lines:
                self.show_file(lines)
                self.doctor.say(word("wrapped", self.lang, name=lines.name))
            self.view.goto(place)
        self.tell_log()

    def stop_hunting(self) -> bool:
        """Stops a search or a filter that is still running; whether there was one."""
        running = self.searching != ""
        if running:
            self.workers.cancel_group(self, "hunt")
            self.searching = ""
            self.doctor.say(word("search_stopped", self.lang))
            self.tell_log()
        return running

    # --- places -----------------------------------------------------------------------------

    def action_log_start(self) -> None:
        self.view.action_first()

    def action_jump(self) -> None:
        def asked(text: str | None) -> None:
            if not text:
                return
            text = text.strip().replace(",", "")
            try:
                number = int(text)
            except ValueError:
                self.doctor.say(word("bad_number", self.lang, what=text), "warning")
                return
            if text[0] in "+-":
                number = max(1, (self.view.number() or 1) + number)
            self.goto_line(number)

        self.app.push_screen(Ask(word("ask_line", self.lang)), asked)

    def goto_line(self, number: int) -> bool:
        """Puts the cursor on a line of the file; whether it is there."""
        start = self.view.lines.start_of_number(number)
        if start is None:
            self.doctor.say(word("no_such_line", self.lang, n=number), "warning")
            return False
        self.view.goto(start)
        return True

    def action_last_moment(self, minutes: int) -> None:
        """Goes to the place so many minutes before the end of the log."""
        lines = self.view.lines
        end = last_time(lines)
        if end is None:
            self.doctor.say(word("no_times", self.lang), "warning")
        else:
            self.view.goto(at_time(lines, end - 60 * minutes))

    def action_next_mark(self) -> None:
        self._mark(True)

    def action_previous_mark(self) -> None:
        self._mark(False)

    def _mark(self, forward: bool) -> None:
        log = self.view
        told = (log.lines.start_of_number(number) for number in log.evidence)
        places = sorted(log.bookmarks | {place for place in told if place is not None})
        ahead = [place for place in places if place > log.cursor]
        behind = [place for place in places if place < log.cursor]
        if not ahead and not behind:
            self.doctor.say(word("no_marks", self.lang), "warning")
        elif forward:
            log.goto(ahead[0] if ahead else places[0])
        else:
            log.goto(behind[-1] if behind else places[-1])

    def action_next_file(self) -> None:
        self._file(1)

    def action_previous_file(self) -> None:
        self._file(-1)

    def _file(self, step: int) -> None:
        every = self.doctor.lines
        if len(every) > 1:
            self.show_file(every[(every.index(self.view.lines) + step) % len(every)])
        else:
            self.doctor.say(word("one_file", self.lang))

    def show_file(self, lines: Lines) -> None:
        """Shows another file of the run."""
        if lines is not self.view.lines:
            self.view.show(lines)
            self.apply_filters()
            self.tell_log()

    # --- how it is shown --------------------------------------------------------------------

    def action_toggle_fold(self) -> None:
        log = self.view
        folds = log.shown.folds
        if log.cursor in folds:
            del folds[log.cursor]
            log.paint()
            return
        found = traceback_at(log.lines, log.cursor)
        if found is None:
            self.doctor.say(word("no_traceback", self.lang), "warning")
            return
        head, end = found
        folds[head] = end
        log.goto(head)

    def action_toggle_gaps(self) -> None:
        log = self.view
        row = log.row()
        if not log.gaps and row is not None and peeled(row).time is None:
            self.doctor.say(word("no_times", self.lang))
        log.gaps = not log.gaps
        log.paint()

    def action_toggle_wrap(self) -> None:
        self.view.wrap = not self.view.wrap
        self.view.goto(self.view.cursor)
        self.tell_log()

    def action_toggle_follow(self) -> None:
        self.view.following = not self.view.following
        if self.view.following:
            self.view.action_last()
        self.tell_log()
