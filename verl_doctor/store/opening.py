"""Opens SQLite files: read-only ones, ones on network file systems, ones that are in use."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from .. import lazy

_NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "9p", "fuse.")
_HAN = lazy.compile("[\u3400-\u9fff\uf900-\ufaff]")


def open_file(path: Path, wait: float) -> sqlite3.Connection:
    """A connection to an existing file; to one that can't be written, for reading.

    Takes the path, and how many seconds to wait for another process. Errors: sqlite3.Error.
    """
    uri = path.absolute().as_uri()
    connection = _connect(f"{uri}?mode=rw", wait)
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
        return _connect(f"{uri}?mode=ro&immutable=1", wait)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(uri: str, wait: float) -> sqlite3.Connection:
    # isolation_level None: transactions begin and end where sql.base.transaction says, nowhere else
    connection = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None)
    connection.create_function("spaced", 1, spaced, deterministic=True)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def spaced(text: str) -> str:
    """The text with its Chinese characters set apart, as they are indexed and searched: SQLite
    takes a sentence without spaces for one word."""
    return text if text.isascii() else _HAN.sub(r" \g<0> ", text)


def set_journal(connection: sqlite3.Connection, path: Path, wait: float) -> None:
    """WAL, so that readers and a writer don't wait for each other.

    Not on a network file system, whose hosts share no memory: there WAL can destroy the file.
    SQLite does not wait for a lock when the mode changes, so the waiting is done here.
    """
    mode = "delete" if _on_network(path) else "wal"
    deadline = time.monotonic() + wait
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
