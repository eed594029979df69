"""`verl-doctor diagnose`: the main job."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from ..model import SEVERITIES, Lang, Report, severity_rank
from .options import color_option, lang_option, rules_option

if TYPE_CHECKING:
    from ..knowledge.base import RuleBase
    from ..scan.database import Scanner

FORMATS = ("text", "json", "jsonl", "markdown")


def _stdin() -> BinaryIO | None:
    return sys.stdin.buffer if sys.stdin is not None else None


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
    from ..knowledge.load import load
    from ..pipeline import diagnose as run
    from ..sources import expand
    from . import ExitCode

    stdin = _stdin()
    if not logs:
        if stdin is None or stdin.isatty():
            raise click.UsageError("which log? Try `verl-doctor train.log` or pipe one in.")
        logs = ("-",)
    unreadable = False
    if follow or (logs == ("-",) and form == "text" and _is_pipe(stdin)):
        if len(logs) != 1 or Path(logs[0]).is_dir():
            raise click.UsageError("--follow takes one log file, or a pipe")
        base, scanner = load(rule_dirs, cache=not no_cache)
        report, interrupted = _live(logs[0], base, scanner, lang, form)
    else:
        sources, failures = expand(logs, stdin=stdin)
        for failure in failures:
            print(f"verl-doctor: {failure.message}", file=sys.stderr)
        unreadable = any(failure.fatal for failure in failures)
        if not sources and (unreadable or not failures):
            return ExitCode.USAGE
        base, scanner = load(rule_dirs, cache=not no_cache)
        report, interrupted = run(sources, base, scanner, lang=lang, stdin=stdin)
    _write(report, form, output, lang, color, explain_choice, everything)
    if not no_record:
        _record(report)
    if interrupted:
        return ExitCode.INTERRUPTED
    if unreadable:
        return ExitCode.USAGE
    worst = min((severity_rank(one.severity) for one in report.findings), default=99)
    if worst <= severity_rank(fail_on) and not exit_zero:
        return ExitCode.FINDINGS
    return ExitCode.OK


def _is_pipe(stdin: BinaryIO | None) -> bool:
    """Whether standard input is a pipe whose text can be read live, as it comes.

    What is compressed or UTF-16 is read to its end first, like a file.
    """
    import os
    import stat

    from ..sources.sniff import foreign, packing, utf16

    try:
        if stdin is None or not stat.S_ISFIFO(os.fstat(stdin.fileno()).st_mode):
            return False
        head = stdin.peek(16) if isinstance(stdin, io.BufferedReader) else b""
    except (OSError, ValueError):
        return False
    begun = bool(head.strip(b"\0"))  # NUL bytes may go on for ever, and only `chunks` ends that
    return begun and not (packing(head) or utf16(head) or foreign(head))


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
    stdin = _stdin()
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
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from error


def _machine(report: Report, form: str, lang: Lang) -> str:
    if form == "markdown":
        from ..render.markdown import render

        return render(report, lang=lang)
    from ..render import json_v1

    return json_v1.render(report) if form == "json" else json_v1.render_lines(report)


def _record(report: Report) -> None:
    """Writes to the store; what goes wrong there is told and changes nothing."""
    from ..errors import StoreError
    from ..store import record

    if not report.findings:
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
