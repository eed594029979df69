"""Incidents that are like another one: of the same rule, or said in much the same words."""

from __future__ import annotations

import os
import time
from pathlib import Path

from .. import lazy
from . import db as files
from .read import incident_of
from .sql import read as sql
from .types import Similar

LEAST = 0.25
"""Share of common words below which two incidents of different rules have nothing in common."""
_WORD = lazy.compile(r"[A-Za-z_]{3,}|[\u3400-\u9fff]")


def similar(
    fingerprint: str, *, limit: int = 5, db_path: Path | None = None
) -> tuple[Similar, ...]:
    """The incidents most like one: those of its rule first, then by the words they share.

    Takes a whole fingerprint, the most incidents to return and the database file (default:
    `default_path()`); an unknown fingerprint is like nothing. Raises StoreError if the store can't
    be read.
    """
    path = files.located(db_path)
    if not os.path.lexists(path):
        return ()
    with files.connect(path) as db:
        now = time.time()
        one = sql.incident(db, fingerprint, now)
        if one is None:
            return ()
        words = _words(one["title"], sql.decisive_line(db, fingerprint))
        any_word = " OR ".join(f'"{word}"' for word in sorted(words)) or '""'
        found = [
            Similar(
                incident_of(row),
                row["rule"] is not None and row["rule"] == one["rule"],
                _shared(words, _words(row["title"], row["line"])),
            )
            for row in sql.candidates(db, fingerprint, any_word, now)
        ]
    found = [other for other in found if other.same_rule or other.score >= LEAST]
    found.sort(key=lambda other: (not other.same_rule, -other.score, -other.incident.last_seen_at))
    return tuple(found[:limit])


def _words(*texts: str) -> set[str]:
    """The words of texts, without the numbers that tell one run from another."""
    return {word.lower() for text in texts for word in _WORD.findall(text)}


def _shared(some: set[str], others: set[str]) -> float:
    return len(some & others) / len(some | others) if some or others else 0.0
