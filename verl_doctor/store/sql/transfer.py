"""Statements that copy a store, row by row, and that delete from one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .base import Row, rows

if TYPE_CHECKING:
    from sqlite_utils import Database


def columns(db: Database, table: str) -> dict[str, type]:
    """The columns of a table, and the Python type of each."""
    return dict(db[table].columns_dict)


def all_of(db: Database, table: str, order: str) -> Iterable[Row]:
    """Every row of a table, one after the other."""
    found: Iterable[Row] = db.query(f"SELECT * FROM {table} ORDER BY {order}")
    return found


def children(db: Database, table: str, column: str, value: object, order: str) -> list[Row]:
    """The rows of a table that belong to one row of another."""
    return rows(db, f"SELECT * FROM {table} WHERE {column} = :v ORDER BY {order}", {"v": value})


def add(db: Database, table: str, row: Row) -> None:
    """Adds a row unless one with the same key stands there already."""
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    db.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})", dict(row))


def run_by_uid(db: Database, uid: str) -> Row | None:
    """The run with that uid."""
    found = rows(db, "SELECT * FROM runs WHERE uid = :uid", {"uid": uid})
    return found[0] if found else None


def runs_by_log(db: Database, key: str, head: str) -> list[int]:
    """Ids of the runs that hold this log with this beginning."""
    sql = "SELECT run FROM logs WHERE key = :key AND head = :head AND head <> '' ORDER BY run"
    return [row["run"] for row in rows(db, sql, {"key": key, "head": head})]


def incident(db: Database, fingerprint: str) -> Row | None:
    """One incident as it is stored."""
    sql = "SELECT * FROM incidents WHERE fingerprint = :fingerprint"
    found = rows(db, sql, {"fingerprint": fingerprint})
    return found[0] if found else None


def occurs(db: Database, fingerprint: str, run: int) -> bool:
    """Whether a run is on record as having shown an incident."""
    sql = "SELECT 1 FROM occurrences WHERE fingerprint = :fingerprint AND run = :run"
    return bool(rows(db, sql, {"fingerprint": fingerprint, "run": run}))


def regress(db: Database, fingerprints: Iterable[str]) -> None:
    """Says of resolved incidents that they came back, where a run says so that ended after that
    and was on record only later."""
    db.execute(
        "UPDATE incidents SET state = 'regressed', muted_at = NULL WHERE state = 'resolved'"
        " AND fingerprint IN (SELECT value FROM json_each(:fingerprints)) AND EXISTS"
        " (SELECT 1 FROM occurrences o JOIN runs r ON r.id = o.run"
        "  WHERE o.fingerprint = incidents.fingerprint AND r.recorded_at > incidents.resolved_at"
        "  AND o.last_seen_at > incidents.resolved_at)",
        {"fingerprints": json.dumps(list(fingerprints))},
    )


# --- deleting -------------------------------------------------------------------------------


def remember_numbers(db: Database) -> None:
    """Keeps the greatest number given so far, so that it is not given again."""
    db.execute(
        "UPDATE numbers SET last = max(last, (SELECT coalesce(max(number), 0) FROM incidents))"
    )


def delete_incidents(db: Database, fingerprints: Sequence[str]) -> None:
    """Deletes incidents, with all that was written about them."""
    chosen = "fingerprint IN (SELECT value FROM json_each(:fingerprints))"
    values = {"fingerprints": json.dumps(list(fingerprints))}
    db.execute(
        f"DELETE FROM words WHERE rowid IN (SELECT number FROM incidents WHERE {chosen})", values
    )
    db.execute(f"DELETE FROM incidents WHERE {chosen}", values)


def old_runs(db: Database, before: float) -> list[int]:
    """Ids of the runs that ended before a time."""
    sql = "SELECT id FROM runs WHERE coalesce(ended_at, recorded_at) < :before"
    return [row["id"] for row in rows(db, sql, {"before": before})]


def fingerprints_of(db: Database, runs: Sequence[int]) -> list[str]:
    """The incidents that these runs have shown."""
    sql = (
        "SELECT DISTINCT fingerprint FROM occurrences"
        " WHERE run IN (SELECT value FROM json_each(:runs))"
    )
    return [row["fingerprint"] for row in rows(db, sql, {"runs": json.dumps(list(runs))})]


def delete_runs(db: Database, runs: Sequence[int]) -> None:
    """Deletes runs, with their logs, messages and occurrences."""
    sql = "DELETE FROM runs WHERE id IN (SELECT value FROM json_each(:runs))"
    db.execute(sql, {"runs": json.dumps(list(runs))})


def untouched(db: Database) -> list[str]:
    """Incidents that no run shows any more and nobody has said anything about."""
    sql = (
        "SELECT fingerprint FROM incidents i WHERE state = 'new' AND muted_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM occurrences o WHERE o.fingerprint = i.fingerprint)"
        " AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.fingerprint = i.fingerprint)"
        " AND NOT EXISTS (SELECT 1 FROM tags t WHERE t.fingerprint = i.fingerprint)"
        " AND NOT EXISTS (SELECT 1 FROM resolutions f WHERE f.fingerprint = i.fingerprint)"
    )
    return [row["fingerprint"] for row in rows(db, sql, {})]


def rebuild_words(db: Database) -> None:
    """Builds the index of words anew: a word that has been deleted stays in it until then."""
    db.execute("INSERT INTO words (words) VALUES ('rebuild')")


def all_ids(db: Database) -> tuple[list[int], list[str]]:
    """The ids of all runs, and the fingerprints of all incidents."""
    runs = [row["id"] for row in rows(db, "SELECT id FROM runs", {})]
    return runs, [row["fingerprint"] for row in rows(db, "SELECT fingerprint FROM incidents", {})]
