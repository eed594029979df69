"""The incident store, each test on a real SQLite file."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.store_samples import ROOT, finding, report, sql
from verl_doctor.model import Evidence, Phase, SourceInfo
from verl_doctor.store import default_path, find, history, incidents, occurrences, record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "verl-doctor" / "incidents.db"


def log(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


# --- what is written ------------------------------------------------------------------------


def test_a_report_comes_back(path: Path) -> None:
    done = record(report("/runs/a/train.log", finding(), finding("nccl")), db_path=path)
    assert (done.path, done.new, done.seen_before) == (path, 2, 0)
    assert (done.created, done.updated) == (True, False)
    listing = incidents(db_path=path)
    assert listing.total == 2
    one = find(finding().fingerprint, db_path=path)[0]
    assert (one.rule, one.state, one.runs, one.occurrences) == ("MEM001", "new", 1, 3)
    (seen,) = occurrences(one.fingerprint, db_path=path)
    assert (seen.name, seen.logs) == ("a/train.log", ("/runs/a/train.log",))
    assert (seen.verdict, seen.run_phase, seen.step) == ("failed", "rollout", 3)
    assert seen.evidence == finding().evidence
    assert seen.workers == ("rank 0", "rank 1")


def test_only_the_owner_may_read_it(path: Path) -> None:
    old = os.umask(0)
    try:
        record(report("/runs/a.log", finding()), db_path=path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path.parent, path.parent.parent)] == [
        0o700
    ] * 2
    assert sql(path, "PRAGMA journal_mode") == [("wal",)]
    assert sorted(os.listdir(path.parent)) == ["incidents.db"]


def test_secrets_are_not_written(path: Path) -> None:
    token = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"
    home = "/home/alice/runs/a.log"
    one = finding(
        title=f"401 for {token}",
        cause=f"password=hunter2 {token}",
        evidence=(Evidence(home, 1, f"{token} in {home} " + "x" * 5000 + f" {token}"),),
        workers=(f"Actor {token}",),
    )
    record(
        report(home, one, overrides=(f"trainer.token={token}", "+api_key=hunter2")),
        db_path=path,
        run_name=token,
    )
    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    for secret in (token[3:], "hunter2", "alice"):
        assert secret.encode() not in written
    (seen,) = occurrences(one.fingerprint, db_path=path)
    assert seen.evidence[0].path == "~/runs/a.log"
    assert seen.evidence[0].text.endswith("hf_***")
    assert len(seen.evidence[0].text) <= 4000


def test_text_that_is_no_unicode_is_kept_visibly(path: Path) -> None:
    one = finding(evidence=(Evidence("a\udce9.log", 1, "bad \udcff and \0 end"),))
    record(report("/runs/\udce9.log", one, finding("x", slug="\udcff")), db_path=path)
    (seen,) = occurrences(one.fingerprint, db_path=path)
    assert seen.evidence[0].text == "bad \\udcff and \0 end"


# --- one run or two -------------------------------------------------------------------------


def test_the_same_log_twice_is_one_run(path: Path, tmp_path: Path) -> None:
    train = log(tmp_path, "train.log", "step 1\n" * 100)
    first = record(report(train, finding()), db_path=path)
    link = tmp_path / "latest.log"
    link.symlink_to(train)
    second = record(report(link, finding(count=5)), db_path=path)
    assert (second.run, second.updated, second.created) == (first.run, True, False)
    assert (second.new, second.seen_before) == (1, 0)
    one = find("1", db_path=path)[0]
    assert (one.runs, one.occurrences) == (1, 5)
    assert sql(path, "SELECT count(*) FROM evidence") == [(1,)]


def test_a_log_that_has_grown_is_the_same_run(path: Path, tmp_path: Path) -> None:
    train = log(tmp_path, "train.log", "step 1\n")
    first = record(report(train, finding()), db_path=path)
    train.write_text("step 1\n" + "step 2\n" * 50_000)
    second = record(report(train, finding(), finding("late")), db_path=path)
    assert (second.run, second.new) == (first.run, 2)
    assert find("1", db_path=path)[0].runs == 1


@pytest.mark.parametrize("text", ["other\n", "other\n" * 5000], ids=["shorter", "longer"])
def test_another_log_at_the_same_path_is_another_run(path: Path, tmp_path: Path, text: str) -> None:
    train = log(tmp_path, "train.log", "step 1\n" * 100)
    first = record(report(train, finding()), db_path=path)
    train.write_text(text)
    second = record(report(train, finding()), db_path=path)
    assert second.run != first.run
    assert (second.new, second.seen_before) == (0, 1)
    assert find("1", db_path=path)[0].runs == 2


def test_logs_that_cannot_be_read_again_are_told_apart_by_size(path: Path) -> None:
    def at(size: int) -> int:
        source = SourceInfo("/gone/train.log", size // 10, size)
        return record(report("/gone/train.log", finding(), sources=(source,)), db_path=path).run

    first = at(1000)
    assert at(2000) == first
    assert at(500) != first


def test_a_folder_that_gains_a_log_is_the_same_run(path: Path, tmp_path: Path) -> None:
    logs = [log(tmp_path, f"rank{n}.log", f"rank {n}\n" * 10) for n in range(3)]

    def of(*chosen: Path) -> int:
        sources = tuple(SourceInfo(str(one), 10, 80) for one in chosen)
        return record(report("", finding(), sources=sources), db_path=path).run

    first = of(*logs[:2])
    assert of(*logs) == first
    assert of(logs[2]) != first


def test_standard_input_is_told_apart_by_what_it_held(path: Path) -> None:
    def of(last: str) -> int:
        source = SourceInfo("<stdin>", 10, 100)
        phase = Phase("rollout", last_text=last)
        one = report("", finding(), sources=(source,), phase=phase)
        return record(one, db_path=path).run

    assert of("a") == of("a") != of("b")


def test_other_rules_replace_what_a_run_was_said_to_have(path: Path) -> None:
    record(report("/a.log", finding("wrong"), finding("right")), db_path=path)
    record(report("/a.log", finding("right")), db_path=path)
    assert incidents(db_path=path).total == 2  # same rules: a filter, nothing is taken back
    record(report("/a.log", finding("right"), rules_version="2"), db_path=path)
    listing = incidents(db_path=path)
    assert [one.title for one in listing.incidents] == ["CUDA out of memory (right)"]
    record(report("/b.log", finding("third")), db_path=path)
    assert find("3", db_path=path)[0].title == "CUDA out of memory (third)"  # no number twice


# --- history and states ---------------------------------------------------------------------


def test_history_says_how_often_and_what_helped(path: Path) -> None:
    for name in ("a", "b", "c"):
        time.sleep(0.002)
        last = record(report(f"/{name}.log", finding()), db_path=path, run_name=f"run {name}")
    sql(path, "UPDATE incidents SET state = 'resolved', fix = 'smaller batch', resolved_at = 9e9")
    mark = finding().fingerprint
    seen = history([mark, "unknown"], db_path=path)
    assert list(seen) == [mark]
    assert (seen[mark].times, seen[mark].occurrences, seen[mark].last_run) == (3, 9, "run c")
    assert (seen[mark].state, seen[mark].fix) == ("resolved", "smaller batch")
    before = history([mark], db_path=path, without_run=last.run)[mark]
    assert (before.times, before.last_run) == (2, "run b")


def test_a_resolved_incident_that_comes_back_has_regressed(path: Path) -> None:
    def state() -> str:
        return find("1", db_path=path)[0].state

    def seen(name: str, when: float) -> None:
        record(report(name, finding(first_seen=when - 1, last_seen=when)), db_path=path)

    seen("/a.log", 1000.0)
    sql(path, "UPDATE incidents SET state = 'resolved', resolved_at = 2000.0")
    seen("/a.log", 3000.0)
    assert state() == "resolved"  # the run that it was resolved for
    seen("/old.log", 1500.0)
    assert state() == "resolved"  # a run from before
    seen("/b.log", 3000.0)
    assert state() == "regressed"
    sql(path, "UPDATE incidents SET state = 'acknowledged'")
    seen("/c.log", 4000.0)
    assert state() == "acknowledged"
    one = find("1", db_path=path)[0]
    assert (one.first_seen_at, one.last_seen_at) == (1499.0, 4000.0)


def test_a_log_without_clock_was_seen_when_its_file_was_written(path: Path, tmp_path: Path) -> None:
    train = log(tmp_path, "train.log", "x\n")
    os.utime(train, (5000, 5000))
    record(report(train, finding()), db_path=path)
    assert find("1", db_path=path)[0].last_seen_at == 5000


def test_find_takes_numbers_and_starts_of_fingerprints(path: Path) -> None:
    marks = ["2" + "0" * 15, "abcd" + "0" * 12, "abce" + "0" * 12]
    for mark in marks:
        record(report(f"/{mark}.log", finding(mark, fingerprint=mark)), db_path=path)

    def numbers(name: str) -> list[int]:
        return sorted(one.number for one in find(name, db_path=path))

    assert numbers("2") == numbers("#2") == numbers("ABCD") == [2]
    assert numbers("20") == numbers(marks[0]) == [1]
    assert numbers("abc") == [2, 3]
    assert numbers("") == numbers("#") == numbers("%") == numbers("9" * 40) == []


def test_reading_a_store_that_is_not_there_creates_nothing(path: Path) -> None:
    assert history(["x"], db_path=path) == {}
    assert incidents(db_path=path).total == 0
    assert find("1", db_path=path) == ()
    assert occurrences("x", db_path=path) == ()
    assert not path.parent.exists()


# --- where it lies --------------------------------------------------------------------------


def test_the_default_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("VERL_DOCTOR_DB", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert default_path() == tmp_path / ".local/state/verl-doctor/incidents.db"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert default_path() == tmp_path / ".local/state/verl-doctor/incidents.db"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "x"))
    assert default_path() == tmp_path / "x/verl-doctor/incidents.db"
    monkeypatch.setenv("VERL_DOCTOR_DB", "~/mine.db")
    assert default_path() == tmp_path / "mine.db"
    assert record(report("/a.log", finding())).path == tmp_path / "mine.db"


@pytest.mark.parametrize("name", ["a b'c.db", "q?mode=memory.db", "100%.db", "#1.db", "é.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    record(report("/a.log", finding()), db_path=tmp_path / name)
    assert (tmp_path / name).stat().st_size
    assert incidents(db_path=tmp_path / name).total == 1


def test_sqlite_utils_is_imported_only_to_open_a_store() -> None:
    code = "import sys, verl_doctor.store; sys.exit('sqlite_utils' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
