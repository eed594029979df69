"""The app: what is read, what the store knows, and what any screen may ask for."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from textual.app import App, SuspendNotSupported
from textual.command import CommandPalette
from textual.message import Message
from textual.screen import Screen

from .. import settings, store
from ..checks.evidence import observations
from ..errors import StoreError
from ..live import News
from ..logs.mask import mask
from ..model import Finding, Lang, Report
from ..render.labels import label
from ..render.markdown import render
from . import editor
from .clipboard import keep_copy
from .keys import bindings
from .palette import Keys
from .reading import Input, Reading, Snapshot, open_lines
from .screens.base import DoctorScreen
from .screens.checking import Checked
from .screens.help import Help
from .screens.incidents import Incidents
from .screens.metrics import Metrics
from .screens.rules import Rules
from .screens.triage import Triage
from .words import word

Tone = Literal["information", "warning", "error"]


class Told(Message):
    """Reading has something new."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot


class NewsTold(Message):
    """A run that goes on has news."""

    def __init__(self, news: News) -> None:
        super().__init__()
        self.news = news


class DoctorApp(App[None]):
    """Shows one run. Give it what `sources.expand` found, or an input that grows."""

    TITLE = "verl-doctor"
    BINDINGS = bindings("app")
    COMMANDS: ClassVar = {Keys}

    def __init__(
        self,
        wanted: Input,
        *,
        lang: Lang = "en",
        rule_dirs: Sequence[str] = (),
        record: bool = True,
        light: bool = False,
        python: str | None = None,
        said: settings.Settings | None = None,
    ) -> None:
        """`python`: the interpreter that checks look at, None: the active one; `said`: what the
        config files say."""
        super().__init__()
        self._python = python
        self._said = said or settings.Settings()
        self.checked: Checked | None = None
        """What checks have found on this machine, the last time they were run."""
        self.theme = "textual-light" if light else "textual-dark"
        self.lang = lang
        self.input = wanted
        self.lines = open_lines(wanted)
        """The lines of every source of the run."""
        self.reading = Reading(
            wanted, self.lines, lang, rule_dirs,
            lambda snapshot: self._post(Told(snapshot)),
            lambda news: self._post(NewsTold(news)),
        )  # fmt: skip
        self.recorded = False
        """The run has been read to its end, and the store has answered."""
        self.failure = ""
        """Why the app ended by itself: a rule folder that cannot be read."""
        self._record = record
        self._snapshot = Snapshot()
        self._shown: frozenset[str] = frozenset()
        """Fingerprints of the findings on the screen."""
        self._asking = False
        self._again = False
        """The store has to be asked once more when it has answered."""
        self._triage = Triage()

    def get_default_screen(self) -> Screen[None]:
        return self._triage

    def on_ready(self) -> None:
        for problem in self._said.problems:
            self.say(problem, "error")
        self.call_after_refresh(self.reading.start)  # the log is on the screen first

    def on_unmount(self) -> None:
        self.reading.stop()

    def _post(self, message: Message) -> None:
        with contextlib.suppress(RuntimeError):  # the screen has been left meanwhile
            self.post_message(message)

    # --- what reading tells -----------------------------------------------------------------

    def on_told(self, event: Told) -> None:
        snapshot = event.snapshot
        if snapshot.error:
            self.failure = snapshot.error
            self.exit(return_code=2)
            return
        if snapshot.trouble:
            self.say(snapshot.trouble, "error")
        self._snapshot = snapshot
        report = snapshot.report
        prints = frozenset(one.fingerprint for one in report.findings) if report else frozenset()
        if snapshot.finished or prints != self._shown:
            # what is new is shown at once; else the store's answer brings the rest
            self._shown = prints
            self._triage.show_snapshot(snapshot)
        self.ask_history()

    def on_news_told(self, event: NewsTold) -> None:
        news = event.news
        finding = news.finding
        values = {"n": f"{news.seconds:.0f}", "usual": f"{news.usual:.0f}", "step": news.step}
        text = label(f"news_{news.kind}", self.lang, **values)
        if finding is not None:
            text += f": {finding.rule or label('unexplained', self.lang)} {finding.title}"
        self.say(text, "information" if news.kind in ("cleared", "resumed") else "warning")

    def ask_history(self) -> None:
        """Asks the store, in a thread, what it knows of this run's findings; a run that has been
        read to its end is recorded first, as the command line does."""
        snapshot = self._snapshot
        report = snapshot.report
        if report is None:
            return
        if self._asking:
            self._again = True
            return
        self._asking = True

        def work() -> None:
            known = report
            try:
                if snapshot.finished and not self.recorded:
                    self._keep(report)
            except StoreError as error:
                self.say(word("recording_failed", self.lang, why=error), "error")
            try:
                known = store.recall(report)
            except StoreError as error:
                self.say(str(error), "error")
            known = settings.silence(known, self._said.mutes, time.time())
            self.call_from_thread(self._remember, snapshot, known)

        self.run_worker(work, thread=True, group="store", exit_on_error=False)

    def _remember(self, snapshot: Snapshot, known: Report) -> None:
        self.recorded = self.recorded or snapshot.finished
        self._asking = False
        if self._snapshot is snapshot:
            self._triage.show_snapshot(replace(snapshot, report=known))
        if self._again:
            self._again = False
            self.ask_history()

    def _keep(self, report: Report) -> None:
        if self._record and (report.findings or report.verdict == "healthy"):
            store.record(report)

    def keep_rest(self) -> None:
        """Records what was known of a run that was left while it went on. Errors: StoreError."""
        if self._snapshot.report is not None and not self._snapshot.finished:
            self._keep(self._snapshot.report)

    # --- what screens ask for ---------------------------------------------------------------

    def say(self, text: str, tone: Tone = "information") -> None:
        """Tells something for a moment; from any thread. The text is never markup."""
        self.notify(text, severity=tone, markup=False, timeout=6 if tone == "error" else 4)

    def copy(self, text: str) -> None:
        """Copies text, without its secrets, to the clipboard and to a file."""
        text = mask(text).strip("\n")
        if not text:
            self.say(word("nothing_to_copy", self.lang), "warning")
            return
        self.copy_to_clipboard(text)
        path = keep_copy(text)
        key = "copied" if path is not None else "copied_only"
        self.say(word(key, self.lang, n=len(text), path=path))

    def copy_finding(self, report: Report | None, finding: Finding | None) -> None:
        """Copies a finding as a Markdown page."""
        if report is None or finding is None:
            self.say(word("no_finding", self.lang), "warning")
            return
        alone = report._replace(findings=(finding,), unexplained=())
        self.copy(render(alone, lang=self.lang))

    def edit(self, path: str, line: int | None) -> None:
        """Opens a source of the run in the user's editor."""
        if not os.path.isfile(path):
            self.say(word("no_file", self.lang, name=path), "warning")
            return
        command = editor.command(path, line)
        if command is None:
            self.say(word("no_editor", self.lang), "warning")
            return
        try:
            with self.suspend():
                subprocess.run(command, check=False)
        except SuspendNotSupported:
            self.say(word("no_suspend", self.lang), "warning")
        except OSError as error:
            why = error.strerror or error
            self.say(word("editor_failed", self.lang, editor=command[0], why=why), "error")

    def goto_run_line(self, number: int) -> None:
        """Shows a line of the run on the first screen."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self._triage.goto_run_line(number)

    @property
    def python(self) -> str:
        """The interpreter that checks look at."""
        if self._python is None:
            from ..checks.environment import active_python  # slow to import, and seldom needed

            self._python = active_python()
        return self._python

    def keep_checked(self, checked: Checked) -> None:
        """Keeps what checks have found, and lets it move the causes."""
        self.checked = checked
        self.recorded = False  # the likeliest cause on record may be another one now
        found = observations(checked.results, self.lang)
        self.run_worker(
            lambda: self.reading.observe(found), thread=True, group="checks", exit_on_error=False
        )

    def open_incidents(self) -> None:
        finding = self._triage.finding
        self.push_screen(Incidents(finding.fingerprint if finding is not None else ""))

    def open_rules(self, rule: str | None) -> None:
        if self.reading.base is None:
            self.say(word("loading", self.lang))
        else:
            self.push_screen(Rules(self.reading.base, rule))

    def open_metrics(self, snapshot: Snapshot) -> None:
        self.push_screen(Metrics(snapshot))

    # --- keys -------------------------------------------------------------------------------

    def action_help(self) -> None:
        if isinstance(self.screen, DoctorScreen):
            self.push_screen(Help(self.screen.panes(), self.lang))

    def action_theme(self) -> None:
        self.theme = "textual-light" if self.theme == "textual-dark" else "textual-dark"

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):  # type: ignore[arg-type]
            self.push_screen(CommandPalette(placeholder=word("commands", self.lang)))
