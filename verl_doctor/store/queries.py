"""Every SQL statement of the store but its schema. Statements only: what they mean is decided by
their callers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = Mapping[str, Any]


@contextmanager
def transaction(db: Database) -> Iterator[None]:
    """One transaction around the block; an exception undoes it.

    IMMEDIATE takes the write lock at the start: two writers that had both read first could
    otherwise only be told apart by failing one of them.
    """
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.conn.in_transaction:  # a full disk ends the transaction by itself
            db.conn.execute("ROLLBACK")
        raise
    try:
        db.conn.execute("COMMIT")
    except BaseException:
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
        raise


def _rows(db: Database, sql: str, values: Mapping[str, Any]) -> list[Row]:
    return list(db.query(sql, dict(values)))


def _insert(db: Database, table: str, row: Row) -> int:
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    cursor = db.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", dict(row))
    return cursor.lastrowid or 0


# --- runs -----------------------------------------------------------------------------------


def runs_with_logs(db: Database, keys: Iterable[str]) -> list[int]:
    """Ids of the runs that hold one of these logs, the newest first; 100 at most."""
    rows = _rows(
        db,
        "SELECT DISTINCT run FROM logs WHERE key IN (SELECT value FROM json_each(:keys))"
        " ORDER BY run DESC LIMIT 100",
        {"keys": json.dumps(list(keys))},
    )
    return [row["run"] for row in rows]


def logs_of(db: Database, run: int) -> list[Row]:
    """The logs of a run as they were when it was recorded last, in their order."""
    return _rows(db, "SELECT * FROM logs WHERE run = :run ORDER BY rowid", {"run": run})


def run(db: Database, run: int) -> Row:
    """One run, by its id."""
    return _rows(db, "SELECT * FROM runs WHERE id = :run", {"run": run})[0]


def insert_run(db: Database, row: Row) -> int:
    """Adds a run and returns its id."""
    return _insert(db, "runs", row)


def update_run(db: Database, run: int, row: Row) -> None:
    """Overwrites the given columns of a run."""
    assignments = ", ".join(f"{name} = :{name}" for name in row)
    db.execute(f"UPDATE runs SET {assignments} WHERE id = :run_id", {**row, "run_id": run})


def replace_logs(db: Database, run: int, rows: Iterable[Row]) -> None:
    """Sets the logs of a run."""
    db.execute("DELETE FROM logs WHERE run = :run", {"run": run})
    for row in rows:
        _insert(db, "logs", {"run": run, **row})


# --- writing incidents ----------------------------------------------------------------------


def incident(db: Database, fingerprint: str, run: int) -> Row | None:
    """State of an incident, whether `run` holds it (`here`), and how many others (`elsewhere`)."""
    rows = _rows(
        db,
        "SELECT state, resolved_at,"
        " (SELECT count(*) FROM occurrences o WHERE o.fingerprint = i.fingerprint"
        "  AND o.run = :run) AS here,"
        " (SELECT count(*) FROM occurrences o WHERE o.fingerprint = i.fingerprint"
        "  AND o.run <> :run) AS elsewhere"
        " FROM incidents i WHERE fingerprint = :fingerprint",
        {"fingerprint": fingerprint, "run": run},
    )
    return rows[0] if rows else None


def insert_incident(db: Database, row: Row) -> None:
    """Adds an incident under the next free number."""
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    db.execute(
        f"INSERT INTO incidents (number, {names})"
        f" VALUES ((SELECT coalesce(max(number), 0) + 1 FROM incidents), {places})",
        dict(row),
    )


def update_incident(db: Database, row: Row) -> None:
    """Sets what the newest report says about an incident, its state included."""
    db.execute(
        "UPDATE incidents SET rule = :rule, slug = :slug, title = :title, severity = :severity,"
        " state = :state WHERE fingerprint = :fingerprint",
        dict(row),
    )


def upsert_occurrence(db: Database, row: Row) -> int:
    """Writes an incident in a run over what stood there, and returns the occurrence's id."""
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    updates = ", ".join(
        f"{name} = excluded.{name}" for name in row if name not in ("fingerprint", "run")
    )
    db.execute(
        f"INSERT INTO occurrences ({names}) VALUES ({places})"
        f" ON CONFLICT (fingerprint, run) DO UPDATE SET {updates}",
        dict(row),
    )
    found = _rows(
        db, "SELECT id FROM occurrences WHERE fingerprint = :fingerprint AND run = :run", row
    )
    return int(found[0]["id"])


def replace_evidence(db: Database, occurrence: int, rows: Iterable[tuple[str, int, str]]) -> None:
    """Sets the lines that show an occurrence; the decisive one comes first."""
    db.execute("DELETE FROM evidence WHERE occurrence = :id", {"id": occurrence})
    for position, (path, line, text) in enumerate(rows):
        row = {"occurrence": occurrence, "position": position}
        _insert(db, "evidence", {**row, "path": path, "line": line, "text": text})


