"""Writes a report into the store: one run, its incidents, and which of them are new."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..logs.mask import mask
from ..model import Evidence, Finding, Report, SourceInfo
from . import db as files
from .kept import kept, utf8
from .sql import record as sql
from .sql.base import Row, transaction
from .sql.read import logs_of
from .types import Recorded

if TYPE_CHECKING:
    from sqlite_utils import Database

HEAD_BYTES = 65536
"""How much of a log's start tells it from another log at the same path."""
MAX_EVIDENCE = 30


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
    logs = _logs(report)
    created = files.create(path)
    now = time.time()
    with files.connect(path) as db, transaction(db):
        run, updated, replaced = _write_run(db, report, logs, run_name, now)
        ended = _ended(report, logs, now)
        new = 0
        findings = _merged(report.findings)
        for finding in findings:
            new += _write_finding(db, run, finding, ended)
        fingerprints = [finding.fingerprint for finding in findings]
        gone = sql.forget_others(db, run, fingerprints) if replaced else []
        sql.recount(db, [*fingerprints, *gone])
        sql.index_words(db, [*fingerprints, *gone])
    return Recorded(path, run, new, len(findings) - new, created, updated)


# --- the run --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Log:
    source: SourceInfo
    path: str
    """Absolute, links followed; empty for what no path leads back to."""
    key: str

    def head(self, size: int) -> str:
        """Digest of the first `size` bytes; empty where they can't be read."""
        if not self.path or size <= 0:
            return ""
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):  # opening a FIFO would wait
                return ""
            with open(self.path, "rb") as file:
                start = file.read(size)
        except (OSError, ValueError):
            return ""
        return _digest(start) if len(start) == size else ""

    def size(self) -> int:
        try:
            return os.stat(self.path).st_size if self.path else 0
        except (OSError, ValueError):
            return 0


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _logs(report: Report) -> list[_Log]:
    logs: dict[str, _Log] = {}
    for source in report.sources:
        if source.path in ("-", "<stdin>"):
            # no path says which log this was: its extent and its last line do
            last = f"{source.lines} {source.bytes} {report.phase.last_text}"
            log = _Log(source, "", _digest(f"<stdin> {last}".encode("utf-8", "replace")))
        else:
            path = os.path.realpath(source.path)
            log = _Log(source, path, _digest(os.fsencode(path)))
        logs.setdefault(log.key, log)
    return list(logs.values())


def _continues(old: Row, log: _Log) -> bool:
    """Whether `log` is the log that was recorded as `old`, as it was or grown."""
    if old["head"] and (head := log.head(old["head_bytes"])):
        return bool(head == old["head"])
    if old["head"] and log.size():
        return False  # it can be read and is shorter than what was read of the old one
    return bool(log.source.bytes >= old["bytes"] and log.source.lines >= old["lines"])


def _same_run(db: Database, logs: Sequence[_Log]) -> int:
    """The run that these logs belong to, or 0. Logs may have been added to a run since."""
    now = {log.key: log for log in logs}
    for run in sql.runs_with_logs(db, now):
        old = logs_of(db, run)
        if all(row["key"] in now and _continues(row, now[row["key"]]) for row in old):
            return run
    return 0


def _write_run(
    db: Database, report: Report, logs: Sequence[_Log], name: str, now: float
) -> tuple[int, bool, bool]:
    """Returns the run's id, whether it was known, and whether other rules had judged it then."""
    paths = [mask(log.path or log.source.path) for log in logs]
    folder = os.path.commonpath([os.path.dirname(log.path) for log in logs]) if _all(logs) else ""
    row: dict[str, Any] = {
        "folder": mask(folder),
        "host": socket.gethostname(),
        "ended_at": report.phase.last_time,
        "verdict": report.verdict,
        "phase": report.phase.name,
        "step": report.phase.step,
        "overrides": _json([kept(text) for text in report.overrides]),
        "rules_version": report.rules_version,
        "updated_at": now,
    }
    row = {key: utf8(value) if isinstance(value, str) else value for key, value in row.items()}
    run = _same_run(db, logs)
    replaced = bool(run) and sql.run(db, run)["rules_version"] != row["rules_version"]
    if run:
        sql.update_run(db, run, {**row, "name": kept(name)} if name else row)
    else:
        default = "/".join(Path(paths[0]).parts[-2:]) if paths else ""
        row |= {"name": kept(name or default), "recorded_at": now}
        run = sql.insert_run(db, {**row, "uid": secrets.token_hex(8)})
        sql.replace_logs(db, run, map(_log_row, logs, paths))
        return run, False, False
    sql.replace_logs(db, run, map(_log_row, logs, paths))
    return run, True, replaced


def _all(logs: Sequence[_Log]) -> bool:
    return bool(logs) and all(log.path for log in logs)


def _log_row(log: _Log, path: str) -> dict[str, Any]:
    size = min(HEAD_BYTES, log.size())
    head = log.head(size)
    return {
        "key": log.key,
        "path": utf8(path),
        "lines": log.source.lines,
        "bytes": log.source.bytes,
        "head": head,
        "head_bytes": size if head else 0,
    }


def _ended(report: Report, logs: Sequence[_Log], now: float) -> float:
    """When the run printed its last line: by its clock, else by its files, else now."""
    if report.phase.last_time is not None:
        return min(report.phase.last_time, now)
    times = []
    for log in logs:
        try:
            times.append(os.stat(log.path).st_mtime if log.path else now)
        except (OSError, ValueError):
            continue
    return min(max(times, default=now), now)


# --- its incidents --------------------------------------------------------------------------


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """One finding a fingerprint, the most important one, which comes first."""
    kept: dict[str, Finding] = {}
    for finding in findings:
        kept.setdefault(finding.fingerprint, finding)
    return list(kept.values())


def _write_finding(db: Database, run: int, finding: Finding, ended: float) -> bool:
    """Returns whether no other run had shown this incident."""
    known = sql.incident(db, finding.fingerprint, run)
    first = finding.first_seen if finding.first_seen is not None else finding.last_seen
    last = finding.last_seen if finding.last_seen is not None else finding.first_seen
    first, last = (ended if first is None else first), (ended if last is None else last)
    row: dict[str, Any] = {
        "fingerprint": finding.fingerprint,
        "rule": finding.rule,
        "slug": utf8(finding.slug),
        "title": kept(finding.title),
        "severity": finding.severity,
        "captures": _json({name: kept(text) for name, text in finding.captures.items()}),
    }
    if known is None:
        sql.insert_incident(db, {**row, "first_seen_at": first, "last_seen_at": last})
    else:
        again = known["state"] == "resolved" and not known["here"]
        again = again and (known["resolved_at"] is None or last > known["resolved_at"])
        state = "regressed" if again else known["state"]
        sql.update_incident(db, {**row, "state": state})
    occurrence = sql.upsert_occurrence(
        db,
        {
            "fingerprint": finding.fingerprint,
            "run": run,
            "role": finding.role,
            "severity": finding.severity,
            "confidence": finding.confidence,
            "cause": kept(finding.cause),
            "phase": finding.phase,
            "count": finding.count,
            "workers": _json([kept(label) for label in finding.workers]),
            "first_line": finding.first_line,
            "last_line": finding.last_line,
            "first_seen_at": first,
            "last_seen_at": last,
        },
    )
    sql.replace_evidence(
        db, occurrence, [_evidence(line) for line in finding.evidence[:MAX_EVIDENCE]]
    )
    return known is None or not known["elsewhere"]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _evidence(line: Evidence) -> tuple[str, int, str]:
    return utf8(mask(line.path)), line.line, kept(line.text)
