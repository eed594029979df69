"""A report as rows of the store.

All that takes time, masking above all, is done here, before the store is locked for writing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..logs.mask import mask
from ..model import Evidence, Finding, Message, Report
from .identity import HEAD_BYTES, Log, folder_of
from .kept import kept, utf8

MAX_EVIDENCE = 30


class FindingRows(NamedTuple):
    """A finding as rows of three tables, all but what the store decides."""

    incident: dict[str, Any]
    occurrence: dict[str, Any]
    evidence: list[tuple[str, int, str]]


class ReportRows(NamedTuple):
    """A report as rows."""

    run: dict[str, Any]
    default_name: str
    logs: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    findings: list[FindingRows]


def rows_of(report: Report, logs: Sequence[Log], now: float) -> ReportRows:
    """Takes the report, its logs and the present time; returns its rows, masked."""
    ended = _ended(report, logs, now)
    paths = [mask(log.path or log.source.path) for log in logs]
    return ReportRows(
        run=_run(report, logs),
        default_name=str(Path(*Path(paths[0]).parts[-2:])) if paths else "",
        logs=[_log(log, path) for log, path in zip(logs, paths, strict=True)],
        messages=[_message(one) for one in report.messages],
        findings=[_finding(one, ended) for one in _merged(report.findings)],
    )


def _run(report: Report, logs: Sequence[Log]) -> dict[str, Any]:
    import socket  # a report waits for this package, and only a recording needs the host's name

    row: dict[str, Any] = {
        "folder": mask(folder_of(logs)),
        "host": socket.gethostname(),
        "command": kept(report.command),
        "versions": _json({name: kept(text) for name, text in report.versions.items()}),
        "started_at": report.phase.first_time,
        "ended_at": report.phase.last_time,
        "verdict": report.verdict,
        "phase": report.phase.name,
        "step": report.phase.step,
        "overrides": _json([kept(text) for text in report.overrides]),
        "rules_version": report.rules_version,
    }
    return {key: utf8(value) if isinstance(value, str) else value for key, value in row.items()}


def _log(log: Log, path: str) -> dict[str, Any]:
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


def _message(one: Message) -> dict[str, Any]:
    path, line, text = _evidence(one.first)
    row = {"template": kept(one.template), "level": one.level, "count": one.count}
    return {**row, "path": path, "line": line, "text": text}


def _finding(finding: Finding, ended: float) -> FindingRows:
    times = [one for one in (finding.first_seen, finding.last_seen) if one is not None]
    seen = {"first_seen_at": min(times, default=ended), "last_seen_at": max(times, default=ended)}
    return FindingRows(
        incident={
            "fingerprint": finding.fingerprint,
            "rule": finding.rule,
            "slug": utf8(finding.slug),
            "title": kept(finding.title),
            "severity": finding.severity,
            "captures": _json({name: kept(text) for name, text in finding.captures.items()}),
            **seen,
        },
        occurrence={
            "fingerprint": finding.fingerprint,
            "role": finding.role,
            "severity": finding.severity,
            "confidence": finding.confidence,
            "cause": kept(finding.cause),
            "phase": finding.phase,
            "count": finding.count,
            "workers": _json([kept(label) for label in finding.workers]),
            "first_line": finding.first_line,
            "last_line": finding.last_line,
            **seen,
        },
        evidence=[_evidence(line) for line in finding.evidence[:MAX_EVIDENCE]],
    )


def _evidence(line: Evidence) -> tuple[str, int, str]:
    return utf8(mask(line.path)), line.line, kept(line.text)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """One finding a fingerprint, the most important one, which comes first."""
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.fingerprint, finding)
    return list(first.values())


def _ended(report: Report, logs: Sequence[Log], now: float) -> float:
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
