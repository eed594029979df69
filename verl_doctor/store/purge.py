"""Deletes from the store, so that the text is gone from the file too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from . import db as files
from .sql import transfer as sql
from .sql.base import transaction
from .sql.record import index_words, recount


class Purged(NamedTuple):
    """What `purge` deleted."""

    runs: int
    incidents: int


def purge(
    fingerprints: Sequence[str] = (),
    *,
    before: float | None = None,
    everything: bool = False,
    db_path: Path | None = None,
) -> Purged:
    """Deletes incidents, runs that ended before a time, or all there is.

    Takes whole fingerprints (unknown ones are passed over), a time in seconds since the epoch, and
    the database file (default: `default_path()`). With its last run an incident goes too, unless
    somebody has written something about it: that is kept, out of sight, until it comes back.
    Returns how much was deleted. Raises StoreError if the store can't be written; nothing is
    deleted then.
    """
    path = files.located(db_path)
    if not os.path.lexists(path):
        return Purged(0, 0)
    with files.connect(path) as db:
        db.execute("PRAGMA secure_delete = ON")
        with transaction(db):
            sql.remember_numbers(db)
            runs, incidents = sql.all_ids(db)
            if not everything:
                runs = sql.old_runs(db, before) if before is not None else []
                incidents = [one for one in fingerprints if one in set(incidents)]
            touched = sql.fingerprints_of(db, runs)
            sql.delete_runs(db, runs)
            sql.delete_incidents(db, incidents)
            if runs:
                idle = sql.untouched(db)
                sql.delete_incidents(db, idle)
                incidents += idle
            recount(db, touched)
            index_words(db, touched)
            sql.rebuild_words(db)
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return Purged(len(runs), len(incidents))
