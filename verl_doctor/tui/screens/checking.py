"""Runs the checks of this machine: says what would be run, asks, runs it, and hands on the results.

Checks only read. They run in children of their own, asked in a thread; Esc ends both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ...checks.names import SUBJECTS
from ...checks.types import Result
from ...diagnose.hints import asked
from ...model import Finding, Lang
from ..words import word
from .ask import Confirm, Question
from .base import DoctorScreen, titled


@dataclass(frozen=True)
class Checked:
    """What checks have found."""

    python: str
    """The interpreter that was asked."""
    results: tuple[Result, ...]
    wanted: tuple[str, ...]
    """The checks that tell the causes of a finding apart; none where all were wanted."""
    about: str
    """That finding's rule, or empty."""

    @property
    def silent(self) -> tuple[str, ...]:
        """The wanted checks that had nothing to look at."""
        said = {one.check for one in self.results}
        return tuple(name for name in self.wanted if name not in said)


class Checking(DoctorScreen):
    """A screen on which checks can be run."""

    def show_checked(self, checked: Checked) -> None:
        """Called with what the checks have found."""
        raise NotImplementedError

    def checks_of(self, finding: Finding) -> tuple[str, ...]:
        """The checks that tell a finding's causes apart, also those that have been run."""
        base, rule = self.doctor.reading.base, finding.rule
        return asked(base.rule(rule)) if base is not None and rule and rule in base else ()

    def examine(self, wanted: Sequence[str] = (), about: str = "") -> None:
        """Runs the checks of this machine if the user says yes.

        Takes the ones that would tell the causes of a finding apart, and its rule; else all count.
        """
        python = self.doctor.python

        def answered(yes: bool | None) -> None:
            if yes:
                run = Running(python, self.lang, self._of_the_run(python, wanted))
                self.app.push_screen(run, ran)

        def ran(results: tuple[Result, ...] | None) -> None:
            if results is not None:
                checked = Checked(python, results, tuple(wanted), about)
                self.doctor.keep_checked(checked)
                self.show_checked(checked)

        text = _told(wanted, about, python, self.lang)
        self.app.push_screen(Confirm(word("check_title", self.lang), text), answered)

    def _of_the_run(self, python: str, wanted: Sequence[str]) -> Callable[[], list[Result]]:
        """What runs those of the wanted checks that look at the settings of the log's run, its
        data and its model."""
        reading = self.doctor.reading
        of_the_run = [name for name in wanted if not name.startswith("env.")]

        def results() -> list[Result]:
            if not of_the_run:
                return []
            from ...checks.examine import Subject, ask_interpreter, examine, of_log

            machine = Subject(python, ask_interpreter(python))
            subject = of_log(machine, reading.versions.get("verl", ""), reading.settings)
            return [*examine(subject, of_the_run)]

        return results


def _told(wanted: Sequence[str], about: str, python: str, lang: Lang) -> Content:
    """What would be run, where, what it does there, and the keys that answer."""
    head = word("check_for", lang, what=about) if wanted else word("check_all", lang)
    parts: list[str | tuple[str, str]] = [(head, "bold")]
    for name in wanted or [one for one in SUBJECTS if one.startswith("env.")]:
        subject = SUBJECTS.get(name)
        parts += [(f"\n  {name}", "bold"), f"  {subject.get(lang)}" if subject else ""]
    if wanted:
        parts.append(f"\n{word('check_others', lang)}")
    parts.append(f"\n{word('check_where', lang, python=python)}")
    parts.append(f"\n{word('check_reads', lang)}")
    parts.append((f"\n{word('check_yes', lang)}", "bold"))
    return Content.assemble(*parts)


class Running(Question[tuple[Result, ...] | None]):
    """Runs the checks and shows how far they have come; None if they were stopped."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", show=False)]

    def __init__(self, python: str, lang: Lang, others: Callable[[], Sequence[Result]]) -> None:
        """Takes the interpreter whose environment is checked, and what runs the other checks."""
        super().__init__()
        self._python = python
        self._lang = lang
        self._others = others
        self._stop = threading.Event()

    def compose(self) -> ComposeResult:
        box = Vertical(Static())
        titled(box, word("check_running", self._lang, python=self._python))
        yield box

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._work, thread=True, group="checks", exit_on_error=False)

    def on_unmount(self) -> None:
        self._stop.set()  # the app was left

    def action_stop(self) -> None:
        self._stop.set()
        self._say(word("check_stopping", self._lang))

    def _work(self) -> None:
        from ...checks.environment import Stopped, environment

        results, told = None, ""
        try:
            results = tuple(
                environment(self._python, stopped=self._stop.is_set, tell=self._progress)
            )
            results = (*self._others(), *results)
        except Stopped:
            told = word("check_stopped", self._lang)
        except Exception as error:  # a fault of ours must not take what has been found away
            told = word("check_failed", self._lang, what=f"{type(error).__name__}: {error}")
        if self.is_mounted:
            self.app.call_from_thread(self._done, results, told)

    def _done(self, results: tuple[Result, ...] | None, told: str) -> None:
        if told:
            self.notify(told, severity="warning", markup=False)
        self.dismiss(results)

    def _progress(self, answers: int, questions: int) -> None:
        if self.is_mounted and not self._stop.is_set():
            text = word("check_answers", self._lang, n=answers, all=questions)
            self.app.call_from_thread(self._say, text)

    def _say(self, text: str) -> None:
        self.query_one(Static).update(Content(text))
