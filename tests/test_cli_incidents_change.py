"""The verbs of `verl-doctor incidents` that write, as a person and as a script call them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.store_samples import ROOT, Doctor, finding, report
from verl_doctor.store import WAKE_OCCURRENCES, WAKE_RUNS, default_path, find, record

ROPE = finding(
    "rope", rule="MEM001", title="CUDA out of memory", last_seen=1000.0,
    captures={"tried": "2.00 GiB"},
)  # fmt: skip


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Doctor:
    record(report("/runs/a/train.log", ROPE, finding("nccl", rule=None)))
    return Doctor(capsys, "incidents")


def state(number: int = 1) -> str:
    return find(str(number))[0].state


def test_the_way_of_an_incident(doctor: Doctor) -> None:
    assert doctor("ack", "1", "#2") == (
        "#1 acknowledged: MEM001 CUDA out of memory\n#2 acknowledged: CUDA out of memory (nccl)\n"
    )
    assert (state(1), state(2)) == ("acknowledged", "acknowledged")
    assert doctor("resolve", "1", "--fix", "n=4", "--lang", "zh").startswith("#1 已标记为解决：")
    assert "resolved by  n=4" in doctor("show", "1")
    doctor("ack", "1", status=2)
    assert "verl-doctor incidents reopen 1" in doctor.err
    assert doctor("reopen", "1").startswith("#1 open again: ")
    assert (state(), find("1")[0].fix) == ("new", "")


def test_nothing_is_changed_unless_all_are_found(doctor: Doctor) -> None:
    assert doctor("ack", "1", "99", status=2) == ""
    assert "no incident '99'" in doctor.err
    assert state() == "new"
    doctor("resolve", "1", status=2)
    assert "--fix" in doctor.err
    doctor("mute", "1", "--reason", " ", status=2)
    assert "the reason is missing" in doctor.err


def test_mute_until(doctor: Doctor) -> None:
    doctor("mute", "1", "--reason", "harmless", "--until", "7d")
    one = find("1")[0]
    assert one.muted_until is not None
    assert abs(one.muted_until - time.time() - 7 * 86400) < 60
    assert "  state        new, muted, high," in doctor("show", "1")
    assert "  muted because harmless (until 20" in doctor("show", "1")
    assert "new, muted" in doctor("list")
    assert doctor("unmute", "1") == "#1 no longer muted: MEM001 CUDA out of memory\n"
    assert not find("1")[0].muted
    doctor("mute", "1", "--reason", "x", "--until", "2999-01-01 08:00")
    assert find("1")[0].muted
    for bad in ("soon", "2999-13-01", "7", "9" * 7 + "d"):
        doctor("mute", "1", "--reason", "x", "--until", bad, status=2)
        assert "12h, 7d, 2w" in doctor.err
    for never in ("2001-01-01", "999999w"):
        doctor("mute", "1", "--reason", "x", "--until", never, status=2)
        assert "in the future" in doctor.err
    shown = json.loads(doctor("show", "1", "--format", "json"))
    assert shown["muted_until"].startswith("2999-01-0")


def test_notes_and_tags(doctor: Doctor) -> None:
    doctor("note", "1")
    assert "no notes on #1" in doctor.err
    doctor("note", "1", "only [bold]node 7[/bold] \x1b[31m")
    out = doctor("note", "1", "and node 8")
    assert r"only [bold]node 7[/bold] \x1b[31m" in out
    assert out.endswith("and node 8\n")
    assert "and node 8" in doctor("show", "1")
    assert doctor("tag", "1", "Node-7", "oom") == "#1 tagged: node-7, oom\n"
    assert doctor("tag", "1", "--remove", "oom", "--format", "json") == (
        '{\n  "schema_version": 1,\n  "number": 1,\n'
        f'  "fingerprint": "{ROPE.fingerprint}",\n  "tags": [\n    "node-7"\n  ]\n}}\n'
    )
    assert "  tags         node-7\n" in doctor("show", "1")
    assert doctor("search", "NODE-7").splitlines()[1].startswith("1  ")
    notes = json.loads(doctor("note", "1", "--format", "json"))["notes"]
    assert [note["text"] for note in notes][1] == "and node 8"
    assert [note["text"] for note in json.loads(doctor("show", "1", "--format", "json"))["notes"]]


def test_search(doctor: Doctor) -> None:
    assert json.loads(doctor("search", "memory", "nccl", "--format", "json"))["total"] == 1
    assert doctor("search", "nothing", "like", "it") == ""
    assert "no incident has these words: nothing like it" in doctor.err
    doctor("search", status=2)


def test_similar_says_what_resolved_the_other_one(doctor: Doctor) -> None:
    other = finding("other", rule="MEM001", title="CUDA out of memory: 7 GiB")
    record(report("/runs/b/train.log", other, finding("far", rule=None, title="x", evidence=())))
    doctor("resolve", "3", "--fix", "n=4")
    out = doctor("similar", "1")
    assert out.splitlines()[:2] == [
        "#3  same rule 86%     MEM001 CUDA out of memory: 7 GiB",
        "  resolved by  n=4",
    ]
    assert "#4" not in out
    document = json.loads(doctor("similar", "1", "--format", "json"))
    assert [one["incident"]["number"] for one in document["similar"]] == [3, 2]
    assert doctor("similar", "4") == ""
    assert "nothing on record is like #4" in doctor.err


def test_json_of_a_change_is_the_incident(doctor: Doctor) -> None:
    (one,) = json.loads(doctor("ack", "1", "--format", "json"))["incidents"]
    assert (one["number"], one["state"]) == (1, "acknowledged")
    assert doctor.err == ""


def test_titles_are_in_the_readers_language(doctor: Doctor, tmp_path: Path) -> None:
    known = finding("known", rule="DST040", title="a title of old", captures={"rank": "3"})
    record(report("/runs/c/train.log", known))
    shown = json.loads(doctor("show", "3", "--format", "json", "--lang", "zh"))["title"]
    assert "SIGKILL" in shown
    assert "3" in shown
    assert shown != json.loads(doctor("show", "3", "--format", "json", "--lang", "en"))["title"]
    assert json.loads(doctor("show", "1", "--format", "json", "--lang", "zh"))["title"] == (
        "CUDA out of memory"  # no rule of that id is shipped
    )


def test_help_and_manual_say_when_a_mute_ends(doctor: Doctor) -> None:
    manual = (ROOT / "docs" / "incidents.md").read_text(encoding="utf-8")
    for text in (doctor("mute", "--help"), manual):
        words = " ".join(text.split())
        assert f"more than {WAKE_RUNS} times the runs" in words
        assert f"more than {WAKE_OCCURRENCES} times as often" in words


def test_without_a_store_nothing_is_created(capsys: pytest.CaptureFixture[str]) -> None:
    doctor = Doctor(capsys, "incidents")
    for args in (("ack", "1"), ("similar", "1"), ("note", "1", "x"), ("tag", "1", "x")):
        doctor(*args, status=2)
        assert "verl-doctor incidents list" in doctor.err
    assert doctor("search", "x") == ""
    assert not default_path().exists()
