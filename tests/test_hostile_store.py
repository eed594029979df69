"""What a store, or an export of one, that a stranger made can try. docs/threats.md says which line
each test holds."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.store_samples import finding, report, sql
from tests.test_hostile_logs import ESCAPES, obeyed
from verl_doctor.cli import main
from verl_doctor.cli.incidents import transfer
from verl_doctor.errors import StoreError
from verl_doctor.logs.json_text import json_text
from verl_doctor.store import default_path, export, incidents, merge, record, take_in


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """An export: what it says first, a run, an incident, and that it was seen there."""
    path = tmp_path / "other.db"
    record(report("/a.log", finding()), db_path=path)
    return [json.loads(line) for line in export(db_path=path)]


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


HOSTILE: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "another format": lambda lines: lines[0].update(format=99),
    "no head": lambda lines: lines.pop(0),
    "a column named by SQL": lambda lines: lines[1].update({"x) VALUES (1); DROP TABLE runs;": 1}),
    "an escape as a column": lambda lines: lines[2].update({"\x1b]52;c;eA==\x07": 1}),
    "another type": lambda lines: lines[2].update(title={"a": 1}),
    "a megabyte of another type": lambda lines: lines[2].update(title=["x" * (1 << 20)]),
    "a number beyond 64 bits": lambda lines: lines[1].update(step=1 << 70),
    "a time beyond all calendars": lambda lines: lines[2].update(first_seen_at=1e300),
    "a run that was not told": lambda lines: lines[3].update(run="other"),
    "a kind that there is not": lambda lines: lines[1].update(type="sqlite_master"),
    "JSON inside that is none": lambda lines: lines[1].update(overrides="["),
    "JSON inside that is deep": lambda lines: lines[1].update(overrides=nested(100_000)),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_line_is_refused_and_nothing_is_written(
    lines: list[dict[str, Any]], change: Callable[[list[dict[str, Any]]], Any]
) -> None:
    record(report("/mine.log", finding("mine")))
    before = list(export())
    change(lines)
    with pytest.raises(StoreError, match=r"line \d .* nothing was imported") as refused:
        take_in(map(json.dumps, lines))
    assert obeyed(str(refused.value)) == []
    assert len(str(refused.value)) < 500
    assert list(export()) == before


def test_lines_that_are_nested_without_end_are_refused() -> None:
    with pytest.raises(StoreError, match="line 1 "):
        take_in([nested(200_000)])


def test_a_line_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(transfer, "MAX_LINE", 1 << 20)
    path = tmp_path / "zeros.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a hole of a terabyte
    with pytest.raises(SystemExit) as end:
        main(["incidents", "import", str(path)])
    assert end.value.code == 2
    assert "line 1 is longer than 1 MiB" in capsys.readouterr().err


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM incidents; END",
        "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) "
        "SELECT x FROM c",
        "ALTER TABLE notes ADD COLUMN big AS (hex(zeroblob(500000000)))",
    ],
    ids=["trigger", "view", "generated column"],
)
def test_a_store_that_would_compute_is_left_alone(tmp_path: Path, statement: str) -> None:
    other = tmp_path / "other.db"
    record(report("/a.log", finding()), db_path=other)
    sql(other, statement)
    with pytest.raises(StoreError, match="another program"):
        merge(other)
    assert incidents().incidents == ()


@pytest.mark.skipif(os.name != "posix", reason="links and modes")
def test_a_store_that_somebody_else_could_have_planted_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that everyone can write to, a link leads wherever its maker wants."""
    public = tmp_path / "public"
    public.mkdir()
    public.chmod(0o1777)
    victim = tmp_path / "victim.db"
    record(report("/a.log", finding()), db_path=victim)
    before = victim.read_bytes()
    (public / "incidents.db").symlink_to(victim)
    monkeypatch.setenv("VERL_DOCTOR_DB", str(public / "incidents.db"))
    for use in (lambda: record(report("/b.log", finding("b"))), incidents):
        with pytest.raises(StoreError, match="everyone can write to that folder"):
            use()
    assert victim.read_bytes() == before
    (public / "incidents.db").unlink()
    record(report("/b.log", finding("b")))
    assert default_path().stat().st_mode & 0o777 == 0o600
    if os.geteuid() == 0:
        os.chown(default_path(), 65534, 65534)
        with pytest.raises(StoreError, match="everyone can write to that folder"):
            incidents()


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_escapes_in_a_store_reach_no_output(
    escape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever wrote them there: an older version, a merged store, a person's own note."""
    escape = escape.replace("\x00", "")  # SQLite's texts end there
    record(report("/a.log", finding(title="plain")))
    with closing(sqlite3.connect(default_path())) as db, db:
        db.execute("UPDATE incidents SET title = ?, fix = ?", (f"t{escape}", f"f{escape}"))
        db.execute("UPDATE evidence SET text = ?, path = ?", (f"e{escape}", f"p{escape}"))
    for words in (
        ["list"], ["list", "--format", "json"], ["show", "1"], ["show", "1", "--format", "json"],
        ["export"],
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            main(["incidents", *words])
        captured = capsys.readouterr()
        assert "t" in captured.out
        assert obeyed(captured.out + captured.err) == [], words


def test_json_for_a_terminal_means_the_same_to_a_parser() -> None:
    texts = ["训练", *ESCAPES.values(), "\ud800", "\u2028", "\U000e0041"]
    text = json_text(texts)
    assert json.loads(text) == texts
    assert "训练" in text
    assert obeyed(text) == []
    assert sys.getsizeof(text) < 2000
