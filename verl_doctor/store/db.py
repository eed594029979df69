"""Opens the store: where it lies, who may read it, and what to say when that fails."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StoreError

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_SECONDS = 10.0
"""How long a writer waits for another one."""
_NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "9p", "fuse.")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_ELSEWHERE = "or keep incidents elsewhere: export VERL_DOCTOR_DB=/path/incidents.db"


def default_path() -> Path:
    """Where the store lies: `$VERL_DOCTOR_DB`, else `$XDG_STATE_HOME/verl-doctor/incidents.db`,
    else below `~/.local/state`. Raises StoreError if there is no home folder."""
    chosen = os.environ.get("VERL_DOCTOR_DB")
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    state = os.environ.get("XDG_STATE_HOME", "")
    try:
        # the XDG specification: a relative folder is to be ignored
        base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise StoreError(f"no home folder to keep incidents in; {_ELSEWHERE}") from error
    return base / "verl-doctor" / "incidents.db"


def located(db_path: Path | None) -> Path:
    """The absolute path of the database that a caller named, or of the default one."""
    return default_path() if db_path is None else Path(os.path.abspath(db_path))


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
            f"See `ls -ld {where}`, {_ELSEWHERE}"
        ) from error
    return True


@contextmanager
def connect(path: Path) -> Iterator[Database]:
    """The store, migrated and ready; closed at the end of the `with` block.

    Takes the path of an existing file (`create` makes one). A file or folder that can't be
    written is opened for reading. Raises StoreError, also for SQLite's errors inside the block: it
    says what is wrong with which file and what to type next.
    """
    from sqlite_utils import Database

    from . import migrations

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise StoreError(
                f"{path}: not a file, so no incident store; choose another path, {_ELSEWHERE}"
            )
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}. Check the path, {_ELSEWHERE}") from error
    connection: sqlite3.Connection | None = None
    try:
        connection = _open(path)
        db = Database(connection, execute_plugins=False)
        _check_owner(db, path)
        known = len(migrations.MIGRATIONS)
        found = migrations.version(db)
        if found > known:
            raise StoreError(
                f"{path}: written by a newer verl-doctor (schema {found}, this one knows {known}). "
                f"Upgrade: pip install -U verl-doctor, {_ELSEWHERE}"
            )
        if found < known:
            migrations.migrate(db)
        yield db
    except sqlite3.Error as error:
        raise StoreError(explain(error, path)) from error
    finally:
        if connection is not None:
            connection.close()


def _open(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    connection = _connect(f"{uri}?mode=rw")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        # In a folder without write permission WAL has no place for its shared memory. Where no
        # log file waits beside it, the database alone is complete and can be read as it is.
        refused = "unable to open" in str(error) or "readonly" in str(error)
        log = Path(f"{path}-wal")
        if not refused or (log.exists() and log.stat().st_size):
            raise
        return _connect(f"{uri}?mode=ro&immutable=1")
    except BaseException:
        connection.close()
        raise
    try:
        _set_journal(connection, path)
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(uri: str) -> sqlite3.Connection:
    # isolation_level None: transactions begin and end where sql.base.transaction says, nowhere else
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.create_function("spaced", 1, spaced, deterministic=True)
    return connection


def spaced(text: str) -> str:
    """The text with its Chinese characters set apart, as they are indexed and searched: SQLite
    takes a sentence without spaces for one word."""
    return _HAN.sub(r" \g<0> ", text)


def _set_journal(connection: sqlite3.Connection, path: Path) -> None:
    """WAL, so that readers and a writer don't wait for each other.

    Not on a network file system, whose hosts share no memory: there WAL can destroy the file.
    SQLite does not wait for a lock when the mode changes, so the waiting is done here.
    """
    mode = "delete" if _on_network(path) else "wal"
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] == mode:
                return
            connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()
            return
        except sqlite3.OperationalError as error:
            if "readonly" in str(error):
                return
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _on_network(path: Path) -> bool:
    """Whether the file lies on a network file system, as far as Linux says."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return False
    real = os.path.realpath(path)
    best, kind = "", ""
    for mount in mounts:
        point = mount[0].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, mount[1]
    return kind.startswith(_NETWORK)


def _check_owner(db: Database, path: Path) -> None:
    """Refuses the database of another program before a table is added to it."""
    # This order: a store that another process creates in between has its id with its first table.
    tables = next(iter(db.query("SELECT count(*) AS n FROM sqlite_master")))["n"]
    owner = next(iter(db.query("PRAGMA application_id")))["application_id"]
    from .schema import APPLICATION_ID

    if tables and owner != APPLICATION_ID:
        raise StoreError(
            f"{path}: a SQLite database of another program, left untouched. "
            "Name another file: export VERL_DOCTOR_DB=/path/incidents.db"
        )


def explain(error: sqlite3.Error, path: Path) -> str:
    """One line for a person: what SQLite ran into, and what to type next.

    Takes the error and the database's path. SQLite's error codes reached Python in 3.11, so its
    English sentences are read instead.
    """
    text = str(error).lower()
    file, folder = shlex.quote(str(path)), shlex.quote(str(path.parent))
    if "locked" in text or "busy" in text:
        return (
            f"{path}: another process has kept the incident store locked for "
            f"{BUSY_SECONDS:g} seconds. Run again; `fuser -v {file}` shows which one"
        )
    if "readonly" in text or "read-only" in text:
        return (
            f"{path}: the incident store is read-only. "
            f"chmod u+w {file} and its folder, {_ELSEWHERE}"
        )
    if "full" in text:
        return f"{path}: the disk is full. Make room (`df -h {folder}`), {_ELSEWHERE}"
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
        return f"{path}: the incident store can't be opened. See `ls -l {file}`, {_ELSEWHERE}"
    if "disk i/o" in text:
        return (
            f"{path}: the file system failed (quota, network mount or a broken disk). "
            f"See `df -h {folder}`, {_ELSEWHERE}"
        )
    return f"{path}: the incident store failed ({error}). Run again, {_ELSEWHERE}"
