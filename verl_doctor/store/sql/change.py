"""Statements that write what people say about an incident."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .base import Row, insert
from .record import set_columns

if TYPE_CHECKING:
    from sqlite_utils import Database


def mute(db: Database, fingerprint: str, row: Row) -> None:
    """Mutes an incident, measured from now on against the runs and lines that it has now."""
    set_columns(db, fingerprint, row)
    db.execute(
        "UPDATE incidents SET muted_runs = runs, muted_occurrences = occurrences"
        " WHERE fingerprint = ?",
        (fingerprint,),
    )


def add_resolution(db: Database, row: Row) -> None:
    """Keeps a fix that worked."""
    insert(db, "resolutions", row)


def withdraw_resolution(db: Database, fingerprint: str) -> None:
    """Takes back the last fix; the one before it stands again."""
    db.execute(
        "DELETE FROM resolutions WHERE fingerprint = :fingerprint AND resolved_at ="
        " (SELECT max(resolved_at) FROM resolutions WHERE fingerprint = :fingerprint)",
        {"fingerprint": fingerprint},
    )
    db.execute(
        "UPDATE incidents SET fix = coalesce((SELECT fix FROM resolutions r"
        "  WHERE r.fingerprint = incidents.fingerprint ORDER BY resolved_at DESC LIMIT 1), '')"
        " WHERE fingerprint = ?",
        (fingerprint,),
    )


def add_note(db: Database, row: Row) -> int:
    """Keeps a note and returns its id."""
    return insert(db, "notes", row)


def set_tags(db: Database, fingerprint: str, add: Iterable[str], remove: Iterable[str]) -> None:
    """Takes tags off an incident, then puts others on."""
    for tag in remove:
        db.execute("DELETE FROM tags WHERE fingerprint = ? AND tag = ?", (fingerprint, tag))
    for tag in add:
        db.execute("INSERT OR IGNORE INTO tags VALUES (?, ?)", (fingerprint, tag))
