"""What a report says of other runs: through the store, and as `verl-doctor LOG` prints it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.conftest import genuine
from tests.store_samples import Doctor, finding, report, sql
from tests.test_cli import LOG, imported
from verl_doctor.errors import StoreError
from verl_doctor.model import Evidence, FixText, Message, Phase, Seen
from verl_doctor.store import db as files
from verl_doctor.store import default_path, incidents, mute, recall, record, reopen, resolve
from verl_doctor.store.recall import with_history

OOM = finding().fingerprint
FIXES = (
    FixText("Use a smaller batch.", set="data.train_batch_size=64"),
    FixText("Raise the limit.", run="ulimit -u 65536"),
    FixText("Upgrade."),
)


def fixes(*worked: str) -> list[tuple[str, bool]]:
    seen = Seen(OOM, 1, 2, 3, "resolved", worked[0], 1.0, 2.0, "a", worked=worked)
    known = with_history(report("/b.log", finding(fixes=FIXES)), {OOM: seen})
    return [(fix.text, fix.worked) for fix in known.findings[0].fixes]


def test_the_fix_that_worked_stands_first() -> None:
    small, limit, upgrade = (fix.text for fix in FIXES)
    rest = [(small, False), (limit, False), (upgrade, False)]
    assert fixes("set ulimit -u 65536 on node 7") == [(limit, True), *rest[:1], *rest[2:]]
    assert fixes("upgrade", "RAISE the limit") == [(upgrade, True), (limit, True), rest[0]]
    assert fixes("data.train_batch_size=64", "use a smaller  batch") == [(small, True), *rest[1:]]
    assert fixes("bought more GPUs") == [("bought more GPUs", True), *rest]


def test_the_run_itself_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    one = report("/a.log", finding())
    assert recall(one, db_path=path) == one
    record(one, db_path=path)
    history = recall(one, db_path=path).findings[0].history
    assert history is not None
    assert (history.times, history.number, history.last_run) == (0, 1, "")
    history = recall(report("/b.log", finding()), db_path=path).findings[0].history
    assert history is not None
    assert (history.times, history.last_run) == (1, "/a.log")
    assert recall(report("/b.log", finding("other")), db_path=path).findings[0].history is None


def test_what_is_muted_is_counted_unless_it_ended_the_run(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    noise = finding("noise", role="symptom")
    one = report("/a.log", finding(), noise, hidden={"folded": 2})
    record(one, db_path=path)
    mute(noise.fingerprint, "known", db_path=path)
    known = recall(one, db_path=path)
    assert [each.fingerprint for each in known.findings] == [OOM]
    assert known.hidden == {"folded": 2, "muted": 1}
    mute(OOM, "known too", db_path=path)
    known = recall(one, db_path=path)
    assert [each.fingerprint for each in known.findings] == [OOM]
    assert known.findings[0].history is not None
    assert known.findings[0].history.muted
    assert recall(report("/a.log", noise), db_path=path).findings == ()


def test_a_busy_store_is_soon_given_up(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    record(report("/a.log", finding()), db_path=path)
    sql(path, "PRAGMA journal_mode = delete")  # as on a network file system: readers wait too
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        start = time.monotonic()
        with pytest.raises(StoreError, match="locked"):
            recall(report("/b.log", finding()), db_path=path)
        assert time.monotonic() - start < 8


# --- against the last good run --------------------------------------------------------------


def said(*texts: str) -> tuple[Message, ...]:
    level: dict[str, Literal["error", "warning"]] = {"E": "error", "W": "warning"}
    return tuple(
        Message(text, level[text[0]], Evidence("a.log", n, f"{text} {n}"), n)
        for n, text in enumerate(texts, 1)
    )


def test_what_the_last_good_run_did_not_print(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    def good(name: str, *texts: str) -> None:
        phase = Phase("training", last_time=1000.0 + len(name))
        one = report(name, verdict="healthy", phase=phase, messages=said(*texts))
        record(one, db_path=path, run_name=name)

    def compared(name: str, **changes: Any) -> tuple[str, list[str]] | None:
        one = report(name, messages=said("W old", "W new", "E new"), **changes)
        found = recall(one, db_path=path).compared
        return found and (found.run, [each.template for each in found.new])

    assert compared("/job/a.log") is None  # no store
    good("/r/b/train.log", "W old")
    good("/r/none/train.log")  # recorded, but of its messages nothing is known
    good("/elsewhere/a.log", "W old", "W new", "E new")
    assert compared("/r/a/train.log") == ("/r/b/train.log", ["E new", "W new"])
    good("/r/a/first.log", "W old", "E new")
    assert compared("/r/a/train.log") == ("/r/a/first.log", ["W new"])
    assert compared("/far/away/x.log") is None
    assert compared("/r/a/train.log", verdict="healthy") is None
    good("/s/c.log", "E new")
    sql(path, "UPDATE runs SET command = 'python -m verl.x' WHERE name = '/s/c.log'")
    assert compared("<stdin>", command="python -m verl.x") == ("/s/c.log", ["W old", "W new"])


# --- as a person sees it --------------------------------------------------------------------


@pytest.fixture
def doctor(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Doctor:
    """`verl-doctor`, which has recorded the first of two runs that failed alike."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train.log").write_bytes(genuine("verl-batch-not-divisible"))
    doctor = Doctor(capsys)
    doctor(str(tmp_path / "first" / "train.log"), status=1)
    return doctor


