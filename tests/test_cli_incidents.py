"""`verl-doctor incidents`, as a person and as a script call it."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.store_samples import Doctor, finding, report
from verl_doctor.cli import main
from verl_doctor.model import Evidence
from verl_doctor.store import default_path, record

NASTY = "[rank0] [red]not red[/red] :smile: \x1b[31mred\x1b[0m\r\u202ereversed"


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Doctor:
    return Doctor(capsys, "incidents")


@pytest.fixture
def some() -> None:
    """Three incidents: one of two runs, one that no rule knows, one with a hostile text."""
    when = 1_795_000_000.0
    long = "A Ray worker could not start a thread because the operating system refused a new one"
    for name in ("a", "b"):
        when += 86400
        one = finding("aa", rule="TST003", title=long, first_seen=when, last_seen=when)
        record(
            report(
                f"/runs/{name}/train.log",
                one,
                overrides=("a.b=1",),
                command="python -m verl.x",
                versions={"torch": "2.6.0"},
            ),
            run_name=name,
        )
    nasty_line = Evidence("/runs/c.log", 7, NASTY + " word" * 60)
    zh = finding("c", title="训练中止：系统拒绝新建线程", last_seen=when - 9e7)
    workers = tuple(f"rank {n}" for n in range(20))
    nasty = finding(
        "ab", rule=None, title=NASTY, severity="critical", last_seen=when - 9e6,
        evidence=(nasty_line,), workers=workers,
    )  # fmt: skip
    record(report("/runs/c.log", nasty, zh))


LISTED = """\
#  last seen   state  severity  runs  what
1  2026-11-20  new    high         2  TST003 A Ray worker could not start a thread \
because the operating system refused a new one
2  2026-08-08  new    critical     1  [rank0] [red]not red[/red] :smile: \\x1b[31mred\\x1b[0m\
\\x0d\\u202ereversed
3  2024-01-13  new    high         1  MEM001 训练中止：系统拒绝新建线程
"""


def test_list_in_a_pipe_is_one_whole_line_each(doctor: Doctor, some: None) -> None:
    assert doctor("list") == LISTED
    assert doctor.err == ""


def test_limit_says_what_it_hides(doctor: Doctor, some: None) -> None:
    assert doctor("list", "--limit", "1") == "".join(LISTED.splitlines(True)[:2])
    assert "1 of 3 shown; all: --limit 3" in doctor.err
    assert len(json.loads(doctor("list", "--limit", "2", "--format", "json"))["incidents"]) == 2
    assert "2 of 3 shown" in doctor.err
    doctor("list", "--limit", "0", status=2)


def test_list_by_state(doctor: Doctor, some: None) -> None:
    with closing(sqlite3.connect(default_path())) as db, db:
        db.execute("UPDATE incidents SET state = 'resolved', fix = 'ulimit -u' WHERE number = 1")
    assert [line[:1] for line in doctor("list", "--state", "new").splitlines()] == ["#", "2", "3"]
    both = doctor("list", "--state", "new", "--state", "resolved", "--format", "jsonl")
    assert len(both.splitlines()) == 3
    assert doctor("list", "--state", "regressed") == ""
    assert "no incident is in this state: regressed" in doctor.err
    assert " 已解决  严重 " in doctor("list", "--state", "resolved", "--lang", "zh")
    assert "resolved by  ulimit -u" in doctor("show", "1")
    doctor("list", "--state", "nonsense", status=2)


def test_list_as_json(doctor: Doctor, some: None) -> None:
    document = json.loads(doctor("list", "--format", "json"))
    assert (document["schema_version"], document["total"]) == (1, 3)
    assert document["store"] == str(default_path())
    first = document["incidents"][0]
    assert first == {
        "number": 1,
        "fingerprint": "6161000000000000",
        "rule": "TST003",
        "slug": "cuda-oom",
        "title": first["title"],
        "severity": "high",
        "state": "new",
        "fix": "",
        "resolved_at": None,
        "first_seen_at": "2026-11-19T11:06:40Z",
        "last_seen_at": "2026-11-20T11:06:40Z",
        "runs": 2,
        "occurrences": 6,
        "muted": False,
        "muted_until": None,
        "mute_reason": "",
        "tags": [],
        "captures": {},
    }
    lines = doctor("list", "--format", "jsonl").splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]
    assert json.loads(lines[1])["title"] == NASTY
    assert not any(not c.isprintable() for c in lines[1])


def test_show_tells_the_runs_and_the_lines(doctor: Doctor, some: None) -> None:
    out = doctor("show", "#1")
    assert out.startswith("#1 TST003 A Ray worker could not start a thread because the operating")
    assert "  state        new, high, in 2 runs, printed 6 times\n" in out
    assert out.index("\nrun 2  b\n") < out.index("\nrun 1  a\n")
    assert "  log          /runs/b/train.log\n" in out
    assert "  ended        failed, in rollout, step 3\n" in out
    assert "  command      python -m verl.x\n  override     a.b=1\n" in out
    assert "  versions     torch 2.6.0\n" in out
    assert "  line 12: [rank0] torch.OutOfMemoryError: CUDA out of memory\n" in out
    assert out.endswith("Details: verl-doctor explain TST003\n")
    assert "run 1 " not in doctor("show", "1", "--limit", "1")
    assert "1 of 2 shown; all: --limit 2" in doctor.err


def test_show_prints_log_text_as_it_is_but_harmless(doctor: Doctor, some: None) -> None:
    out = doctor("show", "6162")
    shown = r"[rank0] [red]not red[/red] :smile: \x1b[31mred\x1b[0m\x0d\u202ereversed"
    assert f"  line 7: {shown} word" in out
    assert "  workers      rank 0, rank 1, rank 2" in out
    assert "rank 7 and 12 more\n" in out
    assert all(c.isprintable() or c == "\n" for c in out)
    document = json.loads(doctor("show", "6162", "--format", "json"))
    assert document["seen_in"][0]["evidence"][0]["line"] == 7
    assert len(document["seen_in"][0]["workers"]) == 20


def test_one_is_not_plural(doctor: Doctor) -> None:
    record(report("/a.log", finding(count=1), finding("nccl")))
    assert "in 1 run, printed 1 time\n" in doctor("show", "1")
    assert [line[:1] for line in doctor("list").splitlines()] == ["#", "1", "2"]  # root first


def test_show_needs_exactly_one(doctor: Doctor, some: None) -> None:
    assert doctor("show", "616", status=2) == ""
    assert "#1 6161000000000000, #2 6162000000000000" in doctor.err
    for name in ("99", "zz", "%", ""):
        assert doctor("show", name, status=2) == ""
        assert "verl-doctor incidents list" in doctor.err
    doctor("show", status=2)


def test_without_a_store_nothing_is_written(doctor: Doctor) -> None:
    assert doctor("list") == ""
    assert f"no incidents recorded in {default_path()}" in doctor.err
    assert json.loads(doctor("list", "--format", "json"))["incidents"] == []
    assert doctor("list", "--format", "jsonl") == ""
    doctor("show", "1", status=2)
    assert not default_path().exists()


def test_a_broken_store_is_one_line_and_no_traceback(doctor: Doctor, tmp_path: Path) -> None:
    default_path().parent.mkdir(parents=True)
    default_path().write_bytes(b"no database" * 1000)
    for args in (("list",), ("show", "1"), ("list", "--format", "json")):
        assert doctor(*args, status=2) == ""
        assert doctor.err.startswith("verl-doctor: ")
        assert len(doctor.err.splitlines()) == 1
        assert "mv " in doctor.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    for module in ("look", "change"):
        monkeypatch.setattr(f"verl_doctor.cli.incidents.{module}.stdout", lambda: stream)
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((80, 24)))
    monkeypatch.setenv("TERM", "xterm-256color")
    return stream


def test_a_terminal_of_80_columns_wraps(doctor: Doctor, some: None, screen: Terminal) -> None:
    from rich.cells import cell_len

    doctor("list", "--color", "never")
    doctor("show", "1", "--color", "never")
    doctor("show", "2", "--color", "never", "--lang", "zh")
    out = screen.getvalue()
    assert "\x1b" not in out
    assert max(map(cell_len, out.splitlines())) <= 80
    listed = (
        "1  2026-11-20  new    high         2  TST003 A Ray worker could not start a\n"
        + " " * 38 + "thread because the operating system\n"
        + " " * 38 + "refused a new one\n"
    )  # fmt: skip
    assert listed in out
    assert out.replace("\n", "").replace(" ", "").count("word") == 60
    assert not any(line != line.rstrip() for line in out.splitlines())


def test_colours_on_a_terminal_unless_unwanted(
    doctor: Doctor, some: None, screen: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    doctor("list")
    assert "\x1b[" in screen.getvalue()
    screen.seek(0)
    screen.truncate()
    monkeypatch.setenv("NO_COLOR", "1")
    doctor("list")
    assert "\x1b" not in screen.getvalue()


def test_a_terminal_without_unicode_gets_escapes(
    some: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    with pytest.raises(SystemExit) as stop:
        main(["incidents", "list"])
    assert stop.value.code == 0
    assert rb"MEM001 \u8bad\u7ec3" in raw.getvalue()


def test_chinese_words(doctor: Doctor, some: None) -> None:
    assert doctor("list", "--lang", "zh").splitlines()[0].split()[1:3] == ["最近出现", "状态"]
    assert "2 个任务，共 6 次" in doctor("show", "1", "--lang", "zh")
