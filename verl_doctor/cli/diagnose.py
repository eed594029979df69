"""`verl-doctor diagnose`: the main job."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import BinaryIO

import click

from ..model import SEVERITIES, Event, Lang, Report, severity_rank
from .options import color_option, lang_option, rules_option
from .watching import live_options

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
@click.option(
    "--flight-recorder",
    "flight",
    multiple=True,
    type=click.Path(exists=True),
    metavar="PATH",
    help="Read dumps of PyTorch's flight recorder too: their folder, or files; repeatable.",
)
@click.option("--explain-choice", is_flag=True, help="Say why this root, and what was demoted.")
@click.option("--all", "everything", is_flag=True, help="List consequences too.")
@click.option("--no-record", is_flag=True, help="Do not write to the incident store.")
@click.option("--no-cache", is_flag=True, help="Read the rules anew.")
@live_options
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
    flight: tuple[str, ...],
    explain_choice: bool,
    everything: bool,
    no_record: bool,
    no_cache: bool,
    hang_after: float,
    notify_urls: tuple[str, ...],
    notify_commands: tuple[str, ...],
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
    if not logs and not flight:
        if stdin is None or stdin.isatty():
            raise click.UsageError("which log? Try `verl-doctor train.log` or pipe one in.")
        logs = ("-",)
    unreadable = False
    if follow or (logs == ("-",) and form == "text" and _is_pipe(stdin)):
        if len(logs) != 1 or Path(logs[0]).is_dir():
            raise click.UsageError("--follow takes one log file, or a pipe")
        from ..notify import Notifier, channels
        from .watching import complain, watch_log

        base, scanner = load(rule_dirs, cache=not no_cache)
        report, interrupted = watch_log(
            logs[0],
            base,
            scanner,
            lang=lang,
            speak=form == "text",
            stdin=stdin,
            hang_after=hang_after,
            notifier=Notifier(channels(notify_urls, notify_commands), complain),
        )
    else:
        if notify_urls or notify_commands:
            raise click.UsageError(
                "--notify is for a run that goes on: add --follow, or use `verl-doctor run -- CMD`"
            )
        sources, failures = expand(logs, stdin=stdin) if logs else ([], [])
        for failure in failures:
            print(f"verl-doctor: {failure.path}: {failure.message}", file=sys.stderr)
        unreadable = any(failure.fatal for failure in failures)
        if logs and not sources and (unreadable or not failures):
            return ExitCode.USAGE
        base, scanner = load(rule_dirs, cache=not no_cache)
        notes, facts = _dumps(flight)
        report, interrupted = run(
            sources, base, scanner, lang=lang, notes=notes, facts=facts, stdin=stdin
        )
    _write(report, form, output, lang, color, explain_choice, everything)
    if not no_record:
        from .recording import record

        record(report)
    if interrupted:
        return ExitCode.INTERRUPTED
    if unreadable:
        return ExitCode.USAGE
    worst = min((severity_rank(one.severity) for one in report.findings), default=99)
    if worst <= severity_rank(fail_on) and not exit_zero:
        return ExitCode.FINDINGS
    return ExitCode.OK


def _dumps(paths: tuple[str, ...]) -> tuple[list[str], dict[str, Event]]:
    """(notes, facts) of a flight recorder's dumps."""
    if not paths:
        return [], {}
    from ..detect.flight_recorder import compare
    from ..sources.flight_recorder import read_dumps

    notes: list[str] = []
    dumps = read_dumps(paths, notes)
    event = compare(dumps)
    if event is None:
        notes.append(f"flight recorder: {len(dumps)} dumps, all recorded collectives have ended")
    return notes, {"flight_recorder": event} if event else {}


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
    return bool(head) and not (packing(head) or utf16(head) or foreign(head))


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
