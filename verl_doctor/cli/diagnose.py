"""`verl-doctor diagnose`: the main job."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from ..model import SEVERITIES, Finding, Lang, Report, severity_rank
from .inout import named_logs, put, read_logs, stdin_bytes
from .memory import recalled, remember
from .options import color_option, lang_option, rules_option
from .watching import live_options

if TYPE_CHECKING:
    from ..pipeline import Observe

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
@click.option(
    "--flight-recorder",
    "flight",
    multiple=True,
    type=click.Path(exists=True),
    metavar="PATH",
    help="Read dumps of PyTorch's flight recorder too: their folder, or files; repeatable.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Draw the metrics at fault into FILE.svg or FILE.png.",
)
@click.option("--explain-choice", is_flag=True, help="Say why this root, and what was demoted.")
@click.option("--all", "everything", is_flag=True, help="List consequences too.")
@click.option(
    "--probe",
    is_flag=True,
    help="Run read-only checks on this machine that tell the causes apart.",
)
@click.option("--python", metavar="PATH", help="For --probe: the interpreter that trains.")
@click.option(
    "--bundle",
    "bundles",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Use what `check --save FILE` has kept on the run's machine; repeatable.",
)
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
    plot: str | None,
    explain_choice: bool,
    everything: bool,
    probe: bool,
    python: str | None,
    bundles: tuple[str, ...],
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
    from . import ExitCode

    logs = logs if flight else named_logs(logs)
    stdin = stdin_bytes()
    if plot is not None and Path(plot).suffix.lower() not in (".svg", ".png"):
        raise click.UsageError(f"--plot {plot}: give a name that ends in .svg or .png")
    if probe and bundles:
        raise click.UsageError("--probe looks at this machine, --bundle at another: give one")
    unreadable = False
    if follow or (logs == ("-",) and form == "text" and _is_live(stdin)):
        if len(logs) != 1 or os.path.isdir(logs[0]):
            raise click.UsageError("--follow takes one log file, or a pipe")
        if probe or bundles:
            raise click.UsageError("--probe and --bundle are for a log that is complete")
        from ..knowledge.load import load
        from ..notify import Notifier, channels
        from ..sources.growing import unfollowable
        from .watching import complain, watch_log

        if (failure := unfollowable(logs[0], stdin)) is not None:
            print(f"verl-doctor: {failure.message}", file=sys.stderr)
            return ExitCode.USAGE
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
        observe = _observer(probe, python, bundles, lang)
        read, interrupted, unreadable = read_logs(
            logs, rule_dirs, lang, cache=not no_cache, dumps=flight, observe=observe
        )
        if read is None:
            return ExitCode.USAGE
        report = read
    known, trouble = recalled(report)
    _write(known, form, output, lang, color, explain_choice, everything)
    if plot is not None:
        _plot(report, plot, lang)
    if not no_record:
        remember(report)
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


def _is_live(stdin: BinaryIO | None) -> bool:
    from ..sources.follow import is_live

    return is_live(stdin)


def _observer(
    probe: bool, python: str | None, bundles: tuple[str, ...], lang: Lang
) -> Observe | None:
    """What runs checks, or reads what they found elsewhere; None where neither was asked for."""
    if not probe and not bundles:
        return None
    from .probing import prober, reader

    return reader(bundles, lang) if bundles else prober(python, lang)


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


def _plot(report: Report, path: str, lang: Lang) -> None:
    """Draws the metrics at fault; what goes wrong there is told and changes nothing."""
    from ..render.labels import label
    from ..render.plot import PlotError, guilty, png, svg

    if not guilty(report):
        print(f"verl-doctor: --plot: {label('plot_none', lang)}", file=sys.stderr)
        return
    try:
        if path.lower().endswith(".png"):
            png(report, path)
        else:
            Path(path).write_text(svg(report), encoding="utf-8")
    except PlotError as error:
        print(f"verl-doctor: --plot: {error}", file=sys.stderr)
    except OSError as error:
        print(f"verl-doctor: --plot: cannot write {path}: {error.strerror}", file=sys.stderr)


def _unmuted(report: Report) -> list[Finding]:
    """The findings that count for the exit status: what ended the run is listed though muted."""
    from ..diagnose.muted import is_muted

    return [one for one in report.findings if not is_muted(one)]
