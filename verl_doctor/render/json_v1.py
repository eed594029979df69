"""The JSON report, schema_version 1. Changes are additive only."""

from __future__ import annotations

import math
from typing import Any

from ..logs.json_text import json_text
from ..model import Comparison, Curve, Finding, Report, Seen, Story
from ..quantities import utc


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "slug": finding.slug,
        "title": finding.title,
        "role": finding.role,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "cause": finding.cause,
        "summary": finding.summary,
        "causes": [
            {
                "id": cause.id,
                "text": cause.text,
                "likelihood": cause.likelihood,
                "state": cause.state,
                "because": list(cause.because),
            }
            for cause in finding.causes
        ],
        "fixes": [
            {
                name: value
                for name, value in (
                    ("text", fix.text),
                    ("run", fix.run),
                    ("set", fix.set),
                    ("code", fix.code),
                    ("risk", fix.risk),
                    ("verify", fix.verify),
                    ("worked_here", fix.worked),
                )
                if value
            }
            for fix in finding.fixes
        ],
        "evidence": [
            {"path": one.path, "line": one.line, "text": one.text} for one in finding.evidence
        ],
        "workers": list(finding.workers),
        "count": finding.count,
        "phase": finding.phase,
        "checks": list(finding.checks),
        "why": finding.why,
        "first_seen": utc(finding.first_seen),
        "last_seen": utc(finding.last_seen),
        "fingerprint": finding.fingerprint,
        "references": list(finding.references),
        "history": _history(finding.history),
        "muted": finding.muted and {"reason": finding.muted.reason, "by": finding.muted.by},
        "curve": _curve(finding.curve),
    }


def _curve(curve: Curve | None) -> dict[str, Any] | None:
    """JSON has no NaN: values that are not finite stand as `nan`, `inf`, `-inf`."""
    if curve is None:
        return None
    return {
        "key": curve.key,
        "first_bad_step": curve.first_bad,
        "healthy": curve.healthy,
        "steps": list(curve.steps),
        "values": [value if math.isfinite(value) else str(value) for value in curve.values],
    }


def _story(story: Story | None) -> dict[str, Any] | None:
    if story is None:
        return None
    saved = story.checkpoint
    return {
        "moments": [
            {
                "step": one.step,
                "path": one.path,
                "line": one.line,
                "rule": one.rule,
                "text": one.text,
            }
            for one in story.moments
        ],
        "first_bad_step": story.first_bad_step,
        "checkpoint": saved
        and {"step": saved.step, "name": saved.name, "path": saved.path, "line": saved.line},
    }


def _compared(compared: Comparison | None) -> dict[str, Any] | None:
    if compared is None:
        return None
    return {
        "run": compared.run,
        "ended": utc(compared.ended_at),
        "new": [
            {
                "level": one.level,
                "path": one.first.path,
                "line": one.first.line,
                "text": one.first.text,
                "count": one.count,
            }
            for one in compared.new
        ],
    }


def _history(seen: Seen | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    return {
        "number": seen.number,
        "times": seen.times,
        "occurrences": seen.occurrences,
        "state": seen.state,
        "fix": seen.fix,
        "worked": list(seen.worked),
        "first_seen": utc(seen.first_seen_at),
        "last_seen": utc(seen.last_seen_at),
        "last_run": seen.last_run,
        "muted": seen.muted,
        "mute_reason": seen.mute_reason,
    }


def as_dict(report: Report) -> dict[str, Any]:
    """The report as plain data, in the order in which it is printed."""
    return {
        "schema_version": 1,
        "verdict": report.verdict,
        "sources": [
            {
                "path": source.path,
                "lines": source.lines,
                "bytes": source.bytes,
                "truncated": list(source.truncated),
            }
            for source in report.sources
        ],
        "phase": {
            "name": report.phase.name,
            "line": report.phase.line,
            "step": report.phase.step,
            "last_line": report.phase.last_line,
            "last_text": report.phase.last_text,
        },
        "findings": [_finding(finding) for finding in report.findings],
        "unexplained": [
            {"path": one.path, "line": one.line, "text": one.text} for one in report.unexplained
        ],
        "hidden": dict(report.hidden),
        "notes": list(report.notes),
        "overrides": list(report.overrides),
        "command": report.command,
        "versions": dict(report.versions),
        "hardware": list(report.hardware),
        "started": utc(report.phase.first_time),
        "ended": utc(report.phase.last_time),
        "compared": _compared(report.compared),
        "rules_version": report.rules_version,
        "story": _story(report.story),
    }


def render(report: Report) -> str:
    """One JSON document, indented, with a newline at its end."""
    return json_text(as_dict(report), indent=2)


def render_lines(report: Report) -> str:
    """JSON lines: the report without its findings first, then one finding a line."""
    whole = as_dict(report)
    findings = whole.pop("findings")
    lines = [{"type": "report", **whole}]
    lines += [{"type": "finding", **finding} for finding in findings]
    return "".join(map(json_text, lines))
