"""What the verbs that read logs share: reading them to their end, and writing a result."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

import click

from ..model import Event, Lang, Report

if TYPE_CHECKING:
    from ..pipeline import Observe


def stdin_bytes() -> BinaryIO | None:
    """Standard input as bytes; None if the caller closed it."""
    return sys.stdin.buffer if sys.stdin is not None else None


def named_logs(logs: tuple[str, ...]) -> tuple[str, ...]:
    """The logs to read: those named, else standard input. Raises click.UsageError at a terminal."""
    stdin = stdin_bytes()
    if not logs and (stdin is None or stdin.isatty()):
        raise click.UsageError("which log? Try `verl-doctor train.log` or pipe one in.")
    return logs or ("-",)


def read_logs(
    logs: Sequence[str],
    rule_dirs: Sequence[str],
    lang: Lang,
    *,
    cache: bool = True,
    dumps: Sequence[str] = (),
    observe: Observe | None = None,
) -> tuple[Report | None, bool, bool]:
    """Diagnoses logs that are complete.

    Takes paths, globs or `-`, folders of further rules, the language, whether the compiled rules
    may come from the cache, flight-recorder dumps to read beside the logs, and what runs checks on
    this machine. Returns the report (None if there was nothing to read), whether Ctrl-C cut the
    reading short, and whether something could not be read; what that was has been told on standard
    error.
    """
    from ..knowledge.load import load
    from ..pipeline import diagnose
    from ..sources import expand

    stdin = stdin_bytes()
    sources, failures = expand(logs, stdin=stdin) if logs else ([], [])
    for failure in failures:
        print(f"verl-doctor: {failure.message}", file=sys.stderr)
    unreadable = any(failure.fatal for failure in failures)
    if logs and not sources and (unreadable or not failures):
        return None, False, True
    base, scanner = load(rule_dirs, cache=cache)
    notes, facts = _dumped(dumps)
    report, interrupted = diagnose(
        sources,
        base,
        scanner,
        lang=lang,
        notes=notes,
        facts=facts,
        stdin=stdin,
        observe=observe,
    )
    return report, interrupted, unreadable


def _dumped(paths: Sequence[str]) -> tuple[list[str], dict[str, Event]]:
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


def put(text: str, output: str | None) -> None:
    """Writes a result to a file, or to standard output where none is named.

    Raises click.ClickException if the file can't be written.
    """
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from error
