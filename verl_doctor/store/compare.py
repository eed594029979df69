"""A run against the last good one of its kind: which messages are new."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..logs.mask import mask
from ..model import Comparison, Report
from .identity import Log, folder_of
from .kept import kept
from .sql import read as sql
from .sql.base import Readable, Row

MAX_NEW = 20
"""Messages that a comparison names; more say that the two runs have little in common."""


def compare(db: Readable, report: Report, logs: Sequence[Log], run: int) -> Comparison | None:
    """What the report's run prints that the last good run did not, errors first.

    Takes the open store, the report, its logs, and its run in the store (0: none). None where the
    run is a good one itself, or no good run of its kind is on record: one of the same folder, of a
    folder beside it, or of the same command.
    """
    if report.verdict == "healthy" or not report.messages:
        return None
    folder, command = mask(folder_of(logs)), kept(report.command)
    kin = [row for row in sql.good_runs(db, run) if _akin(row, folder, command)]
    if not kin:
        return None
    good = next((row for row in kin if folder and row["folder"] == folder), kin[0])
    known = sql.templates_of(db, good["id"])
    new = [one for one in report.messages if kept(one.template) not in known]
    new.sort(key=lambda one: one.level != "error")
    return Comparison(good["name"], good["ended_at"], tuple(new[:MAX_NEW]))


def _akin(row: Row, folder: str, command: str) -> bool:
    if command and row["command"] == command:
        return True
    beside = os.path.dirname(folder) not in ("", "/")
    beside = beside and os.path.dirname(row["folder"]) == os.path.dirname(folder)
    return bool(folder) and (row["folder"] == folder or beside)
