"""What goes wrong with a store, and several processes on one; each test on a real SQLite file."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.store_samples import finding, report, sql, writer
from verl_doctor.errors import StoreError
from verl_doctor.model import Evidence
from verl_doctor.store import db as files
from verl_doctor.store import history, incidents, record
from verl_doctor.store.migrations import MIGRATIONS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "verl-doctor" / "incidents.db"


# --- what goes wrong ------------------------------------------------------------------------


def both_fail(path: Path, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        record(report("/a.log", finding()), db_path=path)
    with pytest.raises(StoreError, match=words):
        incidents(db_path=path)


def test_a_newer_store_is_refused(path: Path) -> None:
    record(report("/a.log", finding()), db_path=path)
    sql(path, f"INSERT INTO migrations VALUES ({len(MIGRATIONS) + 1}, 'later', 0)")
    both_fail(path, "newer verl-doctor.*pip install -U verl-doctor")


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    sql(path, "CREATE TABLE runs (id)")
    before = path.read_bytes()
    both_fail(path, "another program")
    assert path.read_bytes()[96:] == before[96:]
    assert sql(path, "SELECT name FROM sqlite_master") == [("runs",)]


def test_a_damaged_store_says_how_to_go_on(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database, though it is long enough to be one" * 99)
    both_fail(path, "damaged.*mv .*incidents.db.broken")
    path.unlink()
    for number in range(40):
        record(report(f"/{number}.log", finding(str(number))), db_path=path)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(random.Random(1).randbytes(len(data) - 4096)))
    both_fail(path, "damaged.*mv ")
    path.write_bytes(data[: len(data) // 2])
    both_fail(path, "damaged.*mv ")


def test_no_file_at_all(tmp_path: Path) -> None:
    both_fail(tmp_path, "not a file")
    both_fail(Path("/dev/null"), "not a file")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="VERL_DOCTOR_DB"):
        record(report("/a.log", finding()), db_path=tmp_path / "file" / "x.db")
    (tmp_path / "dangling.db").symlink_to(tmp_path / "nowhere")
    both_fail(tmp_path / "dangling.db", "VERL_DOCTOR_DB")


def test_a_locked_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(report("/a.log", finding()), db_path=path)
    monkeypatch.setattr(files, "BUSY_SECONDS", 0.2)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"another process.*fuser"):
            record(report("/b.log", finding()), db_path=path)
        assert incidents(db_path=path).total == 1  # readers don't wait


def test_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(report("/a.log", finding()), db_path=path)
    open_file = files.open_file

    def small(path: Path, wait: float) -> sqlite3.Connection:
        connection = open_file(path, wait)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    large = finding("large", evidence=tuple(Evidence("a", n, "x" * 4000) for n in range(30)))
    with monkeypatch.context() as patch:
        patch.setattr(files, "open_file", small)
        with pytest.raises(StoreError, match=r"disk is full.*df -h"):
            record(report("/b.log", finding(), large), db_path=path)
    assert [one.runs for one in incidents(db_path=path).incidents] == [1]  # all or nothing


# Root may write anything, so it becomes another user, after the imports: that one may not be
# allowed to read the interpreter's folder.
READ_AS_NOBODY = """
import os, pathlib, socket, sqlite_utils, verl_doctor.store.migrations
if os.getuid() == 0: os.setuid(65534)
path = pathlib.Path(sys.argv[1])
print(incidents(db_path=path).total)
try: record(report("/b.log", finding()), db_path=path)
except Exception as error: print(type(error).__name__, error)
"""


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
@pytest.mark.parametrize("folder_mode", [0o555, 0o777], ids=["folder too", "file only"])
def test_a_read_only_store_can_be_read(folder_mode: int) -> None:
    folder = Path(tempfile.mkdtemp())  # tmp_path lies below a folder that is closed to other users
    path = folder / "incidents.db"
    try:
        record(report("/a.log", finding()), db_path=path)
        path.chmod(0o444)
        folder.chmod(folder_mode)
        out, err = writer(READ_AS_NOBODY, path).communicate(timeout=60)
        assert out.startswith("1\nStoreError"), err
        assert "read-only. chmod u+w" in out
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_a_migration_that_fails_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(report("/a.log", finding()), db_path=path)
    steps = (*MIGRATIONS, ("broken", ("CREATE TABLE half (id)", "CREATE TABLE half (id)")))
    with monkeypatch.context() as patch:
        patch.setattr("verl_doctor.store.migrations.MIGRATIONS", steps)
        with pytest.raises(StoreError, match="already exists"):
            incidents(db_path=path)
    assert sql(path, "SELECT name FROM sqlite_master WHERE name = 'half'") == []
    assert incidents(db_path=path).total == 1
    steps = (*MIGRATIONS, ("works", ("ALTER TABLE incidents ADD COLUMN more TEXT",)))
    monkeypatch.setattr("verl_doctor.store.migrations.MIGRATIONS", steps)
    assert incidents(db_path=path).total == 1
    assert sql(path, "SELECT max(id), count(*) FROM migrations") == [(len(steps), len(steps))]


# --- several processes ----------------------------------------------------------------------

WRITE = """
path, name, count = sys.argv[1:]
import pathlib
for n in range(int(count)):
    one = finding(f"{name}{n}", fingerprint=f"{name}-{n}")
    done = record(report(f"/{name}/{n}.log", one, finding("common")), db_path=pathlib.Path(path))
    print(one.fingerprint, flush=True)
"""


MANY = """
path, name = sys.argv[1:]
import pathlib
for n in range(10):
    plain = {"cause": "", "workers": (), "evidence": ()}  # masking them is most of the time
    marks = [f"{name}-{n}-{k}" for k in range(100)]
    found = [finding(f"{name}{n}", fingerprint=mark, **plain) for mark in marks]
    done = record(report(f"/{name}/{n}.log", *found), db_path=pathlib.Path(path))
    assert (done.new, done.seen_before) == (100, 0)
"""


def test_eight_processes_record_a_thousand_incidents_each(path: Path) -> None:
    """benchmarks/stress_store.py does it one incident at a time."""
    writers = [writer(MANY, path, name) for name in "abcdefgh"]
    for one in writers:
        _, err = one.communicate(timeout=300)
        assert one.returncode == 0, err
    expected = {f"{name}-{n}-{k}" for name in "abcdefgh" for n in range(10) for k in range(100)}
    assert set(history(expected, db_path=path)) == expected
    assert sql(path, "SELECT count(*), min(number), max(number) FROM incidents") == [
        (8000, 1, 8000)
    ]
    assert incidents(text="a9", limit=1, db_path=path).total == 100


def test_four_processes_write_one_incident_at_once(path: Path) -> None:
    writers = [writer(WRITE, path, name, "25") for name in "abcd"]
    for one in writers:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    common = finding("common").fingerprint
    assert history([common], db_path=path)[common].times == 100


def test_a_writer_that_is_killed_loses_nothing_it_has_acknowledged(path: Path) -> None:
    chance = random.Random(7)
    acknowledged: set[str] = set()
    for turn in range(15):
        one = writer(WRITE, path, f"k{turn}", "100000")
        assert one.stdout is not None
        first = one.stdout.readline()
        time.sleep(chance.uniform(0, 0.15))
        one.kill()
        rest, _ = one.communicate(timeout=60)
        acknowledged |= {line for line in (first + rest).split("\n")[:-1] if line}
        assert acknowledged <= set(history(acknowledged, db_path=path))
    assert len(acknowledged) > 10
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
