"""`verl-doctor tui`: the interactive screen."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..errors import StoreError
from ..model import Lang
from .options import lang_option, rules_option


@click.command()
@click.argument("logs", nargs=-1, metavar="[LOG…]", type=click.Path())
@click.option("-f", "--follow", is_flag=True, help="Follow a log that still grows (one file).")
@click.option(
    "--theme",
    type=click.Choice(("auto", "dark", "light")),
    default="auto",
    help="Colours for a dark or a light terminal; Ctrl-t changes them.",
)
@click.option("--python", metavar="PATH", help="For checks: the interpreter that trains.")
@click.option("--no-record", is_flag=True, help="Do not write to the incident store.")
@rules_option
@lang_option
def tui(
    logs: tuple[str, ...],
    follow: bool,
    theme: str,
    python: str | None,
    no_record: bool,
    rule_dirs: tuple[str, ...],
    lang: Lang,
) -> int:
    """Look at a log interactively: verdict, causes, fixes, the log at its evidence.

    \b
      verl-doctor tui train.log
      verl-doctor tui -f train.log
      tail -f train.log | verl-doctor tui

    LOG is what `diagnose` takes. `?` shows the keys.
    """
    from . import ExitCode

    if not (sys.stdout.isatty() and sys.stderr.isatty()):  # the screen is drawn on stderr
        raise click.UsageError(
            "the screen needs a terminal. For a report: verl-doctor train.log; over SSH: ssh -t"
        )
    stdin = sys.stdin.buffer if sys.stdin is not None else None
    piped = stdin is not None and not stdin.isatty()
    if not logs:
        if not piped:
            raise click.UsageError("which log? Try `verl-doctor tui train.log` or pipe one in.")
        logs = ("-",)
    if follow and (len(logs) != 1 or Path(logs[0]).is_dir()):
        raise click.UsageError("--follow takes one log file, or a pipe")

    from ..sources import expand
    from ..sources.growing import unfollowable
    from ..tui.reading import Input

    if follow and (refused := unfollowable(logs[0], None)) is not None:
        print(f"verl-doctor: {refused.message}", file=sys.stderr)
        return ExitCode.USAGE

    stream = None
    if piped:
        from ..tui.keyboard import reopened

        try:
            stream = reopened()
        except OSError as error:
            raise click.UsageError(
                "no terminal to read keys from. For a report: COMMAND | verl-doctor"
            ) from error
    wanted = Input(follow=logs[0] if follow and logs[0] != "-" else "")
    if not wanted.follow:
        from ..sources.follow import is_live

        sources, failures = expand(logs, stdin=stream)
        for failure in failures:
            print(f"verl-doctor: {failure.message}", file=sys.stderr)
        if not sources:
            return ExitCode.USAGE
        wanted = Input(tuple(sources), stdin=stream, live=logs == ("-",) and is_live(stream))

    from .. import settings
    from ..tui.app import DoctorApp

    app = DoctorApp(
        wanted,
        lang=lang,
        rule_dirs=rule_dirs,
        record=not no_record,
        light=_light(theme),
        python=python,
        said=settings.load(),
    )
    app.run()
    try:
        app.keep_rest()
    except StoreError as error:
        print(f"verl-doctor: not recorded: {error}", file=sys.stderr)
    if app.failure:
        raise click.ClickException(app.failure)
    return ExitCode.OK if app.return_code in (None, 0) else ExitCode.USAGE


def _light(theme: str) -> bool:
    """Whether the terminal is light, as far as `auto` can know: `COLORFGBG` ends with its
    background's number, 7 and 15 being white."""
    if theme != "auto":
        return theme == "light"
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
