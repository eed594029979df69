"""Writes a report into the store: one run, its incidents, and which of them are new."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model import Report
from . import db as files
from .identity import Log, logs_of_report, same_run
from .kept import kept
from .rows import FindingRows, ReportRows, rows_of
from .sql import record as sql
from .sql.base import transaction
from .types import Recorded

if TYPE_CHECKING:
    from sqlite_utils import Database


def record(report: Report, *, db_path: Path | None = None, run_name: str = "") -> Recorded:
    """Remembers a report in the incident store, masked, in one transaction.

    Takes the report, the database file (default: `default_path()`) and a name for the run (default:
    the end of its log's path). The same log recorded twice is one run, and so is a log that has
    grown; another log that has taken over the path is a new run. A run whose earlier report came
    from other rules is replaced by what this report says. An incident that was resolved and shows
    in a run that ended later becomes `regressed`.

    Returns what was written. When it returns, the data is on disk. Raises StoreError if the store
    can't be created, opened or written; nothing is written then.
    """
    path = files.located(db_path)
    logs = logs_of_report(report)
    created = files.create(path)
    now = time.time()
    rows = rows_of(report, logs, now)
    with files.connect(path) as db, transaction(db):
        run, updated, replaced = _write_run(db, rows, logs, kept(run_name), now)
        sql.replace_messages(db, run, rows.messages)
        new = sum(_write_finding(db, run, finding) for finding in rows.findings)
        fingerprints = [finding.incident["fingerprint"] for finding in rows.findings]
        gone = sql.forget_others(db, run, fingerprints) if replaced else []
        sql.recount(db, [*fingerprints, *gone])
        sql.index_words(db, [*fingerprints, *gone])
    return Recorded(path, run, new, len(rows.findings) - new, created, updated)


def _write_run(
    db: Database, rows: ReportRows, logs: Sequence[Log], name: str, now: float
) -> tuple[int, bool, bool]:
    """Returns the run's id, whether it was known, and whether other rules had judged it then."""
    row: dict[str, Any] = {**rows.run, "updated_at": now}
    run = same_run(db, logs)
    known = bool(run)
    replaced = known and sql.run(db, run)["rules_version"] != row["rules_version"]
    if known:
        sql.update_run(db, run, {**row, "name": name} if name else row)
    else:
        row |= {"name": name or kept(rows.default_name), "recorded_at": now}
        run = sql.insert_run(db, {**row, "uid": secrets.token_hex(8)})
    sql.replace_logs(db, run, rows.logs)
    return run, known, replaced


def _write_finding(db: Database, run: int, rows: FindingRows) -> bool:
    """Returns whether no other run had shown this incident."""
    row = rows.incident
    known = sql.incident(db, row["fingerprint"], run)
    if known is None:
        sql.insert_incident(db, row)
    else:
        again = known["state"] == "resolved" and not known["here"]
        resolved = known["resolved_at"]
        again = again and (resolved is None or row["last_seen_at"] > resolved)
        sql.update_incident(db, {**row, "state": "regressed" if again else known["state"]})
    occurrence = sql.upsert_occurrence(db, {**rows.occurrence, "run": run})
    sql.replace_evidence(db, occurrence, rows.evidence)
    return known is None or not known["elsewhere"]
