"""A store as JSON lines, and the way back: two stores become one.

The first line says what it is; then come runs, incidents, and what incidents were seen in which
runs. Taking in the same lines twice changes nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import StoreError
from ..logs.json_text import json_text
from ..logs.text import visible
from . import db as files
from .kept import kept
from .sql import record as write
from .sql import transfer as sql
from .sql.base import Row, transaction
from .types import LATEST

if TYPE_CHECKING:
    from sqlite_utils import Database

FORMAT = 1
MAX_WHY = 300
_CHILDREN = {
    "run": (("logs", "run", "rowid"), ("messages", "run", "rowid")),
    "incident": (
        ("resolutions", "fingerprint", "resolved_at"),
        ("notes", "fingerprint", "written_at"),
        ("tags", "fingerprint", "tag"),
    ),
    "occurrence": (("evidence", "occurrence", "position"),),
}
"""For each kind of line: tables of which it holds rows, the column that names it, their order."""
_TABLES = {"run": "runs", "incident": "incidents", "occurrence": "occurrences"}
_LISTS, _PAIRS = ("overrides", "workers"), ("versions", "captures")
"""Columns that hold JSON, of texts alone: masked piece by piece, so that they stay JSON."""
_WRONG = (
    ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
    sqlite3.IntegrityError,
)  # fmt: skip
"""What a line may raise that is none of ours."""
_SAID = (
    "state", "fix", "resolved_at", "changed_at", "muted_at", "muted_until", "mute_reason",
    "muted_runs", "muted_occurrences",
)  # fmt: skip
"""Columns that a person decides: of two stores, those that were changed last stand."""


class Merged(NamedTuple):
    """What `take_in` added; what was known is not counted."""

    runs: int
    incidents: int
    occurrences: int


def export(*, db_path: Path | None = None) -> Iterator[str]:
    """The store as lines of JSON, each with its newline.

    Takes the database file (default: `default_path()`); a store that does not exist is an empty
    one. Raises StoreError if the store can't be read.
    """
    path = files.located(db_path)
    yield json_text({"type": "store", "format": FORMAT})
    if not os.path.lexists(path):
        return
    with files.connect(path) as db:
        db.execute("BEGIN")  # one moment of the store, whoever writes meanwhile
        uids = {}
        for row in sql.all_of(db, "runs", "id"):
            uids[row["id"]] = row["uid"]
            yield json_text(_packed(db, "run", row, row["id"], without=("id",)))
        for row in sql.all_of(db, "incidents", "number"):
            yield json_text(_packed(db, "incident", row, row["fingerprint"], without=("number",)))
        for row in sql.all_of(db, "occurrences", "id"):
            packed = _packed(db, "occurrence", row, row["id"], without=("id",))
            yield json_text({**packed, "run": uids[row["run"]]})
        db.execute("ROLLBACK")


def _packed(
    db: Database, kind: str, row: Row, key: object, without: tuple[str, ...]
) -> dict[str, Any]:
    packed = {"type": kind, **{name: row[name] for name in row if name not in without}}
    for table, column, order in _CHILDREN[kind]:
        packed[table] = [
            {name: value for name, value in child.items() if name not in (column, "id")}
            for child in sql.children(db, table, column, key, order)
        ]
    return packed


def take_in(lines: Iterable[str], *, db_path: Path | None = None) -> Merged:
    """Adds what `export` gave to a store, which is created if it is missing.

    Of a run or an incident that both know, the later version stands; notes, tags and fixes of both
    are kept. Everything is masked once more. Takes the lines and the database file (default:
    `default_path()`). Returns what was added. Raises StoreError for lines of another kind, naming
    the line; nothing is written then.
    """
    path = files.located(db_path)
    files.create(path)
    with files.connect(path) as db, transaction(db):
        taker = _Taker(db)
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            try:
                taker.take(json.loads(text))
            except _WRONG as error:
                why = visible(str(error), MAX_WHY)
                raise StoreError(
                    f"line {number} is none that `verl-doctor incidents export` writes ({why}); "
                    "nothing was imported"
                ) from error
        taker.finish()
    return Merged(taker.runs, taker.incidents, taker.occurrences)


def merge(other: Path, *, db_path: Path | None = None) -> Merged:
    """Adds what another store holds; see `take_in`. Raises StoreError if `other` can't be read."""
    if not os.path.lexists(other):
        raise StoreError(f"{other}: no such file. Name the other incidents.db")
    return take_in(export(db_path=other), db_path=db_path)