def forget_others(db: Database, run: int, keep: Sequence[str]) -> list[str]:
    """Deletes the occurrences of a run but those of `keep`; returns the fingerprints deleted."""
    values = {"run": run, "keep": json.dumps(list(keep))}
    where = "WHERE run = :run AND fingerprint NOT IN (SELECT value FROM json_each(:keep))"
    gone = [
        str(row["fingerprint"])
        for row in _rows(db, f"SELECT fingerprint FROM occurrences {where}", values)
    ]
    db.execute(f"DELETE FROM occurrences {where}", values)
    return gone


def recount(db: Database, fingerprints: Iterable[str]) -> None:
    """Derives counts and times of incidents from their occurrences."""
    of = "FROM occurrences o WHERE o.fingerprint = incidents.fingerprint"
    db.execute(
        f"UPDATE incidents SET runs = (SELECT count(*) {of}),"
        f" occurrences = (SELECT coalesce(sum(o.count), 0) {of}),"
        f" first_seen_at = coalesce((SELECT min(o.first_seen_at) {of}), first_seen_at),"
        f" last_seen_at = coalesce((SELECT max(o.last_seen_at) {of}), last_seen_at)"
        " WHERE fingerprint IN (SELECT value FROM json_each(:fingerprints))",
        {"fingerprints": json.dumps(list(fingerprints))},
    )


# --- reading --------------------------------------------------------------------------------

# An incident without a run is one that better rules have explained otherwise: it keeps its number
# and what people wrote about it, and is not shown.
_SHOWN = "runs > 0"


def seen(db: Database, fingerprints: Iterable[str], without_run: int) -> list[Row]:
    """What is known of incidents, one run left out (0: none)."""
    return _rows(
        db,
        "SELECT i.fingerprint, i.number, i.state, i.fix, count(*) AS times,"
        " sum(o.count) AS occurrences, min(o.first_seen_at) AS first_seen_at,"
        " max(o.last_seen_at) AS last_seen_at,"
        " (SELECT r.name FROM occurrences p JOIN runs r ON r.id = p.run"
        "  WHERE p.fingerprint = i.fingerprint AND p.run <> :run"
        "  ORDER BY p.last_seen_at DESC, p.run DESC LIMIT 1) AS last_run"
        " FROM incidents i JOIN occurrences o ON o.fingerprint = i.fingerprint AND o.run <> :run"
        " WHERE i.fingerprint IN (SELECT value FROM json_each(:fingerprints))"
        " GROUP BY i.fingerprint",
        {"run": without_run, "fingerprints": json.dumps(list(fingerprints))},
    )


def _in_states(states: Sequence[str]) -> str:
    return " AND state IN (SELECT value FROM json_each(:states))" if states else ""


def count_incidents(db: Database, states: Sequence[str]) -> int:
    """How many incidents are in one of the states (none given: in any)."""
    sql = f"SELECT count(*) AS n FROM incidents WHERE {_SHOWN}{_in_states(states)}"
    return int(_rows(db, sql, {"states": json.dumps(list(states))})[0]["n"])


def list_incidents(db: Database, states: Sequence[str], limit: int) -> list[Row]:
    """Incidents in one of the states, the one seen last first; of one run, the root first."""
    return _rows(
        db,
        f"SELECT * FROM incidents WHERE {_SHOWN}{_in_states(states)}"
        " ORDER BY last_seen_at DESC, number LIMIT :limit",
        {"states": json.dumps(list(states)), "limit": limit},
    )


def incidents_named(db: Database, name: str, number: int) -> list[Row]:
    """The incident with this whole fingerprint, else this number, else this start of one."""
    tests = ("fingerprint = :name", "number = :number", "substr(fingerprint, 1, :n) = :name")
    for test in tests:
        rows = _rows(
            db,
            f"SELECT * FROM incidents WHERE {test} ORDER BY last_seen_at DESC, number",
            {"name": name, "number": number, "n": len(name)},
        )
        if rows:
            return rows
    return []


def occurrences_of(db: Database, fingerprint: str, limit: int) -> list[Row]:
    """An incident's occurrences with their runs, the newest first."""
    return _rows(
        db,
        "SELECT o.*, r.name, r.host, r.verdict, r.phase AS run_phase, r.step, r.overrides,"
        " r.rules_version, r.recorded_at FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint = :fingerprint ORDER BY o.last_seen_at DESC, o.run DESC LIMIT :limit",
        {"fingerprint": fingerprint, "limit": limit},
    )


def evidence_of(db: Database, occurrence: int) -> list[Row]:
    """The lines that show an occurrence, the decisive one first."""
    return _rows(
        db,
        "SELECT path, line, text FROM evidence WHERE occurrence = :id ORDER BY position",
        {"id": occurrence},
    )
