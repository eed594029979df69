"""A log that still grows, told as it comes: the live part of `diagnose`, and its options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ..detect.cadence import LEAST_S
from ..model import Lang, Report

if TYPE_CHECKING:
    from ..knowledge.base import RuleBase
    from ..notify import Notifier
    from ..scan.database import Scanner


def live_options(command: Any) -> Any:
    """`--hang-after SECONDS`, `--notify URL` and `--notify-command CMD`: for a run that goes on."""
    command = click.option(
        "--notify-command",
        "notify_commands",
        multiple=True,
        metavar="CMD",
        help="Live: run CMD for each problem (no shell), the message on its standard input.",
    )(command)
    command = click.option(
        "--notify",
        "notify_urls",
        multiple=True,
        metavar="URL",
        help="Live: send each problem to a service of Apprise (extra `notify`): slack://…",
    )(command)
    return click.option(
        "--hang-after",
        type=click.FloatRange(min=1),
        metavar="SECONDS",
        default=LEAST_S,
        help="Live: call no shorter wait a hang; beyond it the run's own rhythm decides.",
        show_default=True,
    )(command)


def watch_log(
    log: str,
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang,
    speak: bool,
    stdin: BinaryIO | None,
    hang_after: float,
    notifier: Notifier,
) -> tuple[Report, bool]:
    """Reads a log that still grows and tells its findings as they come.

    Takes the path (`-`: `stdin`), the rules, whether to print the news on standard output, the
    seconds before which no wait is called a hang, and who else is told.
    Returns the last report, and whether Ctrl-C ended the reading.
    """
    from ..live import News, Watch
    from ..notify import Message
    from ..pipeline import Session
    from ..render.labels import label
    from ..render.news import Status, fitted, line
    from ..sources.follow import follow_file, follow_stream
    from ..sources.growing import awaited
    from ..sources.types import shown

    remarks: list[str] = []
    session = Session(base, scanner, lang)
    status = Status(lang)
    name = "<stdin>" if log == "-" else log
    session.begin(name, remarks)

    def tell(news: News) -> None:
        status.clear()
        text = line(news, lang)
        if speak:
            print(fitted(text, sys.stdout), flush=True)
        notifier.news(news, text)

    def tick(quiet_s: float) -> None:
        status.show(session.last_step, session.lines, quiet_s)

    watch = Watch(session, tell, tick=tick, least_s=hang_after)
    if log == "-" and stdin:
        stream = follow_stream(stdin, heard=watch.heard)
    else:
        if awaited(log):
            complain(label("follow_awaited", lang, path=shown(log)))
        stream = follow_file(log, remarks, heard=watch.heard)
    interrupted = False
    try:
        watch.run(stream)
    except KeyboardInterrupt:
        interrupted = True
    status.clear()
    if log != "-" and not session.lines and awaited(log):
        remarks.append("the file never came to exist; compare its name with: ls -t")
    session.end()
    report = session.report()
    root = report.findings[0].title if report.findings else ""
    notifier.send(Message(label("news_ended", lang, log=name), root, "ended"))
    notifier.close()
    return report, interrupted


def complain(text: str) -> None:
    """What goes wrong beside the result, on standard error."""
    print(f"verl-doctor: {text}", file=sys.stderr, flush=True)
