"""The schema, as numbered steps. A step that has been released is never changed: add one.

Each step runs in one transaction together with the line that says it has run, so a process that
dies in between leaves the schema as it was. sqlite-utils has migrations from version 4 on; these
few lines work with 3.38 too.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from . import schema
from .sql.base import Readable, transaction

if TYPE_CHECKING:
    from sqlite_utils import Database

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("first tables", schema.FIRST),
    ("states, notes, tags, search", schema.SECOND),
    ("runs in full, messages, views", schema.THIRD),
)
"""Name and statements of each step; its number is its place, counted from 1."""


def version(db: Readable) -> int:
    """Number of the last step that has run; 0 for an empty database."""
    if not list(
        db.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'")
    ):
        return 0
    return int(next(iter(db.query("SELECT coalesce(max(id), 0) AS id FROM migrations")))["id"])


def migrate(db: Database) -> None:
    """Runs the steps that are missing. Safe when several processes open a new file at once."""
    for number, (name, statements) in enumerate(MIGRATIONS, start=1):
        if version(db) >= number:
            continue
        with transaction(db):
            if version(db) >= number:  # another process was faster
                continue
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, time.time()))
