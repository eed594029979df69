"""Opens the store: where it lies, who may read it, and what to say when that fails."""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from ..settings.places import ELSEWHERE, store_path
from . import migrations
from .opening import open_file, set_journal
from .schema import APPLICATION_ID, COMPUTING
from .sql.base import Readable
from .trouble import explained

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_SECONDS = 20.0
"""How long a writer waits for another one."""
GLANCE_SECONDS = 0.5
"""How long a report waits for what is known of its findings."""


def located(db_path: Path | None) -> Path:
    """The absolute path of the database that a caller named, or of the default one."""
    return store_path() if db_path is None else Path(os.path.abspath(db_path))


def create(path: Path) -> bool:
    """Creates an empty file that only its owner may read, and the missing folders above it.

    Takes the path of the database; returns whether the file was created by this call. Raises
    StoreError if the place can't be written.
    """
    try:
        for folder in reversed((path.parent, *path.parent.parents)):
            if not folder.exists():
                try:
                    folder.mkdir(mode=0o700)
                except FileExistsError:  # another process was faster
                    continue
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        where = shlex.quote(str(path.parent))
        raise StoreError(
            f"{path}: the incident store can't be created: {error.strerror}. "
            f"See `ls -ld {where}`, {ELSEWHERE}"
        ) from error
    return True


class Glance:
    """A store that is only read: without sqlite-utils, whose import takes 100 ms."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def query(self, sql: str, params: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """The rows of a statement with named values."""
        cursor = self._connection.execute(sql, params or {})
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)


@contextmanager
def glance(path: Path) -> Iterator[Glance]:
    """The store for reading before a report is printed: quick to open, and soon given up.

    Takes the path of an existing file. A store of an older schema is migrated first. Raises
    StoreError as `connect` does, and waits no longer than GLANCE_SECONDS for another process.
    """
    with explained(path), closing(_open(path, GLANCE_SECONDS)) as connection:
        db = Glance(connection)
        outdated = not _is_current(db, path)
        if not outdated:
            yield db
    if outdated:
        with connect(path):
            pass
        with glance(path) as db:
            yield db


@contextmanager
def connect(path: Path) -> Iterator[Database]:
    """The store, migrated and ready; closed at the end of the `with` block.

    Takes the path of an existing file (`create` makes one). A file or folder that can't be
    written is opened for reading. Raises StoreError, also for SQLite's errors inside the block: it
    says what is wrong with which file and what to type next.
    """
    from sqlite_utils import Database

    with explained(path), closing(_open(path, BUSY_SECONDS)) as connection:
        db = Database(connection, execute_plugins=False)
        current = _is_current(db, path)
        set_journal(connection, path, BUSY_SECONDS)
        if not current:
            migrations.migrate(db)
        yield db


def _open(path: Path, wait: float) -> sqlite3.Connection:
    """Opens the file. Raises StoreError where somebody else may have put it there: in a folder
    that everyone can write to (/tmp) it has to be a plain file of ours, or root's."""
    if path.parent.stat().st_mode & stat.S_IWOTH:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.geteuid()):
            raise StoreError(
                f"{path}: left untouched: everyone can write to that folder, and the file is a "
                f"link or another user's. {ELSEWHERE[0].upper()}{ELSEWHERE[1:]}"
            )
    return open_file(path, wait)


def _is_current(db: Readable, path: Path) -> bool:
    """Whether the schema is this program's. Raises StoreError for a newer one, and for the
    database of another program."""
    _check_owner(db, path)
    known, found = len(migrations.MIGRATIONS), migrations.version(db)
    if found > known:
        raise StoreError(
            f"{path}: written by a newer verl-doctor (schema {found}, this one knows {known}). "
            f"Upgrade: pip install -U verl-doctor, {ELSEWHERE}"
        )
    return found == known


def _check_owner(db: Readable, path: Path) -> None:
    """Refuses the database of another program before a table is added to it."""
    # This order: a store that another process creates in between has its id with its first table.
    tables = next(iter(db.query("SELECT count(*) AS n FROM sqlite_master")))["n"]
    owner = next(iter(db.query("PRAGMA application_id")))["application_id"]

    strange = next(iter(db.query(COMPUTING)))["n"]
    if tables and (owner != APPLICATION_ID or strange):
        raise StoreError(
            f"{path}: a SQLite database of another program, left untouched. "
            "Name another file: export VERL_DOCTOR_DB=/path/incidents.db"
        )