def root() -> str:
    return next(one.fingerprint for one in incidents().incidents if one.number == 1)


def test_the_second_time_it_says_what_helped(doctor: Doctor, tmp_path: Path) -> None:
    log = str(tmp_path / "second" / "train.log")
    before = json.loads(doctor(log, "--format", "json", "--no-record", status=1))
    assert before["findings"][0]["history"]["times"] == 1
    resolve(root(), "trainer.n_gpus_per_node=8 [red]")
    out = doctor(log, "--no-record", status=1)
    words = " ".join(out.split())
    assert "before seen once, in run first/train.log (20" in words
    assert "what fixed it was: trainer.n_gpus_per_node=8 [red]" in words
    assert "trainer.n_gpus_per_node=8 [red] [worked here before]" in words
    assert out.index("[worked here before]") < out.index("fix 2")
    found = json.loads(doctor(log, "--format", "json", "--no-record", status=1))["findings"][0]
    assert found["fixes"][0] == {"text": "trainer.n_gpus_per_node=8 [red]", "worked_here": True}
    assert "worked_here" not in found["fixes"][1]
    assert (found["history"]["state"], found["history"]["last_run"]) == (
        "resolved",
        "first/train.log",
    )
    page = doctor(log, "--format", "markdown", "--no-record", status=1)
    assert r"**before**: seen once, in run first/train.log" in page
    assert r"1. trainer.n\_gpus\_per\_node=8 \[red\] **\[worked here before\]**" in page
    zh = "".join(doctor(log, "--lang", "zh", status=1).split())
    assert "以往出现过1次：任务first/train.log" in zh
    reopen(root())
    assert "worked here" not in doctor(
        str(tmp_path / "first" / "train.log"), "--no-record", status=1
    )


def test_new_messages_are_listed(doctor: Doctor, tmp_path: Path) -> None:
    good, bad = tmp_path / "good" / "t.log", tmp_path / "bad" / "t.log"
    good.parent.mkdir()
    bad.parent.mkdir()
    start = b"UserWarning: slow tokenizer 1\nstep:1 - loss:1.0\n"
    good.write_bytes(start + b"Training completed\n")
    bad.write_bytes(start + b"ERROR: [red]reward server gone\n" + genuine("verl-unequal-chunk"))
    assert "HEALTHY" in doctor(str(good))
    lines = doctor(str(bad), status=1).splitlines()
    place = next(i for i, line in enumerate(lines) if "since the last good run, good/t.log" in line)
    assert "[red]reward server gone" in lines[place + 1]
    assert "slow tokenizer" not in "".join(lines[place:])
    assert "### New since the last good run" in doctor(str(bad), "--format", "markdown", status=1)
    new = json.loads(doctor(str(bad), "--format", "json", status=1))["compared"]["new"]
    assert (new[0]["level"], new[0]["line"]) == ("error", 3)


