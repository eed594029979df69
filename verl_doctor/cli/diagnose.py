"""`verl-doctor diagnose`: the main job."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model import SEVERITIES, Finding, Lang, Report, severity_rank
from .inout import named_logs, put, read_logs, stdin_bytes
from .memory import recalled
from .options import color_option, lang_option, rules_option

if TYPE_CHECKING:
    from ..knowledge.base import RuleBase
    from ..scan.database import Scanner

FORMATS = ("text", "json", "jsonl", "markdown")


@click.command()
@click.argument("logs", nargs=-1, metavar="LOG…", type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    help="What to print on standard output.",
)
@click.option("-o", "--output", type=click.Path(), help="Write the result to a file instead.")
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default="high",
    help="Exit with 1 for findings of this severity or worse.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever was found.")
@click.option(
    "-f",
    "--follow",
    is_flag=True,
    help="Follow a log that still grows (one file; it need not exist yet); Ctrl-C ends it.",
)
@click.option("--explain-choice", is_flag=True, help="Say why this root, and what was demoted.")
@click.option("--all", "everything", is_flag=True, help="List consequences too.")
@click.option("--no-record", is_flag=True, help="Do not write to the incident store.")
@click.option("--no-cache", is_flag=True, help="Read the rules anew.")
@rules_option
@lang_option
@color_option
def diagnose(
    logs: tuple[str, ...],
    form: str,
    output: str | None,
    fail_on: str,
    exit_zero: bool,
    follow: bool,
    explain_choice: bool,
    everything: bool,
    no_record: bool,
    no_cache: bool,
    rule_dirs: tuple[str, ...],
    lang: Lang,
    color: str,
) -> int:
    """Name the cause and the fix in a log.

    LOG is a file, a folder, a glob, a compressed file, or `-` for standard input; several are
    read as one run. What is found is recorded in ~/.local/state/verl-doctor/incidents.db after
    it has been printed (--no-record: not).
    """
    from ..sources.follow import is_live
    from . import ExitCode

    logs = named_logs(logs)
    stdin = stdin_bytes()
    unreadable = False
    if follow or (logs == ("-",) and form == "text" and is_live(stdin)):
        if len(logs) != 1 or Path(logs[0]).is_dir():
            raise click.UsageError("--follow takes one log file, or a pipe")
        from ..knowledge.load import load

        base, scanner = load(rule_dirs, cache=not no_cache)
        report, interrupted = _live(logs[0], base, scanner, lang, form)
    else:
        read, interrupted, unreadable = read_logs(logs, rule_dirs, lang, cache=not no_cache)
        if read is None:
            return ExitCode.USAGE
        report = read
    known, trouble = recalled(report)
    _write(known, form, output, lang, color, explain_choice, everything)
    if not no_record:
        _record(report)
    elif trouble:
        print(f"verl-doctor: {trouble}", file=sys.stderr)
    if interrupted:
        return ExitCode.INTERRUPTED
    if unreadable:
        return ExitCode.USAGE
    worst = min((severity_rank(one.severity) for one in _unmuted(known)), default=99)
    if worst <= severity_rank(fail_on) and not exit_zero:
        return ExitCode.FINDINGS
    return ExitCode.OK


def _live(log: str, base: RuleBase, scanner: Scanner, lang: Lang, form: str) -> tuple[Report, bool]:
    """Reads a log that still grows, tells findings as they come, and returns the last report."""
    from ..live import News, Watch
    from ..pipeline import Session
    from ..render.news import Status, line
    from ..sources.follow import follow_file, follow_stream

    remarks: list[str] = []
    session = Session(base, scanner, lang)
    status = Status(lang)
    session.begin("<stdin>" if log == "-" else log, remarks)
    stdin = stdin_bytes()
    stream = follow_stream(stdin) if log == "-" and stdin else follow_file(log, remarks)

    def tell(news: News) -> None:
        status.clear()
        if form == "text":
            print(line(news, lang), flush=True)

    def tick(quiet_s: float) -> None:
        status.show(session.last_step, session.lines, quiet_s)

    interrupted = False
    try:
        Watch(session, tell, tick=tick).run(stream)
    except KeyboardInterrupt:
        interrupted = True
    status.clear()
    session.end()
    return session.report(), interrupted


def _write(
    report: Report,
    form: str,
    output: str | None,
    lang: Lang,
    color: str,
    choice: bool,
    everything: bool,
) -> None:
    if form == "text":
        from ..render.text import render

        if output is None:
            render(
                report, lang=lang, color=color, stream=sys.stdout, choice=choice,
                everything=everything,
            )  # fmt: skip
            sys.stdout.flush()
            return
        text = render(report, lang=lang, choice=choice, everything=everything)
    else:
        text = _machine(report, form, lang)
    put(text, output)


def _machine(report: Report, form: str, lang: Lang) -> str:
    if form == "markdown":
        from ..render.markdown import render

        return render(report, lang=lang)
    from ..render import json_v1

    return json_v1.render(report) if form == "json" else json_v1.render_lines(report)


def _unmuted(report: Report) -> list[Finding]:
    """The findings that count for the exit status: what ended the run is listed though muted."""
    from ..store import is_muted

    return [one for one in report.findings if not is_muted(one)]


def _record(report: Report) -> None:
    """Writes to the store; what goes wrong there is told and changes nothing.

    A good run is worth keeping too: the next one that fails is compared with it.
    """
    from ..errors import StoreError
    from ..store import record

    if not report.findings and report.verdict != "healthy":
        return
    try:
        done = record(report)
    except StoreError as error:
        print(f"verl-doctor: not recorded: {error}", file=sys.stderr)
        return
    if done.created:
        print(
            f"verl-doctor: incidents are recorded in {done.path} (--no-record: not)",
            file=sys.stderr,
        )
