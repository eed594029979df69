"""What all statements are made with: transactions, rows, insertion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = Mapping[str, Any]


@contextmanager
def transaction(db: Database) -> Iterator[None]:
    """One transaction around the block; an exception undoes it.

    IMMEDIATE takes the write lock at the start: two writers that had both read first could
    otherwise only be told apart by failing one of them.
    """
    db.conn.execute("BEGIN IMMEDIATE")
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


def rows(db: Database, sql: str, values: Mapping[str, Any]) -> list[Row]:
    """The rows of a statement with named values."""
    return list(db.query(sql, dict(values)))


def insert(db: Database, table: str, row: Row) -> int:
    """Adds a row to a table and returns its rowid."""
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    cursor = db.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", dict(row))
    return cursor.lastrowid or 0
