"""What to say when the store fails, and what to type next."""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import StoreError
from ..settings.places import ELSEWHERE


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns SQLite's errors, and a path that is no file, into StoreError."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise StoreError(
                f"{path}: not a file, so no incident store; choose another path, {ELSEWHERE}"
            )
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}. Check the path, {ELSEWHERE}") from error
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(explain(error, path)) from error


def explain(error: sqlite3.Error, path: Path) -> str:
    """One line for a person: what SQLite ran into, and what to type next.

    Takes the error and the database's path. SQLite's error codes reached Python in 3.11, so its
    English sentences are read instead.
    """
    text = str(error).lower()
    file, folder = shlex.quote(str(path)), shlex.quote(str(path.parent))
    if "locked" in text or "busy" in text:
        return (
            f"{path}: another process keeps the incident store locked. Run again; "
            f"`fuser -v {file}` shows which one"
        )
    if "readonly" in text or "read-only" in text:
        return (
            f"{path}: the incident store is read-only. chmod u+w {file} and its folder, {ELSEWHERE}"
        )
    if "full" in text:
        return f"{path}: the disk is full. Make room (`df -h {folder}`), {ELSEWHERE}"
    if "no such module: fts5" in text:
        return (
            f"{path}: the SQLite of this Python has no full-text search (FTS5). "
            "Use a Python from python.org, conda or uv, or go on with --no-record"
        )
    if any(word in text for word in ("malformed", "not a database", "corrupt", "no such")):
        return (
            f"{path}: the incident store is damaged ({error}). Move it away and a new one is made: "
            f"mv {file} {shlex.quote(f'{path}.broken')}"
        )
    if "unable to open" in text or "permission" in text:
        return f"{path}: the incident store can't be opened. See `ls -l {file}`, {ELSEWHERE}"
    if "disk i/o" in text:
        return (
            f"{path}: the file system failed (quota, network mount or a broken disk). "
            f"See `df -h {folder}`, {ELSEWHERE}"
        )
    return f"{path}: the incident store failed ({error}). Run again, {ELSEWHERE}"
