"""Statements that read the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ..types import WAKE_OCCURRENCES, WAKE_RUNS
from .base import Readable, Row, rows

# An incident without a run is one that better rules have explained otherwise: it keeps its number
# and what people wrote about it, and is not shown.
_SHOWN = "runs > 0"


_MUTED = f"""
  (i.muted_at IS NOT NULL AND (i.muted_until IS NULL OR i.muted_until > :now)
   AND i.runs <= {WAKE_RUNS} * i.muted_runs
   AND i.occurrences <= {WAKE_OCCURRENCES} * i.muted_occurrences)
"""
_TAGS = """
  (SELECT json_group_array(tag) FROM
    (SELECT tag FROM tags t WHERE t.fingerprint = i.fingerprint ORDER BY tag))
"""
_DECISIVE = """
  coalesce((SELECT e.text FROM occurrences o JOIN evidence e ON e.occurrence = o.id
   WHERE o.fingerprint = c.fingerprint AND e.position = 0
   ORDER BY o.last_seen_at DESC, o.run DESC LIMIT 1), '')
"""
_INCIDENT = f"SELECT i.*, {_MUTED} AS muted, {_TAGS} AS tags FROM incidents i"


def seen(db: Readable, fingerprints: Iterable[str], without_run: int, now: float) -> list[Row]:
    """What is known of incidents, one run left out (0: none)."""
    return rows(
        db,
        f"SELECT i.fingerprint, i.number, i.state, i.fix, {_MUTED} AS muted, i.mute_reason,"
        " count(o.id) AS times, coalesce(sum(o.count), 0) AS occurrences,"
        " coalesce(min(o.first_seen_at), i.first_seen_at) AS first_seen_at,"
        " coalesce(max(o.last_seen_at), i.last_seen_at) AS last_seen_at,"
        " coalesce((SELECT r.name FROM occurrences p JOIN runs r ON r.id = p.run"
        "  WHERE p.fingerprint = i.fingerprint AND p.run <> :run"
        "  ORDER BY p.last_seen_at DESC, p.run DESC LIMIT 1), '') AS last_run,"
        " (SELECT json_group_array(fix) FROM"
        "  (SELECT fix FROM resolutions f WHERE f.fingerprint = i.fingerprint"
        "   GROUP BY fix ORDER BY max(resolved_at) DESC)) AS worked"
        " FROM incidents i"
        " LEFT JOIN occurrences o ON o.fingerprint = i.fingerprint AND o.run <> :run"
        " WHERE i.fingerprint IN (SELECT value FROM json_each(:fingerprints))"
        " GROUP BY i.fingerprint",
        {"run": without_run, "fingerprints": json.dumps(list(fingerprints)), "now": now},
    )


def _chosen(states: Sequence[str], words: str) -> tuple[str, dict[str, str]]:
    """The condition that lists of incidents share, and its values."""
    where, values = f"WHERE {_SHOWN}", {}
    if states:
        where += " AND state IN (SELECT value FROM json_each(:states))"
        values["states"] = json.dumps(list(states))
    if words:
        where += " AND number IN (SELECT rowid FROM words WHERE words MATCH :words)"
        values["words"] = words
    return where, values


def count_incidents(db: Readable, states: Sequence[str], words: str) -> int:
    """How many incidents are in one of the states (none given: in any) and hold the words."""
    where, values = _chosen(states, words)
    return int(rows(db, f"SELECT count(*) AS n FROM incidents {where}", values)[0]["n"])


def list_incidents(
    db: Readable, states: Sequence[str], words: str, limit: int, now: float
) -> list[Row]:
    """Incidents in one of the states that hold the words (an FTS5 expression; empty: any), the one
    seen last first; of one run, the root first."""
    where, values = _chosen(states, words)
    return rows(
        db,
        f"{_INCIDENT} {where} ORDER BY last_seen_at DESC, number LIMIT :limit",
        {**values, "limit": limit, "now": now},
    )


def incident(db: Readable, fingerprint: str, now: float) -> Row | None:
    """One incident by its whole fingerprint."""
    values = {"fingerprint": fingerprint, "now": now}
    found = rows(db, f"{_INCIDENT} WHERE fingerprint = :fingerprint", values)
    return found[0] if found else None


def incidents_named(db: Readable, name: str, number: int, now: float) -> list[Row]:
    """The incident with this whole fingerprint, else this number, else this start of one."""
    tests = ("fingerprint = :name", "number = :number", "substr(fingerprint, 1, :n) = :name")
    for test in tests:
        found = rows(
            db,
            f"{_INCIDENT} WHERE {test} ORDER BY last_seen_at DESC, number",
            {"name": name, "number": number, "n": len(name), "now": now},
        )
        if found:
            return found
    return []


def occurrences_of(db: Readable, fingerprint: str, limit: int) -> list[Row]:
    """An incident's occurrences with their runs, the newest first."""
    return rows(
        db,
        "SELECT o.*, r.name, r.host, r.verdict, r.phase AS run_phase, r.step, r.overrides,"
        " r.rules_version, r.recorded_at FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint = :fingerprint ORDER BY o.last_seen_at DESC, o.run DESC LIMIT :limit",
        {"fingerprint": fingerprint, "limit": limit},
    )


