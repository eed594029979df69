"""Reads the store. A store that does not exist yet is an empty one, and is not created."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..model import Evidence
from . import db as files
from .opening import spaced
from .sql import read as sql
from .sql.base import Readable, Row
from .types import Incident, Listing, Note, Occurrence, Seen, State

if TYPE_CHECKING:
    from sqlite_utils import Database

_INCIDENT = Incident._fields
_LARGEST = 2**63 - 1


def history(
    fingerprints: Iterable[str], *, db_path: Path | None = None, without_run: int = 0
) -> dict[str, Seen]:
    """What the store knows of these faults, by fingerprint; those it does not know are left out.

    Takes fingerprints, the database file (default: `default_path()`) and the id of a run that is
    not to be counted: the present one, if it has been recorded already. Raises StoreError if the
    store can't be read.
    """
    path = files.located(db_path)
    if not os.path.lexists(path):
        return {}
    with files.connect(path) as db:
        return seen_in(db, fingerprints, without_run)


def seen_in(db: Readable, fingerprints: Iterable[str], without_run: int) -> dict[str, Seen]:
    """`history` in a store that is open."""
    found = {}
    for row in sql.seen(db, fingerprints, without_run, time.time()):
        worked = tuple(json.loads(row["worked"]))
        plain = {**row, "muted": bool(row["muted"]), "worked": worked}
        found[row["fingerprint"]] = Seen(**plain)
    return found


def incidents(
    *,
    states: Sequence[State] = (),
    text: str = "",
    limit: int = 20,
    db_path: Path | None = None,
) -> Listing:
    """The incidents on record, the one seen last first.

    Takes the states to list (none: all), words of which each has to begin a word of the incident's
    title, cause, evidence, notes, fix or tags, the most incidents to return and the database file
    (default: `default_path()`). Raises StoreError if the store can't be read.
    """
    path = files.located(db_path)
    if not os.path.lexists(path):
        return Listing(path, 0, ())
    with files.connect(path) as db:
        words = _expression(text)
        rows = sql.list_incidents(db, states, words, limit, time.time())
        found = tuple(incident_of(row) for row in rows)
        return Listing(path, sql.count_incidents(db, states, words), found)


def _expression(text: str) -> str:
    """The FTS5 expression of what a person typed: all of the words, each the start of one.

    Signs alone are no word: an expression of them finds nothing.
    """
    words = text.split()
    words = [word for word in words if any(map(str.isalnum, word))] or words[:1]
    quoted = [spaced(word).replace('"', '""') for word in words]
    return " ".join(f'"{word}"*' for word in quoted)


def find(name: str, *, db_path: Path | None = None) -> tuple[Incident, ...]:
    """The incidents that a person may mean by `name`: none, the one, or all that it could be.

    Takes a number (`3`, `#3`), a whole fingerprint or the start of one (digits that are a number
    on record are that number), and the database file (default: `default_path()`). Raises
    StoreError if the store can't be read.
    """
    path = files.located(db_path)
    name = name.strip().lower()
    digits = name.removeprefix("#")
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0
    if not os.path.lexists(path) or not digits:
        return ()
    with files.connect(path) as db:
        rows = sql.incidents_named(db, name, number, time.time())
        return tuple(incident_of(row) for row in rows)


def occurrences(
    fingerprint: str, *, limit: int = 20, db_path: Path | None = None
) -> tuple[Occurrence, ...]:
    """The runs that showed an incident, the newest first, each with its evidence.

    Takes a whole fingerprint, the most runs to return and the database file (default:
    `default_path()`). Raises StoreError if the store can't be read.
    """
    path = files.located(db_path)
    if not os.path.lexists(path):
        return ()
    with files.connect(path) as db:
        rows = sql.occurrences_of(db, fingerprint, min(limit, _LARGEST))
        return tuple(_occurrence(db, row) for row in rows)


def notes(fingerprint: str, *, db_path: Path | None = None) -> tuple[Note, ...]:
    """What people wrote about an incident, the oldest first.

    Takes a whole fingerprint and the database file (default: `default_path()`). Raises StoreError
    if the store can't be read.
    """
    path = files.located(db_path)
    if not os.path.lexists(path):
        return ()
    with files.connect(path) as db:
        return tuple(Note(**row) for row in sql.notes_of(db, fingerprint))


def incident_of(row: Row) -> Incident:
    """The incident that a row of `sql.read` stands for."""
    plain = {name: row[name] for name in _INCIDENT}
    plain |= {
        "muted": bool(row["muted"]),
        "tags": tuple(json.loads(row["tags"])),
        "captures": json.loads(row["captures"]),
    }
    return Incident(**plain)


def _occurrence(db: Database, row: Row) -> Occurrence:
    plain = {name: row[name] for name in Occurrence._fields if name in row}
    plain |= {
        "logs": tuple(log["path"] for log in sql.logs_of(db, row["run"])),
        "overrides": tuple(json.loads(row["overrides"])),
        "versions": json.loads(row["versions"]),
        "workers": tuple(json.loads(row["workers"])),
        "evidence": tuple(Evidence(**line) for line in sql.evidence_of(db, row["id"])),
    }
    return Occurrence(**plain)
