"""What the store knows of a report's findings, put into the report before it is printed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..diagnose.muted import without_muted
from ..model import Finding, FixText, Report, Seen
from . import db as files
from .compare import compare
from .identity import logs_of_report, same_run
from .read import seen_in

LEAST = 8
"""Characters of a fix from which on a part of it is recognised in what a person wrote."""


def recall(report: Report, *, db_path: Path | None = None) -> Report:
    """The report with the history of its findings, and what is new since the last good run; the
    present run itself does not count.

    A fix that has worked here stands first. What is muted is counted and not listed, except for
    what ended the run: that one only says that it is muted. Takes the database file (default:
    `default_path()`); a store that does not exist knows nothing. Raises StoreError if the store
    can't be read.
    """
    path = files.located(db_path)
    if not os.path.lexists(path):
        return report
    logs = logs_of_report(report)
    with files.glance(path) as db:
        run = same_run(db, logs)
        seen = seen_in(db, [finding.fingerprint for finding in report.findings], run)
        compared = compare(db, report, logs, run)
    return with_history(report, seen)._replace(compared=compared)


def with_history(report: Report, seen: Mapping[str, Seen]) -> Report:
    """The report with what is known of its findings, by fingerprint; see `recall`."""
    known = tuple(_known(finding, seen.get(finding.fingerprint)) for finding in report.findings)
    return without_muted(report._replace(findings=known))


def _known(finding: Finding, seen: Seen | None) -> Finding:
    if seen is None:
        return finding
    return finding._replace(history=seen, fixes=_ordered(finding.fixes, seen.worked))


def _ordered(fixes: tuple[FixText, ...], worked: tuple[str, ...]) -> tuple[FixText, ...]:
    """Fixes that have worked first, the last one before those before it; the others as they were.

    What a person wrote stands for the fix of the rule that it names, else for itself.
    """
    first: list[FixText] = []
    rest = list(fixes)
    for words in worked:
        named = next((fix for fix in rest if _names(words, fix)), None)
        if named is not None:
            rest.remove(named)
        elif any(_names(words, fix) for fix in first):
            continue
        first.append((named or FixText(words))._replace(worked=True))
    return (*first, *rest)


def _names(words: str, fix: FixText) -> bool:
    said = _plain(words)
    parts = [_plain(part) for part in (fix.text, fix.run, fix.set, fix.code) if part]
    return any(said == part or (len(part) >= LEAST and part in said) for part in parts)


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".。")
