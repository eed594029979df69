"""What people say about incidents, each test on a real SQLite file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.store_samples import finding, report, sql, writer
from verl_doctor.errors import StoreError
from verl_doctor.model import Evidence
from verl_doctor.store import (
    WAKE_OCCURRENCES,
    WAKE_RUNS,
    Incident,
    acknowledge,
    add_note,
    find,
    history,
    incidents,
    mute,
    notes,
    record,
    reopen,
    resolve,
    tag,
    unmute,
)

OOM = finding().fingerprint
TOKEN = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that holds one incident, seen in one run."""
    path = tmp_path / "incidents.db"
    record(report("/a.log", finding(last_seen=1000.0)), db_path=path)
    return path


def the(path: Path) -> Incident:
    return find(OOM, db_path=path)[0]


def again(path: Path, run: str, when: float | None = None, count: int = 3) -> None:
    one = finding(last_seen=time.time() if when is None else when, count=count)
    record(report(f"/{run}.log", one), db_path=path)


# --- states ---------------------------------------------------------------------------------


def test_from_new_to_regressed_and_back(path: Path) -> None:
    assert acknowledge(OOM, db_path=path).state == "acknowledged"
    before = time.time()
    done = resolve(OOM, " smaller batch ", db_path=path)
    assert (done.state, done.fix) == ("resolved", "smaller batch")
    assert done.resolved_at is not None
    assert before <= done.resolved_at <= time.time()
    assert done == the(path)
    again(path, "from before", 1500.0)
    assert the(path).state == "resolved"
    time.sleep(0.01)
    again(path, "later")
    assert (the(path).state, the(path).fix) == ("regressed", "smaller batch")
    assert acknowledge(OOM, db_path=path).state == "acknowledged"


def test_reopening_takes_back_the_last_fix_only(path: Path) -> None:
    resolve(OOM, "first", db_path=path)
    resolve(OOM, "second", db_path=path)
    one = reopen(OOM, db_path=path)
    assert (one.state, one.fix, one.resolved_at) == ("new", "first", None)
    resolve(OOM, "third", db_path=path)
    time.sleep(0.01)
    again(path, "back")
    one = reopen(OOM, db_path=path)
    assert (one.state, one.fix) == ("new", "third")  # it regressed: the fix had worked


def test_a_resolved_incident_is_not_acknowledged_by_accident(path: Path) -> None:
    resolve(OOM, "x", db_path=path)
    with pytest.raises(StoreError, match="verl-doctor incidents reopen 1"):
        acknowledge(OOM, db_path=path)
    assert the(path).state == "resolved"


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_words_are_required(path: Path, empty: str) -> None:
    for call in (resolve, mute, add_note):
        with pytest.raises(StoreError, match=r"is missing, e\.g\. verl-doctor incidents"):
            call(OOM, empty, db_path=path)  # type: ignore[operator]
    assert (the(path).state, the(path).muted, notes(OOM, db_path=path)) == ("new", False, ())