def test_a_muted_root_is_shown_and_does_not_fail(doctor: Doctor, tmp_path: Path) -> None:
    mute(root(), "as [bold]expected")
    log = str(tmp_path / "first" / "train.log")
    out = doctor(log)
    assert "muted: as [bold]expected (#1; it ended this run" in " ".join(out.split())
    assert "FAILED" in out
    others = json.loads(doctor(log, "--format", "json"))["findings"][1:]
    for other in others:
        mute(other["fingerprint"], "noise")
    if others:
        assert f"{len(others)} muted" in " ".join(doctor(log).split())


@pytest.mark.parametrize("broken", [b"no database" * 1000, b""])
def test_a_broken_store_does_not_hurt_the_diagnosis(doctor: Doctor, broken: bytes) -> None:
    good = doctor(str(LOG), "--no-record", status=1).partition("\n")[0]
    default_path().write_bytes(broken)
    for args in ((), ("--no-record",)):
        assert doctor(str(LOG), *args, status=1).startswith(good)
        if broken:
            assert len(doctor.err.splitlines()) == 1
            assert "mv " in doctor.err


def newer() -> None:
    sql(default_path(), "INSERT INTO migrations VALUES (99, 'later', 0)")


def foreign() -> None:
    default_path().unlink()
    sql(default_path(), "CREATE TABLE experiments (id)")


def folder() -> None:
    default_path().unlink()
    default_path().mkdir()


def cut() -> None:
    default_path().write_bytes(default_path().read_bytes()[:9000])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (newer, "newer verl-doctor"), (foreign, "another program"), (folder, "not a file"),
        (cut, "damaged"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_store_is_said_in_one_line(
    doctor: Doctor, damage: Callable[[], None], words: str
) -> None:
    good = doctor(str(LOG), "--no-record", status=1).partition("\n")[0]
    damage()
    for args in ((), ("--no-record",), ("--format", "json")):
        out = doctor(str(LOG), *args, status=1)
        assert out.startswith(good) or json.loads(out)["verdict"] == "failed"
        (line,) = doctor.err.splitlines()
        assert words in line
        assert "VERL_DOCTOR_DB" in line or "mv " in line


def test_a_store_that_may_only_be_read(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    open_file = files.open_file

    def read_only(path: Path, wait: float) -> sqlite3.Connection:
        connection = open_file(path, wait)
        connection.execute("PRAGMA query_only = 1")
        return connection

    monkeypatch.setattr(files, "open_file", read_only)
    assert "FAILED" in doctor(str(LOG), status=1)
    (line,) = doctor.err.splitlines()
    assert line.startswith("verl-doctor: not recorded: ")
    assert "read-only. chmod u+w" in line


def test_another_writer_that_does_not_end(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BUSY_SECONDS", 0.2)
    with closing(sqlite3.connect(default_path())) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "FAILED" in doctor(str(LOG), status=1)
    assert "not recorded: " in doctor.err
    assert "locked" in doctor.err


LIMITED = """
import resource, signal, sys
from verl_doctor.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit fails, as on a full quota
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
main(sys.argv[1:])
"""


def test_a_quota_that_is_used_up(doctor: Doctor) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(LOG)], capture_output=True, text=True, check=False
    )
    assert "FAILED" in done.stdout
    assert done.returncode == 1
    assert "not recorded: " in done.stderr
    assert "df -h" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_reading_the_store_imports_little(doctor: Doctor) -> None:
    heavy = {"sqlite_utils", "yaml", "textual", "torch", "click_default_group"}
    assert imported(str(LOG), "--no-record", "--format", "json") & heavy == set()
