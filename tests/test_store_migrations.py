"""A store of every older schema opens with all that it holds; released steps never change."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.store_samples import finding, report, sql
from verl_doctor.store import (
    acknowledge,
    find,
    history,
    incidents,
    mute,
    notes,
    occurrences,
    recall,
    record,
    resolve,
)
from verl_doctor.store.migrations import MIGRATIONS

RELEASED = (
    "3e5a405fd5ff532b",
    "8f92f16fedd10531",
    "8ba2a68d2597144e",
)
"""SHA-256 of each step's statements. A line is added with a step, and never changed."""

CONTENT = """
INSERT INTO runs (id, name, folder, host, ended_at, verdict, phase, step, overrides, rules_version,
                  recorded_at, updated_at)
VALUES (1, 'old run', '/runs/a', 'node-1', 900.0, 'failed', 'rollout', 3, '["a=1"]', '1', 950, 950);
INSERT INTO logs VALUES (1, 'key', '/runs/a/train.log', 100, 5000, '', 0);
INSERT INTO incidents (fingerprint, number, rule, slug, title, severity, state, fix, resolved_at,
                       first_seen_at, last_seen_at, runs, occurrences)
VALUES ('6f6f6d0000000000', 7, 'MEM001', 'cuda-oom', 'CUDA 显存不足', 'high', 'resolved',
        'smaller batch', 960.0, 800.0, 900.0, 1, 3);
INSERT INTO occurrences VALUES (1, '6f6f6d0000000000', 1, 'root', 'high', 'medium', 'KV cache',
                                'rollout', 3, '["rank 0"]', 12, 40, 800.0, 900.0);
INSERT INTO evidence VALUES (1, 0, 'train.log', 12, 'torch.OutOfMemoryError: CUDA');
"""
OOM = finding().fingerprint


def store_of(path: Path, steps: int) -> Path:
    """A store as the verl-doctor of that schema left it, written without this one's code."""
    with closing(sqlite3.connect(path)) as db, db:
        db.create_function("spaced", 1, lambda text: text)
        for number, (name, statements) in enumerate(MIGRATIONS[:steps], 1):
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO migrations VALUES (?, ?, 0)", (number, name))
        db.executescript(CONTENT)
    return path


@pytest.mark.parametrize("steps", range(1, len(MIGRATIONS) + 1))
def test_an_older_store_opens_with_all_it_holds(tmp_path: Path, steps: int) -> None:
    path = store_of(tmp_path / "old.db", steps)
    (one,) = incidents(db_path=path).incidents
    assert (one.number, one.state, one.fix, one.runs) == (7, "resolved", "smaller batch", 1)
    assert (one.muted, one.tags, one.captures) == (False, (), {})
    (seen,) = occurrences(OOM, db_path=path)
    assert (seen.name, seen.overrides, seen.evidence[0].line) == ("old run", ("a=1",), 12)
    if steps == 1:
        assert incidents(text="显存 outofmemory smaller", db_path=path).total == 1
        assert history([OOM], db_path=path)[OOM].worked == ("smaller batch",)
    assert sql(path, "SELECT count(*) FROM migrations") == [(len(MIGRATIONS),)]
    record(report("/b.log", finding(last_seen=2000.0), finding("next")), db_path=path)
    assert find(OOM, db_path=path)[0].state == "regressed"
    assert find("8", db_path=path)[0].fingerprint == finding("next").fingerprint
    acknowledge(OOM, db_path=path)
    resolve(OOM, "other", db_path=path)
    assert notes(OOM, db_path=path) == ()
    assert sql(path, "PRAGMA foreign_key_check") == []


def test_a_report_is_told_from_an_older_store(tmp_path: Path) -> None:
    path = store_of(tmp_path / "old.db", 1)
    seen = recall(report("/b.log", finding()), db_path=path).findings[0].history
    assert seen is not None
    assert (seen.times, seen.last_run, seen.fix) == (1, "old run", "smaller batch")


def test_every_schema_ends_alike(tmp_path: Path) -> None:
    """A migrated store has the tables, columns and views of a new one."""
    new = tmp_path / "new.db"
    record(report("/a.log", finding()), db_path=new)
    wanted = sql(new, "SELECT type, name, sql FROM sqlite_master ORDER BY name")
    for steps in range(1, len(MIGRATIONS)):
        path = store_of(tmp_path / f"{steps}.db", steps)
        incidents(db_path=path)
        assert sql(path, "SELECT type, name, sql FROM sqlite_master ORDER BY name") == wanted


def test_a_released_step_is_never_changed() -> None:
    hashes = tuple(
        hashlib.sha256(json.dumps(statements).encode()).hexdigest()[:16]
        for _, statements in MIGRATIONS
    )
    assert hashes == RELEASED


VIEWS = ("incident_list", "run_list", "occurrence_list", "fix_list")


def test_the_views_can_be_read_by_a_person(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    record(
        report("/r/a.log", finding(last_seen=1.7e9), command="python -m verl.x"),
        db_path=path,
        run_name="mine",
    )
    resolve(OOM, "smaller batch", db_path=path)
    mute(OOM, "known", until=9e9, db_path=path)
    with closing(sqlite3.connect(path)) as db:  # as datasette does, without this program's code
        db.row_factory = sqlite3.Row
        views = {view: dict(db.execute(f"SELECT * FROM {view}").fetchone()) for view in VIEWS}
    assert views["incident_list"]["last_seen"] == "2023-11-14 22:13:20"
    assert (views["incident_list"]["printed"], views["incident_list"]["muted"]) == (3, 1)
    assert views["run_list"]["root"] == "CUDA out of memory (oom)"
    assert views["run_list"]["command"] == "python -m verl.x"
    assert views["occurrence_list"]["run"] == "mine"
    assert views["occurrence_list"]["decisive_line"].startswith("[rank0] torch.OutOfMemoryError")
    assert views["fix_list"]["fix"] == "smaller batch"
