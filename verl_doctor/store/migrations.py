"""The schema, as numbered steps. A step that has been released is never changed: add one.

Each step runs in one transaction together with the line that says it has run, so a process that
dies in between leaves the schema as it was. sqlite-utils has migrations from version 4 on; these
few lines work with 3.38 too.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .queries import transaction

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x76444F43
"""`vDOC`, in the header of the file: tells a store from another program's database."""

_FIRST = (
    f"PRAGMA application_id = {APPLICATION_ID}",
    """
    CREATE TABLE migrations (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      applied_at REAL NOT NULL
    )
    """,
    """
    CREATE TABLE runs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      folder TEXT NOT NULL,
      host TEXT NOT NULL,
      started_at REAL,
      ended_at REAL,
      verdict TEXT NOT NULL,
      phase TEXT NOT NULL,
      step INTEGER,
      overrides TEXT NOT NULL,      -- JSON list
      rules_version TEXT NOT NULL,
      recorded_at REAL NOT NULL,
      updated_at REAL NOT NULL
    )
    """,
    """
    CREATE TABLE logs (
      run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
      key TEXT NOT NULL,            -- digest of the absolute path, which itself is kept masked
      path TEXT NOT NULL,
      lines INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      head TEXT NOT NULL,           -- digest of the first head_bytes bytes; empty: not readable
      head_bytes INTEGER NOT NULL,
      PRIMARY KEY (run, key)
    )
    """,
    "CREATE INDEX logs_key ON logs(key)",
    """
    CREATE TABLE incidents (
      fingerprint TEXT PRIMARY KEY NOT NULL,
      number INTEGER NOT NULL UNIQUE,
      rule TEXT,
      slug TEXT NOT NULL,
      title TEXT NOT NULL,
      severity TEXT NOT NULL,
      state TEXT NOT NULL DEFAULT 'new'
        CHECK (state IN ('new', 'acknowledged', 'resolved', 'regressed')),
      fix TEXT NOT NULL DEFAULT '', -- what resolved it
      resolved_at REAL,
      first_seen_at REAL NOT NULL,
      last_seen_at REAL NOT NULL,
      runs INTEGER NOT NULL DEFAULT 0,
      occurrences INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX incidents_last_seen ON incidents(last_seen_at)",
    """
    CREATE TABLE occurrences (
      id INTEGER PRIMARY KEY,
      fingerprint TEXT NOT NULL REFERENCES incidents(fingerprint) ON DELETE CASCADE,
      run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
      role TEXT NOT NULL,
      severity TEXT NOT NULL,
      confidence TEXT NOT NULL,
      cause TEXT NOT NULL,
      phase TEXT NOT NULL,
      count INTEGER NOT NULL,
      workers TEXT NOT NULL,        -- JSON list
      first_line INTEGER NOT NULL,
      last_line INTEGER NOT NULL,
      first_seen_at REAL NOT NULL,
      last_seen_at REAL NOT NULL,
      UNIQUE (fingerprint, run)
    )
    """,
    "CREATE INDEX occurrences_run ON occurrences(run)",
    """
    CREATE TABLE evidence (
      occurrence INTEGER NOT NULL REFERENCES occurrences(id) ON DELETE CASCADE,
      position INTEGER NOT NULL,    -- 0: the decisive line
      path TEXT NOT NULL,
      line INTEGER NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (occurrence, position)
    )
    """,
)

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (("first tables", _FIRST),)
"""Name and statements of each step; its number is its place, counted from 1."""


def version(db: Database) -> int:
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