class _Taker:
    """Takes in one line after the other."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._columns = {
            table: sql.columns(db, table)
            for kind, below in _CHILDREN.items()
            for table in (_TABLES[kind], *(name for name, _, _ in below))
        }
        self._begun = False
        self._runs: dict[str, int] = {}
        """Uid in the lines -> id here."""
        self._replaced: set[int] = set()
        """Runs of which the lines hold the later version."""
        self._touched: set[str] = set()
        self.runs = self.incidents = self.occurrences = 0

    def take(self, value: dict[str, Any]) -> None:
        """Takes in what one line holds. Raises what _WRONG lists."""
        kind = value.pop("type")
        if kind == "store":
            if value["format"] != FORMAT:
                raise ValueError(f"format {value['format']}, this verl-doctor reads {FORMAT}")
            self._begun = True
            return
        if not self._begun:
            raise ValueError("the first line has to say what this is")
        below = {table: value.pop(table) for table, _, _ in _CHILDREN[kind]}
        below = {table: [self._clean(table, row) for row in rows] for table, rows in below.items()}
        if kind == "occurrence":
            value["run"] = self._runs[value["run"]]
        row = self._clean(_TABLES[kind], value)
        {"run": self._run, "incident": self._incident, "occurrence": self._occurrence}[kind](
            row, below
        )

    def finish(self) -> None:
        """Brings counts, states and the index in line with what has been taken in."""
        write.recount(self._db, self._touched)
        sql.regress(self._db, self._touched)
        write.index_words(self._db, self._touched)

    def _clean(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        """The row masked. Raises ValueError for a column that the table does not have, or a value
        of another type than the column's."""
        columns = self._columns[table]
        unknown = set(row) - set(columns)
        if unknown:
            raise ValueError(f"unknown {', '.join(sorted(unknown))}: from a newer verl-doctor?")
        for name, value in row.items():
            is_time = columns[name] is float
            wanted = (int, float) if is_time else (columns[name],)
            if value is not None and type(value) not in wanted:
                raise ValueError(f"{name} is {value!r}")
            if is_time and value is not None and not 0 <= value <= LATEST:
                raise ValueError(f"{name} is no time: {value}")
        return {name: _masked(name, value) for name, value in row.items()}

    def _run(self, row: dict[str, Any], below: dict[str, list[dict[str, Any]]]) -> None:
        uid = row["uid"]
        here = self._known_run(uid, below["logs"])
        newer = here is None or row["updated_at"] > write.run(self._db, here)["updated_at"]
        if here is None:
            here = write.insert_run(self._db, row)
            self.runs += 1
        elif newer:
            write.update_run(self._db, here, {key: row[key] for key in row if key != "uid"})
        self._runs[uid] = here
        if newer:
            self._replaced.add(here)
            write.replace_logs(self._db, here, below["logs"])
            write.replace_messages(self._db, here, below["messages"])

    def _known_run(self, uid: str, logs: list[dict[str, Any]]) -> int | None:
        """The run here that is this one: of the same uid, or with the very same logs."""
        known = sql.run_by_uid(self._db, uid)
        if known is not None:
            return int(known["id"])
        same = [set(sql.runs_by_log(self._db, log["key"], log["head"])) for log in logs]
        both = set.intersection(*same) if same else set()
        return min(both, default=None)

    def _incident(self, row: dict[str, Any], below: dict[str, list[dict[str, Any]]]) -> None:
        fingerprint = row["fingerprint"]
        known = sql.incident(self._db, fingerprint)
        if known is None:
            write.insert_incident(self._db, row)
            self.incidents += 1
        else:
            names: set[str] = set()
            if (row["changed_at"] or 0) > (known["changed_at"] or 0):
                names |= set(_SAID)
            if row["last_seen_at"] > known["last_seen_at"]:
                names |= {"rule", "slug", "title", "severity", "captures"}
            if names:
                write.set_columns(self._db, fingerprint, {name: row[name] for name in names})
        for table, rows in below.items():
            for child in rows:
                sql.add(self._db, table, {"fingerprint": fingerprint, **child})
        self._touched.add(fingerprint)

    def _occurrence(self, row: dict[str, Any], below: dict[str, list[dict[str, Any]]]) -> None:
        fingerprint = row["fingerprint"]
        known = sql.occurs(self._db, fingerprint, row["run"])
        self.occurrences += not known
        if known and row["run"] not in self._replaced:
            return
        number = write.upsert_occurrence(self._db, row)
        evidence = [(one["path"], one["line"], one["text"]) for one in below["evidence"]]
        write.replace_evidence(self._db, number, evidence)
        self._touched.add(fingerprint)


def _masked(name: str, value: Any) -> Any:
    """The value of a column, masked. Raises ValueError for JSON of another shape."""
    if name in _LISTS:
        parts = json.loads(value)
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise ValueError(f"{name} is no list of texts")
        return json.dumps([kept(part) for part in parts], ensure_ascii=False)
    if name in _PAIRS:
        pairs = json.loads(value)
        if not isinstance(pairs, dict) or not all(isinstance(one, str) for one in pairs.values()):
            raise ValueError(f"{name} does not map names to texts")
        masked = {kept(key): kept(text) for key, text in pairs.items()}
        return json.dumps(masked, ensure_ascii=False)
    return kept(value) if isinstance(value, str) else value