def test_what_is_not_there_is_said_and_nothing_is_created(path: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "x.db"
    for db_path in (path, nowhere):
        for call in (acknowledge, reopen, unmute, tag):
            with pytest.raises(StoreError, match=r"no incident 'beef'.*incidents list"):
                call("beef", db_path=db_path)  # type: ignore[operator]
    assert not nowhere.parent.exists()


# --- muting ---------------------------------------------------------------------------------


def test_a_mute_ends_at_its_time(path: Path) -> None:
    end = time.time() + 0.3
    assert mute(OOM, "harmless", until=end, db_path=path).muted
    while time.time() <= end:
        time.sleep(0.05)
    one = the(path)
    assert (one.muted, one.mute_reason, one.muted_until) == (False, "harmless", end)
    with pytest.raises(StoreError, match=r"in the future.*--until 7d"):
        mute(OOM, "x", until=time.time() - 1, db_path=path)


def test_a_muted_incident_that_grows_wakes(path: Path) -> None:
    mute(OOM, "harmless", db_path=path)
    for number in range(1, WAKE_RUNS):
        again(path, f"more {number}")
        assert the(path).muted
    again(path, "one too many")
    assert not the(path).muted
    assert mute(OOM, "still harmless", db_path=path).muted  # measured anew
    again(path, "a flood", count=WAKE_OCCURRENCES * the(path).occurrences)
    assert not the(path).muted


def test_a_muted_incident_that_regresses_wakes(path: Path) -> None:
    resolve(OOM, "x", db_path=path)
    mute(OOM, "done with it", db_path=path)
    time.sleep(0.01)
    again(path, "back")
    assert (the(path).state, the(path).muted) == ("regressed", False)
    assert mute(OOM, "I know", db_path=path).muted
    again(path, "back 2")
    assert the(path).muted  # it had regressed already


def test_unmute(path: Path) -> None:
    mute(OOM, "x", db_path=path)
    one = unmute(OOM, db_path=path)
    assert (one.muted, one.mute_reason, one.muted_until) == (False, "", None)


# --- notes, tags, search --------------------------------------------------------------------


def test_notes_and_tags_come_back_masked(path: Path) -> None:
    first = add_note(OOM, f"only with {TOKEN}", db_path=path)
    second = add_note(OOM, "on node 7", db_path=path)
    assert notes(OOM, db_path=path) == (first, second)
    assert first.text == "only with hf_***"
    assert tag(OOM, ["Node-7", "oom", "oom"], db_path=path) == ("node-7", "oom")
    assert tag(OOM, ["new"], ["OOM", "absent"], db_path=path) == ("new", "node-7")
    assert the(path).tags == ("new", "node-7")
    for bad in ("", "two words", "x" * 65):
        with pytest.raises(StoreError, match="is no tag"):
            tag(OOM, [bad], db_path=path)
    resolve(OOM, f"new {TOKEN}", db_path=path)
    mute(OOM, f"old {TOKEN}", db_path=path)
    written = b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())
    assert TOKEN[3:].encode() not in written


def test_search_finds_words_wherever_they_stand(path: Path) -> None:
    zh = finding(
        "zh", title="训练中止：显存不足", cause="KV 缓存占用过多", rule=None,
        evidence=(Evidence("a", 1, "torch.OutOfMemoryError: +actor_rollout_ref.rollout.n=8"),),
    )  # fmt: skip
    record(report("/b.log", zh), db_path=path)
    add_note(zh.fingerprint, "gleiche Größe half nicht", db_path=path)
    resolve(OOM, "gpu_memory_utilization=0.4", db_path=path)
    tag(OOM, ["node-7"], db_path=path)

    def numbers(text: str) -> list[int]:
        listing = incidents(text=text, db_path=path)
        assert listing.total == len(listing.incidents)
        return sorted(one.number for one in listing.incidents)

    assert numbers("显存") == numbers("存占用") == [2]
    assert numbers("rollout_ref") == numbers("GROßE") == [2]
    assert numbers("outofmem") == numbers("torch.OutOfMemoryError:") == [1, 2]
    assert numbers("MEM001") == numbers("utilization=0.4") == numbers("node-7") == [1]
    assert numbers("cache 显存") == numbers('"') == numbers("+ -") == []
    assert numbers('"unbalanced OR (') == numbers("title:x*") == []
    assert incidents(text="torch", states=("resolved",), db_path=path).total == 1
    reopen(OOM, db_path=path)
    assert numbers("utilization=0.4") == []


def test_words_of_a_run_that_better_rules_explained_are_gone(path: Path) -> None:
    record(report("/a.log", finding("other"), rules_version="2"), db_path=path)
    assert [one.number for one in incidents(text="oom", db_path=path).incidents] == [2]


# --- several at once ------------------------------------------------------------------------

NOTE = """
import pathlib
for n in range(25):
    add_note(sys.argv[2], f"{sys.argv[3]} {n}", db_path=pathlib.Path(sys.argv[1]))
    tag(sys.argv[2], [f"{sys.argv[3]}{n}"], db_path=pathlib.Path(sys.argv[1]))
"""


def test_two_people_write_at_once(path: Path) -> None:
    people = [writer(NOTE, path, OOM, name) for name in "ab"]
    for one in people:
        assert one.communicate(timeout=120)[1] == ""
    assert len(notes(OOM, db_path=path)) == len(the(path).tags) == 50
    assert history([OOM], db_path=path)[OOM].times == 1
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
