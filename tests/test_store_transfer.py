"""Export, import, merge and purge, each test on real SQLite files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.store_samples import Doctor, finding, report, sql
from verl_doctor.errors import StoreError
from verl_doctor.model import Evidence, Message
from verl_doctor.store import (
    add_note,
    default_path,
    export,
    find,
    incidents,
    merge,
    mute,
    notes,
    occurrences,
    purge,
    record,
    resolve,
    tag,
    take_in,
)

OOM = finding().fingerprint
TOKEN = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"


def fill(path: Path) -> None:
    """Two runs, two incidents, all that can be said of one."""
    warning = Message("W #", "warning", Evidence("a", 1, "W 1"), 2)
    one = report(
        "/a.log", finding(last_seen=10.0), overrides=("a.password=", "b=1"), messages=(warning,)
    )
    record(one, db_path=path)
    record(report("/b.log", finding(last_seen=20.0), finding("zh", title="显存不足")), db_path=path)
    add_note(OOM, "a note", db_path=path)
    tag(OOM, ["node-7"], db_path=path)
    resolve(OOM, "smaller batch", db_path=path)
    mute(OOM, "known", until=9e9, db_path=path)


def content(path: Path) -> list[str]:
    return sorted(export(db_path=path))


def test_what_is_exported_comes_back(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.db", tmp_path / "new" / "b.db"
    fill(path)
    done = take_in(export(db_path=path), db_path=copy)
    assert (done.runs, done.incidents, done.occurrences) == (2, 2, 3)
    assert content(copy) == content(path)
    assert find(OOM, db_path=copy) == find(OOM, db_path=path)
    assert occurrences(OOM, db_path=copy) == occurrences(OOM, db_path=path)
    assert [one.text for one in notes(OOM, db_path=copy)] == ["a note"]
    assert incidents(text="显存", db_path=copy).total == 1
    again = take_in(export(db_path=path), db_path=copy)
    assert (again.runs, again.incidents, again.occurrences) == (0, 0, 0)
    assert content(copy) == content(path)


def test_two_stores_become_one(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    fill(ours)
    record(report("/c.log", finding("only theirs"), finding(last_seen=5.0)), db_path=theirs)
    add_note(OOM, "their note", db_path=theirs)
    resolve(OOM, "their fix, later", db_path=theirs)
    done = merge(theirs, db_path=ours)
    assert (done.runs, done.incidents, done.occurrences) == (1, 1, 2)
    one = find(OOM, db_path=ours)[0]
    assert (one.runs, one.first_seen_at, one.last_seen_at) == (3, 5.0, 20.0)
    assert (one.state, one.fix, one.tags) == ("resolved", "their fix, later", ("node-7",))
    assert {note.text for note in notes(OOM, db_path=ours)} == {"a note", "their note"}
    assert sql(ours, "SELECT count(*) FROM resolutions") == [(2,)]
    assert sorted(one.number for one in incidents(db_path=ours).incidents) == [1, 2, 3]
    before = content(ours)
    merge(theirs, db_path=ours)
    merge(ours, db_path=ours)
    assert content(ours) == before
    merge(ours, db_path=theirs)
    assert content(theirs) == before


def test_the_same_log_diagnosed_on_two_machines_is_one_run(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1\n" * 100)
    for name in ("a.db", "b.db"):
        record(report(log, finding()), db_path=tmp_path / name)
    assert merge(tmp_path / "b.db", db_path=tmp_path / "a.db").runs == 0
    assert find(OOM, db_path=tmp_path / "a.db")[0].runs == 1


def test_a_run_that_a_merge_brings_can_show_a_regression(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    record(report("/a.log", finding(last_seen=18.0)), db_path=ours)
    resolve(OOM, "x", db_path=ours)
    sql(ours, "UPDATE incidents SET resolved_at = 15.0")
    sql(ours, "UPDATE runs SET recorded_at = 14.0")  # it went on while that was written
    record(report("/old.log", finding(last_seen=12.0)), db_path=theirs)
    merge(theirs, db_path=ours)
    assert find(OOM, db_path=ours)[0].state == "resolved"
    record(report("/new.log", finding(last_seen=20.0)), db_path=theirs)
    merge(theirs, db_path=ours)
    assert find(OOM, db_path=ours)[0].state == "regressed"


def test_what_comes_in_is_masked(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    fill(path)
    lines = [
        line.replace("smaller batch", f"{TOKEN} /home/alice/x") for line in export(db_path=path)
    ]
    take_in(lines, db_path=tmp_path / "b.db")
    assert find(OOM, db_path=tmp_path / "b.db")[0].fix == "hf_*** ~/x"
    assert TOKEN[3:].encode() not in (tmp_path / "b.db").read_bytes()


@pytest.mark.parametrize(
    "line",
    [
        "no json", "[1]", "{}", '{"type": "store", "format": 2}', '{"type": "what"}',
        '{"type": "incident", "fingerprint": "x"}',
        '{"type": "incident", "fingerprint": "x", "tags": [], "notes": [], "resolutions": [],'
        ' "slug": "", "title": 7, "severity": "high", "first_seen_at": 1, "last_seen_at": 1}',
        '{"type": "incident", "fingerprint": "x", "tags": [], "notes": [], "resolutions": [],'
        ' "slug": "", "title": "", "severity": "high", "first_seen_at": 1,'
        ' "last_seen_at": Infinity}',
        '{"type": "occurrence", "run": "nowhere", "evidence": [], "fingerprint": "x"}',
        '{"type": "run", "uid": "x", "id; DROP TABLE runs": 1, "logs": [], "messages": []}',
    ],
)  # fmt: skip
def test_a_wrong_line_changes_nothing(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.db"
    fill(path)
    before = content(path)
    good = list(export(db_path=path))
    with pytest.raises(StoreError, match=f"line {len(good) + 1} is none.*nothing was imported"):
        take_in([*good, line], db_path=path)
    assert content(path) == before
    with pytest.raises(StoreError, match="line 1 is none"):
        take_in(good[1:], db_path=path)


# --- purge ----------------------------------------------------------------------------------


def test_purging_old_runs_keeps_what_people_wrote(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(report("/a.log", finding(), finding("other", title="forgetmenot")), db_path=path)
    add_note(OOM, "kept", db_path=path)
    sql(path, "UPDATE runs SET ended_at = 100.0")
    record(report("/b.log", finding("third")), db_path=path)
    done = purge(before=200.0, db_path=path)
    assert (done.runs, done.incidents) == (1, 1)
    assert [one.number for one in incidents(db_path=path).incidents] == [3]
    assert b"forget" not in path.read_bytes()  # nor in the words of the search
    record(report("/c.log", finding()), db_path=path)
    assert [one.text for one in notes(OOM, db_path=path)] == ["kept"]


def test_no_number_is_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    fill(path)
    assert purge([finding("zh").fingerprint, "unknown"], db_path=path).incidents == 1
    record(report("/c.log", finding("new")), db_path=path)
    assert sorted(one.number for one in incidents(db_path=path).incidents) == [1, 3]
    done = purge(everything=True, db_path=path)
    assert (done.runs, done.incidents) == (3, 2)
    tables = ("runs", "incidents", "evidence", "notes", "tags", "words", "logs", "messages")
    for table in tables:
        assert sql(path, f"SELECT count(*) FROM {table}") == [(0,)]
    record(report("/c.log", finding("new")), db_path=path)
    assert incidents(db_path=path).incidents[0].number == 4


# --- the verbs ------------------------------------------------------------------------------


def test_the_verbs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    doctor = Doctor(capsys, "incidents")
    fill(default_path().parent / "other.db")
    out = doctor("merge", str(default_path().parent / "other.db"))
    assert out == "new: 2 runs, 2 incidents, 3 times that one was seen\n"
    lines = doctor("export").splitlines()
    assert json.loads(lines[0]) == {"type": "store", "format": 1}
    file = tmp_path / "x.jsonl"
    doctor("export", "-o", str(file))
    assert file.read_text().splitlines() == lines
    done = json.loads(doctor("import", str(file), "--format", "json"))
    assert (done["runs"], done["incidents"]) == (0, 0)
    file.write_bytes(b"\xff\xfe")
    doctor("import", str(file), status=2)
    assert "line 1 is none" in doctor.err
    doctor("merge", str(tmp_path / "no.db"), status=2)
    doctor("purge", status=2)
    assert "--older-than 90d" in doctor.err
    doctor("purge", "--older-than", "soon", status=2)
    assert doctor("purge", "1", "--yes", "--lang", "zh") == "已删除：0 个任务，1 个问题\n"
    assert doctor("purge", "--all", "--yes") == "deleted: 2 runs, 1 incidents\n"
    assert incidents().total == 0
