"""Statements that write a report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..schema import INDEX_WORDS
from .base import Row, insert, rows

if TYPE_CHECKING:
    from sqlite_utils import Database


# --- runs -----------------------------------------------------------------------------------


def run(db: Database, run: int) -> Row:
    """One run, by its id."""
    return rows(db, "SELECT * FROM runs WHERE id = :run", {"run": run})[0]


def insert_run(db: Database, row: Row) -> int:
    """Adds a run and returns its id."""
    return insert(db, "runs", row)


def update_run(db: Database, run: int, row: Row) -> None:
    """Overwrites the given columns of a run."""
    assignments = ", ".join(f"{name} = :{name}" for name in row)
    db.execute(f"UPDATE runs SET {assignments} WHERE id = :run_id", {**row, "run_id": run})


def replace_logs(db: Database, run: int, rows: Iterable[Row]) -> None:
    """Sets the logs of a run."""
    db.execute("DELETE FROM logs WHERE run = :run", {"run": run})
    for row in rows:
        insert(db, "logs", {"run": run, **row})


def replace_messages(db: Database, run: int, rows: Iterable[Row]) -> None:
    """Sets the kinds of messages of a run; of two that masking has made equal, the first stays."""
    db.execute("DELETE FROM messages WHERE run = :run", {"run": run})
    for row in rows:
        names = ", ".join(row)
        places = ", ".join(f":{name}" for name in row)
        db.execute(
            f"INSERT OR IGNORE INTO messages (run, {names}) VALUES (:run, {places})",
            {"run": run, **row},
        )


# --- incidents ------------------------------------------------------------------------------


def incident(db: Database, fingerprint: str, run: int) -> Row | None:
    """State of an incident, whether `run` holds it (`here`), and how many others (`elsewhere`)."""
    found = rows(
        db,
        "SELECT state, resolved_at,"
        " (SELECT count(*) FROM occurrences o WHERE o.fingerprint = i.fingerprint"
        "  AND o.run = :run) AS here,"
        " (SELECT count(*) FROM occurrences o WHERE o.fingerprint = i.fingerprint"
        "  AND o.run <> :run) AS elsewhere"
        " FROM incidents i WHERE fingerprint = :fingerprint",
        {"fingerprint": fingerprint, "run": run},
    )
    return found[0] if found else None


def insert_incident(db: Database, row: Row) -> None:
    """Adds an incident under the next free number."""
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    db.execute(
        f"INSERT INTO incidents (number, {names})"
        " VALUES ((SELECT max(last, (SELECT coalesce(max(number), 0) FROM incidents)) + 1"
        f" FROM numbers), {places})",
        dict(row),
    )


def update_incident(db: Database, row: Row) -> None:
    """Sets what the newest report says about an incident, its state included.

    One that comes back after it had been resolved is muted no longer.
    """
    db.execute(
        "UPDATE incidents SET rule = :rule, slug = :slug, title = :title, severity = :severity,"
        " captures = :captures,"
        " state = :state, muted_at = CASE WHEN :state = 'regressed' AND state <> 'regressed'"
        "  THEN NULL ELSE muted_at END"
        " WHERE fingerprint = :fingerprint",
        dict(row),
    )


def set_columns(db: Database, fingerprint: str, row: Row) -> None:
    """Overwrites the given columns of an incident."""
    assignments = ", ".join(f"{name} = :{name}" for name in row)
    db.execute(
        f"UPDATE incidents SET {assignments} WHERE fingerprint = :fingerprint",
        {**row, "fingerprint": fingerprint},
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
    found = rows(
        db, "SELECT id FROM occurrences WHERE fingerprint = :fingerprint AND run = :run", row
    )
    return int(found[0]["id"])


def replace_evidence(db: Database, occurrence: int, rows: Iterable[tuple[str, int, str]]) -> None:
    """Sets the lines that show an occurrence; the decisive one comes first."""
    db.execute("DELETE FROM evidence WHERE occurrence = :id", {"id": occurrence})
    for position, (path, line, text) in enumerate(rows):
        row = {"occurrence": occurrence, "position": position}
        insert(db, "evidence", {**row, "path": path, "line": line, "text": text})


def forget_others(db: Database, run: int, keep: Sequence[str]) -> list[str]:
    """Deletes the occurrences of a run but those of `keep`; returns the fingerprints deleted."""
    values = {"run": run, "keep": json.dumps(list(keep))}
    where = "WHERE run = :run AND fingerprint NOT IN (SELECT value FROM json_each(:keep))"
    gone = [
        str(row["fingerprint"])
        for row in rows(db, f"SELECT fingerprint FROM occurrences {where}", values)
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


def index_words(db: Database, fingerprints: Iterable[str]) -> None:
    """Makes incidents findable by their words as they now are."""
    values = {"fingerprints": json.dumps(list(fingerprints))}
    chosen = "fingerprint IN (SELECT value FROM json_each(:fingerprints))"
    db.execute(
        f"DELETE FROM words WHERE rowid IN (SELECT number FROM incidents WHERE {chosen})", values
    )
    db.execute(f"{INDEX_WORDS} WHERE i.{chosen}", values)