def evidence_of(db: Readable, occurrence: int) -> list[Row]:
    """The lines that show an occurrence, the decisive one first."""
    return rows(
        db,
        "SELECT path, line, text FROM evidence WHERE occurrence = :id ORDER BY position",
        {"id": occurrence},
    )


def logs_of(db: Readable, run: int) -> list[Row]:
    """The logs of a run as they were when it was recorded last, in their order."""
    return rows(db, "SELECT * FROM logs WHERE run = :run ORDER BY rowid", {"run": run})


def notes_of(db: Readable, fingerprint: str) -> list[Row]:
    """The notes on an incident, the oldest first."""
    return rows(
        db,
        "SELECT id, fingerprint, text, written_at FROM notes WHERE fingerprint = :fingerprint"
        " ORDER BY written_at, id",
        {"fingerprint": fingerprint},
    )


def candidates(db: Readable, fingerprint: str, words: str, now: float) -> list[Row]:
    """Other incidents of the same rule or with one of the words (an FTS5 expression), with their
    newest decisive line; 300 at most."""
    return rows(
        db,
        f"SELECT c.*, {_DECISIVE} AS line FROM ({_INCIDENT}) c"
        f" WHERE {_SHOWN} AND fingerprint <> :fingerprint"
        " AND (rule = (SELECT rule FROM incidents WHERE fingerprint = :fingerprint)"
        "  OR number IN (SELECT rowid FROM words WHERE words MATCH :words ORDER BY rank LIMIT 200))"
        " ORDER BY last_seen_at DESC LIMIT 300",
        {"fingerprint": fingerprint, "words": words, "now": now},
    )


def decisive_line(db: Readable, fingerprint: str) -> str:
    """The decisive line of an incident in its newest run; empty if it has none."""
    sql = f"SELECT {_DECISIVE} AS line FROM incidents c WHERE fingerprint = :fingerprint"
    found = rows(db, sql, {"fingerprint": fingerprint})
    return str(found[0]["line"]) if found else ""


def runs_with_logs(db: Readable, keys: Iterable[str]) -> list[int]:
    """Ids of the runs that hold one of these logs, the newest first; 100 at most."""
    found = rows(
        db,
        "SELECT DISTINCT run FROM logs WHERE key IN (SELECT value FROM json_each(:keys))"
        " ORDER BY run DESC LIMIT 100",
        {"keys": json.dumps(list(keys))},
    )
    return [row["run"] for row in found]


def good_runs(db: Readable, without_run: int) -> list[Row]:
    """Runs that came to an orderly end and whose messages are known, the newest first, one run
    left out; 50 at most."""
    return rows(
        db,
        "SELECT id, name, folder, command, coalesce(ended_at, recorded_at) AS ended_at FROM runs r"
        " WHERE verdict = 'healthy' AND id <> :run"
        " AND EXISTS (SELECT 1 FROM messages m WHERE m.run = r.id)"
        " ORDER BY ended_at DESC, id DESC LIMIT 50",
        {"run": without_run},
    )


def templates_of(db: Readable, run: int) -> set[str]:
    """The kinds of messages that a run printed."""
    found = rows(db, "SELECT template FROM messages WHERE run = :run", {"run": run})
    return {row["template"] for row in found}
