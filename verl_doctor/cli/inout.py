"""What the verbs that read logs share: reading them to their end, and writing a result."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import BinaryIO

import click

from ..model import Lang, Report


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
    logs: Sequence[str], rule_dirs: Sequence[str], lang: Lang, *, cache: bool = True
) -> tuple[Report | None, bool, bool]:
    """Diagnoses logs that are complete.

    Takes paths, globs or `-`, folders of further rules, the language, and whether the compiled
    rules may come from the cache. Returns the report (None if there was nothing to read), whether
    Ctrl-C cut the reading short, and whether something could not be read; what that was has been
    told on standard error.
    """
    from ..knowledge.load import load
    from ..pipeline import diagnose
    from ..sources import expand

    stdin = stdin_bytes()
    sources, failures = expand(logs, stdin=stdin)
    for failure in failures:
        print(f"verl-doctor: {failure.path}: {failure.message}", file=sys.stderr)
    unreadable = any(failure.fatal for failure in failures)
    if not sources and (unreadable or not failures):
        return None, False, True
    base, scanner = load(rule_dirs, cache=cache)
    report, interrupted = diagnose(sources, base, scanner, lang=lang, stdin=stdin)
    return report, interrupted, unreadable


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
