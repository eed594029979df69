"""`verl-doctor run -- CMD…`: a run under the doctor."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ..logs.text import visible
from ..model import Lang
from ..render.labels import duration, label
from .options import color_option, lang_option, rules_option
from .watching import live_options

if TYPE_CHECKING:
    from ..live import News
    from ..model import Event, Report
    from ..notify import Notifier
    from ..pipeline import Session
    from ..run.copying import Copy
    from ..run.examination import Examination
    from ..run.supervise import Outcome, Supervisor

MARK = "verl-doctor: "
"""Begins each line of the doctor's own between the run's."""
UNNAMED = "<output>"
"""Name of a log that is not kept."""


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--log", type=click.Path(dir_okay=False), help="Keep the output in this file.")
@click.option("--no-stacks", is_flag=True, help="Do not look at the processes of a hang.")
@click.option("--no-record", is_flag=True, help="Do not write to the incident store.")
@live_options
@rules_option
@lang_option
@color_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD…")
def run(
    log: str | None,
    hang_after: float,
    no_stacks: bool,
    no_record: bool,
    notify_urls: tuple[str, ...],
    notify_commands: tuple[str, ...],
    rule_dirs: tuple[str, ...],
    lang: Lang,
    color: str,
    command: tuple[str, ...],
) -> int:
    """Start a run under the doctor.

    CMD's output passes through untouched, on the same streams, in a terminal if there is one;
    signals are forwarded. When it has ended the diagnosis is printed on standard error; when it
    hangs, the stacks of its processes are (with py-spy, extra `stacks`). It is never killed and
    never restarted.

    Exit status: that of CMD; 128 + N where signal N ended it; 126 or 127 where it can't be
    started; 2 for a usage error.
    """
    if os.name != "posix":
        raise click.UsageError("`run` needs Linux or macOS; use verl-doctor -f LOG instead")
    from ..notify import Notifier, channels
    from ..run.child import NOT_EXECUTABLE, NOT_FOUND
    from ..run.copying import Copy
    from ..run.examination import Examination
    from ..run.supervise import Supervisor

    supervisor = Supervisor()
    ways = channels(notify_urls, notify_commands)
    attendant = _Attendant(supervisor, lang, log or UNNAMED, look=not no_stacks)
    attendant.notifier = Notifier(ways, attendant.tell)
    with _copy_file(log, attendant) as (descriptor, path):
        copy = Copy(descriptor)
        examination = Examination(
            copy,
            path,
            attendant.name,
            session=lambda: _session(rule_dirs, lang),
            tell=attendant.news,
            look=attendant.look,
            least_s=hang_after,
        )
        try:
            supervisor.start(command, copy)
        except OSError as error:
            attendant.tell(f"cannot start {command[0]}: {error.strerror}")
            return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        examination.start()
        outcome = supervisor.finish(copy, examination)
        with contextlib.suppress(KeyboardInterrupt):  # the run's own status stands
            attendant.farewell(outcome, copy, examination, color)
            if log:
                attendant.tell(label("run_log", lang, path=log))
            if not no_record and examination.report is not None:
                from .memory import remember

                remember(examination.report)
    return outcome.ended.status


def _session(rule_dirs: tuple[str, ...], lang: Lang) -> Session:
    from ..knowledge.load import load
    from ..pipeline import Session

    return Session(*load(rule_dirs), lang)


@contextlib.contextmanager
def _copy_file(log: str | None, attendant: _Attendant) -> Iterator[tuple[int, str]]:
    """(descriptor, path) of the file that the output is copied to: the log, or one that is gone
    afterwards. A log of that name is moved aside: it may be all that is left of an earlier run.
    """
    if log is None:
        descriptor, path = tempfile.mkstemp(prefix="verl-doctor-", suffix=".log")
    else:
        descriptor, path = _kept(log, attendant), log
    try:
        yield descriptor, path
    finally:
        os.close(descriptor)
        if log is None:
            os.unlink(path)


def _kept(log: str, attendant: _Attendant) -> int:
    """A descriptor of the new log. Errors: click.UsageError if it can't be one."""
    try:
        if os.path.isfile(log):
            numbered = (f"{log}.{i}" for i in itertools.count(1))
            moved = next(name for name in numbered if not os.path.exists(name))
            os.rename(log, moved)
            attendant.tell(label("run_log_moved", attendant.lang, path=log, moved=moved))
        elif os.path.lexists(log):
            raise click.UsageError(f"--log {log} is no regular file: the doctor reads it back")
        # EXCL: what appears there between the look and now, a link above all, is not written into
        return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
    except OSError as error:
        raise click.UsageError(f"--log {log}: {error.strerror}") from error


class _Attendant:
    """Speaks for the doctor beside a run: on standard error, and to those who want messages."""

    notifier: Notifier

    def __init__(self, supervisor: Supervisor, lang: Lang, name: str, *, look: bool) -> None:
        self.lang = lang
        self.name = name
        self._supervisor = supervisor
        self._look = look

    def tell(self, text: str) -> None:
        """Says it on standard error, on lines of their own."""
        from ..render.news import fitted

        said = "\n".join(f"{MARK}{line}" for line in visible(text).split("\n"))
        self._supervisor.say(fitted(said, sys.stderr, len(MARK)))

    def news(self, news: News) -> None:
        """Tells waits at once; findings wait for the end, but are sent as messages."""
        from ..render.news import line, wait

        if news.kind in ("stopped", "no_step", "resumed"):
            self.tell(wait(news, self.lang))
        self.notifier.news(news, line(news, self.lang))

    def look(self, news: News, last_line: int) -> Event | None:
        """Looks at the processes of a run that stands still; returns the proof of a hang."""
        if not self._look:
            return None
        from ..render.stacks import stacks
        from ..run.hang import hang_event, look_twice

        held = look_twice(self._supervisor.pid, news.usual)
        self.tell(stacks(held, self.lang))
        return hang_event(held, news, self.name, last_line)

    def farewell(self, outcome: Outcome, copy: Copy, examination: Examination, color: str) -> None:
        """The diagnosis, how the run ended, and what did not go as it should."""
        from ..notify import Message
        from ..render.text import render

        self._supervisor.say("")  # apart from the run's own output
        report: Report | None = examination.report
        if report is not None:
            render(report, lang=self.lang, color=color, stream=sys.stderr)
        ended, took = outcome.ended, duration(outcome.seconds)
        key = "run_signal" if ended.signal else "run_ended"
        words = label(key, self.lang, status=ended.status, signal=ended.signal, n=took)
        self.tell(words)
        for key, why in (
            ("run_137", ended.status == 128 + signal.SIGKILL),
            ("run_leftover", outcome.leftover),
            ("run_no_copy", copy.failure),
            ("run_doctor_failed", examination.failure),
            ("run_behind", outcome.behind),
        ):
            if why:
                self.tell(label(key, self.lang, why=visible(str(why), 300), status=ended.status))
        root = report.findings[0].title if report and report.findings else ""
        self.notifier.send(Message(f"verl-doctor: {words}", root, "ended"))
        self.notifier.close()
