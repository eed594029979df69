"""What people say about an incident: that they know it, what resolved it, that it is to be quiet.

Each function takes a whole fingerprint (`find` gives it) and the database file (default:
`default_path()`), and writes in one transaction. Each raises StoreError if the store has no such
incident or can't be written, and if what it was given makes no sense; nothing is written then.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StoreError
from . import db as files
from .kept import kept
from .read import incident_of
from .sql import change as sql
from .sql import read
from .sql.base import transaction
from .sql.record import index_words, set_columns
from .types import LATEST, Incident, Note

if TYPE_CHECKING:
    from sqlite_utils import Database


def acknowledge(fingerprint: str, *, db_path: Path | None = None) -> Incident:
    """Says that somebody knows of a new or regressed incident, and returns it as it now is."""
    with _change(fingerprint, db_path) as (db, one):
        if one.state == "resolved":
            raise StoreError(
                f"incident #{one.number} is resolved. To take that back: "
                f"verl-doctor incidents reopen {one.number}"
            )
        set_columns(db, fingerprint, {"state": "acknowledged", "changed_at": time.time()})
        return _now(db, fingerprint)


def resolve(fingerprint: str, fix: str, *, db_path: Path | None = None) -> Incident:
    """Says what made an incident go away, and returns it as it now is.

    Takes the fix in words. If a run that ends later shows
    the incident again, it becomes `regressed`.
    """
    fix = _worded(fix, "what fixed it", "resolve", '--fix "smaller batch"')
    with _change(fingerprint, db_path) as (db, _):
        now = time.time()
        sql.add_resolution(db, {"fingerprint": fingerprint, "fix": fix, "resolved_at": now})
        row = {"state": "resolved", "fix": fix, "resolved_at": now, "changed_at": now}
        set_columns(db, fingerprint, row)
        return _now(db, fingerprint)


def reopen(fingerprint: str, *, db_path: Path | None = None) -> Incident:
    """Makes an incident new again, and returns it.

    Of one that was resolved the fix is taken back: it did not work. Of one that has regressed it
    stays on record: it did work for a time.
    """
    with _change(fingerprint, db_path) as (db, one):
        if one.state == "resolved":
            sql.withdraw_resolution(db, fingerprint)
        row = {"state": "new", "resolved_at": None, "changed_at": time.time()}
        set_columns(db, fingerprint, row)
        return _now(db, fingerprint)


def mute(
    fingerprint: str, reason: str, *, until: float | None = None, db_path: Path | None = None
) -> Incident:
    """Leaves an incident out of reports, and returns it as it now is.

    Takes the reason, and the time at which the mute ends (seconds since the epoch; None: no time).
    It ends earlier by itself when the incident has been seen in more than WAKE_RUNS times the runs
    it has now, was printed more than WAKE_OCCURRENCES times as often, or regresses.
    """
    reason = _worded(reason, "the reason", "mute", '--reason "known, harmless"')
    now = time.time()
    if until is not None and not now < until <= LATEST:
        raise StoreError("a mute has to end in the future, before the year 9892: --until 7d")
    with _change(fingerprint, db_path) as (db, _):
        row = {"muted_at": now, "muted_until": until, "mute_reason": reason, "changed_at": now}
        sql.mute(db, fingerprint, row)
        return _now(db, fingerprint)


def unmute(fingerprint: str, *, db_path: Path | None = None) -> Incident:
    """Ends a mute, and returns the incident as it now is."""
    with _change(fingerprint, db_path) as (db, _):
        row = {"muted_at": None, "muted_until": None, "mute_reason": "", "changed_at": time.time()}
        set_columns(db, fingerprint, row)
        return _now(db, fingerprint)


def add_note(fingerprint: str, text: str, *, db_path: Path | None = None) -> Note:
    """Keeps what somebody has to say about an incident, masked, and returns the note."""
    text = _worded(text, "the text", "note", '"seen on node 7 only"')
    with _change(fingerprint, db_path) as (db, _):
        now = time.time()
        row = {"fingerprint": fingerprint, "text": text, "written_at": now}
        number = sql.add_note(db, row)
        index_words(db, [fingerprint])
        return Note(number, fingerprint, text, now)


def tag(
    fingerprint: str,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    *,
    db_path: Path | None = None,
) -> tuple[str, ...]:
    """Takes tags off an incident, then puts others on; returns those it now has, sorted.

    A tag is one word; case doesn't count.
    """
    added, removed = ([_tag(one) for one in tags] for tags in (add, remove))
    with _change(fingerprint, db_path) as (db, _):
        sql.set_tags(db, fingerprint, added, removed)
        return _now(db, fingerprint).tags


def _worded(text: str, what: str, verb: str, example: str) -> str:
    text = kept(text.strip())
    if not text:
        raise StoreError(f"{what} is missing, e.g. verl-doctor incidents {verb} 3 {example}")
    return text


def _tag(text: str) -> str:
    tag = kept(text.strip()).lower()
    if not tag or len(tag) > 64 or len(tag.split()) != 1:
        raise StoreError(f"{text!r} is no tag: one word of at most 64 characters, e.g. node-7")
    return tag


@contextmanager
def _change(fingerprint: str, db_path: Path | None) -> Iterator[tuple[Database, Incident]]:
    """The store in a transaction, and the incident as it was."""
    path = files.located(db_path)
    missing = StoreError(f"{path}: no incident {fingerprint!r}. See `verl-doctor incidents list`")
    if not os.path.lexists(path):
        raise missing
    with files.connect(path) as db, transaction(db):
        row = read.incident(db, fingerprint, time.time())
        if row is None:
            raise missing
        yield db, incident_of(row)


def _now(db: Database, fingerprint: str) -> Incident:
    index_words(db, [fingerprint])
    row = read.incident(db, fingerprint, time.time())
    assert row is not None
    return incident_of(row)
