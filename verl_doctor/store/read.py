"""Reads the store. A store that does not exist yet is an empty one, and is not created."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..model import Evidence
from . import db as files
from . import queries
from .types import Incident, Listing, Occurrence, Seen, State

if TYPE_CHECKING:
    from sqlite_utils import Database

_INCIDENT = tuple(Incident.__dataclass_fields__)
_LARGEST = 2**63 - 1


def _existing(db_path: Path | None) -> tuple[Path, bool]:
    path = files.default_path() if db_path is None else Path(os.path.abspath(db_path))
    return path, os.path.lexists(path)


def history(
    fingerprints: Iterable[str], *, db_path: Path | None = None, without_run: int = 0
) -> dict[str, Seen]:
    """What the store knows of these faults, by fingerprint; those it never saw are left out.

    Takes fingerprints, the database file (default: `default_path()`) and the id of a run that is
    not to be counted: the present one, if it has been recorded already. Raises StoreError if the
    store can't be read.
    """
    path, exists = _existing(db_path)
    if not exists:
        return {}
    with files.connect(path) as db:
        return {
            row["fingerprint"]: Seen(**row) for row in queries.seen(db, fingerprints, without_run)
        }


def incidents(
    *, states: Sequence[State] = (), limit: int = 20, db_path: Path | None = None
) -> Listing:
    """The incidents on record, the one seen last first.

    Takes the states to list (none: all), the most incidents to return and the database file
    (default: `default_path()`). Raises StoreError if the store can't be read.
    """
    path, exists = _existing(db_path)
    if not exists:
        return Listing(path, 0, ())
    with files.connect(path) as db:
        found = tuple(_incident(row) for row in queries.list_incidents(db, states, limit))
        return Listing(path, queries.count_incidents(db, states), found)


def find(name: str, *, db_path: Path | None = None) -> tuple[Incident, ...]:
    """The incidents that a person may mean by `name`: none, the one, or all that it could be.

    Takes a number (`3`, `#3`), a whole fingerprint or the start of one (digits that are a number
    on record are that number), and the database file (default: `default_path()`). Raises
    StoreError if the store can't be read.
    """
    path, exists = _existing(db_path)
    name = name.strip().lower()
    digits = name.removeprefix("#")
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0
    if not exists or not digits:
        return ()
    with files.connect(path) as db:
        return tuple(_incident(row) for row in queries.incidents_named(db, name, number))


def occurrences(
    fingerprint: str, *, limit: int = 20, db_path: Path | None = None
) -> tuple[Occurrence, ...]:
    """The runs that showed an incident, the newest first, each with its evidence.

    Takes a whole fingerprint, the most runs to return and the database file (default:
    `default_path()`). Raises StoreError if the store can't be read.
    """
    path, exists = _existing(db_path)
    if not exists:
        return ()
    with files.connect(path) as db:
        rows = queries.occurrences_of(db, fingerprint, min(limit, _LARGEST))
        return tuple(_occurrence(db, row) for row in rows)


def _incident(row: queries.Row) -> Incident:
    return Incident(**{name: row[name] for name in _INCIDENT})


def _occurrence(db: Database, row: queries.Row) -> Occurrence:
    plain = {name: row[name] for name in Occurrence.__dataclass_fields__ if name in row}
    plain |= {
        "logs": tuple(log["path"] for log in queries.logs_of(db, row["run"])),
        "overrides": tuple(json.loads(row["overrides"])),
        "workers": tuple(json.loads(row["workers"])),
        "evidence": tuple(Evidence(**line) for line in queries.evidence_of(db, row["id"])),
    }
    return Occurrence(**plain)
