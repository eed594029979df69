"""What all statements are made with: transactions, rows, insertion."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = Mapping[str, Any]


class Readable(Protocol):
    """What answers a query with rows: sqlite-utils' Database, or `db.Glance`."""

    def query(self, sql: str, params: dict[str, Any] | None = None) -> Iterable[dict[str, Any]]:
        """The rows of a statement, with its named values if it has some."""


@contextmanager
def transaction(db: Database) -> Iterator[None]:
    """One transaction around the block; an exception undoes it.

    IMMEDIATE takes the write lock at the start: two writers that had both read first could
    otherwise only be told apart by failing one of them.
    """
    _begin(db.conn)
    try:
        yield
    except BaseException:
        if db.conn.in_transaction:  # a full disk ends the transaction by itself
            db.conn.execute("ROLLBACK")
        raise
    try:
        db.conn.execute("COMMIT")
    except BaseException:
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
        raise


def _begin(connection: sqlite3.Connection) -> None:
    """Takes the write lock, waiting for other writers as long as the connection is set to.

    SQLite's own waiting asks every 100 ms: among eight busy writers one can ask in vain for long.
    """
    wait_ms = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    deadline = time.monotonic() + wait_ms / 1000
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(0.001, 0.01))
    finally:
        connection.execute(f"PRAGMA busy_timeout = {wait_ms}")


def rows(db: Readable, sql: str, values: Mapping[str, Any]) -> list[Row]:
    """The rows of a statement with named values."""
    return list(db.query(sql, dict(values)))


def insert(db: Database, table: str, row: Row) -> int:
    """Adds a row to a table and returns its rowid."""
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    cursor = db.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", dict(row))
    return cursor.lastrowid or 0
