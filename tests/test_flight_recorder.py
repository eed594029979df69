"""Dumps of PyTorch's flight recorder: real ones, made-up ones, hostile ones."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from verl_doctor.detect.flight_recorder import compare
from verl_doctor.model import Event
from verl_doctor.sources.flight_recorder import rank_of, read_dumps

REAL = ROOT / "fixtures_logs" / "flight_recorder"
"""Two gloo ranks, the second of which never enters the fourth all_reduce."""
NCCL = REAL / "nccl"
"""The same with NCCL on a GPU, in three ways (nccl_program.py)."""


@pytest.mark.parametrize("form", ["pickles", "jsons"])
def test_the_rank_that_never_came(form: str) -> None:
    notes: list[str] = []
    event = compare(read_dumps([str(REAL / form)], notes))
    assert notes == []
    assert event
    fields = event.fields
    assert (fields["shows"], fields["missing"], fields["ranks"]) == ("never_came", "1", "0")
    assert (fields["op"], fields["seq"]) == ("all_reduce", "4")
    assert fields["last"] == "all_reduce (number 3)"


def test_a_rank_without_a_dump() -> None:
    event = compare(read_dumps([str(REAL / "pickles" / "nccl_trace_rank_0")], []))
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("no_dump", "1")


def diagnosed(dumps: Path, *logs: Path) -> dict[str, Any]:
    """The JSON report of the command."""
    command = [sys.executable, "-m", "verl_doctor", "diagnose", "--no-record", "--format", "json"]
    done = subprocess.run(
        [*command, "--flight-recorder", dumps, *logs],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_the_command(compiled_once: None) -> None:
    report = diagnosed(REAL / "pickles")
    assert report["findings"][0]["rule"] == "DST060"
    assert "Rank 1 never entered all_reduce" in report["findings"][0]["title"]


@pytest.mark.parametrize(
    ("case", "rule"), [("never_came", "DST060"), ("no_dump", "DST062"), ("all_wait", "DST063")]
)
def test_dumps_of_nccl_say_more_than_the_log(case: str, rule: str, compiled_once: None) -> None:
    report = diagnosed(NCCL / case, NCCL / case / "rank0.log")
    assert report["findings"][0]["rule"] == rule
    assert report["notes"] == []


# --- made-up dumps -------------------------------------------------------------------------------


def entry(
    seq: int, op: str = "all_reduce", size: int = 8, state: str = "completed"
) -> dict[str, object]:
    return {
        "process_group": ["0", "default_pg"],
        "collective_seq_id": seq,
        "profiling_name": f"nccl:{op}",
        "input_sizes": [[size]],
        "output_sizes": [[size]],
        "input_dtypes": ["Float"],
        "state": state,
        "time_created_ns": 1_790_000_000_000_000_000 + seq,
        "retired": False,
        "is_p2p": False,
    }


def shown(tmp_path: Path, ranks: dict[int, list[dict[str, object]]], size: int) -> Event | None:
    """What the dumps of these ranks of a group of that size show."""
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(size)))}}
    for rank, entries in ranks.items():
        dump = {"version": "2.10", "pg_config": config, "entries": entries}
        (tmp_path / f"trace_{rank}.json").write_text(json.dumps(dump))
    return compare(read_dumps([str(tmp_path)], []))


WAITS = [entry(1), entry(2, state="started")]


def test_ranks_that_call_different_things(tmp_path: Path) -> None:
    other = [entry(1), entry(2, "broadcast", state="started")]
    event = shown(tmp_path, {0: WAITS, 1: WAITS, 2: other}, 3)
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("differs", "2")
    assert event.fields["other"].startswith("broadcast")


def test_what_the_others_call_is_told_where_rank_0_is_the_odd_one(tmp_path: Path) -> None:
    alone = [entry(1), entry(2, "broadcast", state="started")]
    event = shown(tmp_path, {0: alone, 1: WAITS, 2: WAITS}, 3)
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("differs", "0")
    assert event.fields["op"] == "all_reduce"
    assert event.fields["other"].startswith("broadcast")


def test_ranks_that_reduce_different_sizes(tmp_path: Path) -> None:
    event = shown(tmp_path, {0: WAITS, 1: [entry(1), entry(2, size=9, state="started")]}, 2)
    assert event
    assert event.fields["shows"] == "differs"


def test_all_to_all_may_differ_in_sizes(tmp_path: Path) -> None:
    ranks = {i: [entry(1, "all_to_all", 8 + i, state="started")] for i in range(2)}
    event = shown(tmp_path, ranks, 2)
    assert event
    assert event.fields["shows"] == "all_wait"


def test_a_gpu_that_has_not_come_to_the_collective(tmp_path: Path) -> None:
    done = entry(1) | {"time_discovered_started_ns": 1_790_000_000_000_000_001}
    ranks = {0: [done, entry(2, state="started")], 1: [done, entry(2, state="scheduled")]}
    event = shown(tmp_path, ranks, 2)
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("not_started", "1")


def test_a_collective_that_is_just_ending_is_not_the_one_that_hangs(tmp_path: Path) -> None:
    ranks = {0: [entry(1), entry(2, state="started")], 1: [entry(1, state="started")]}
    event = shown(tmp_path, ranks, 2)
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("never_came", "1")
    assert event.fields["seq"] == "2"


def test_without_recorded_starts_no_gpu_is_accused(tmp_path: Path) -> None:
    event = shown(tmp_path, {i: [entry(1), entry(2, state="scheduled")] for i in range(2)}, 2)
    assert event
    assert event.fields["shows"] == "all_wait"


def test_a_few_dumps_of_many_ranks_accuse_no_one(tmp_path: Path) -> None:
    event = shown(tmp_path, {0: WAITS, 1: WAITS}, 64)
    assert event
    assert event.fields["shows"] == "partial"


def test_what_nccl_has_retired_without_completing_has_timed_out(tmp_path: Path) -> None:
    timed_out = {**entry(2, state="started"), "retired": True}
    event = shown(tmp_path, {0: [entry(1), timed_out], 1: [entry(1)]}, 2)
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("never_came", "1")


def test_a_rank_whose_recorder_has_gone_on_is_not_accused(tmp_path: Path) -> None:
    event = shown(tmp_path, {0: WAITS, 1: [entry(9), entry(10)]}, 2)
    assert event
    assert event.fields["shows"] == "all_wait"


@pytest.mark.parametrize("form", ["pickle", "json"])
def test_a_dump_of_nccl_with_all_that_it_may_hold(form: str, tmp_path: Path) -> None:
    """Keys as of torch 2.7 (format 2.7): communicators, status of groups, times, threads. The rank
    that has nothing to tell leaves `entries` out of its JSON."""
    common = {
        "version": "2.7",
        "nccl_version": "2.26.2",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
        "pg_status": {"0": {"last_enqueued_collective": 2, "last_completed_collective": 1}},
        "nccl_comm_state": {"0x7f01": {"rank": "0", "n_ranks": "2", "abort_flag": "0"}},
    }
    waits = [
        {
            **one,
            "record_id": i,
            "pg_id": 0,
            "p2p_seq_id": 0,
            "op_id": i,
            "timeout_ms": 600_000,
            "time_discovered_started_ns": None,
            "duration_ms": 0.5,
            "frames": [{"name": "step", "filename": "/home/me/train.py", "line": 7}],
        }
        for i, one in enumerate(WAITS)
    ]
    for rank, content in enumerate([{**common, "entries": waits}, common]):
        path = tmp_path / f"nccl_trace_rank_{rank}"
        if form == "json":
            path.write_text(json.dumps(content))
        else:
            path.write_bytes(pickle.dumps(content, protocol=2))
    notes: list[str] = []
    event = compare(read_dumps([str(tmp_path)], notes))
    assert notes == []
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("never_came", "1")
    assert event.fields["frame"] == "/home/me/train.py:7 in step"


def test_a_dump_of_torch_2_3(tmp_path: Path) -> None:
    """Format 1.4: groups are numbers, their ranks lists, and nothing tells point-to-point apart."""

    def old(seq: int, op: str, state: str, group: int = 0) -> dict[str, object]:
        return {"pg_id": group, "seq_id": seq, "profiling_name": f"nccl:{op}", "state": state}

    for rank, entries in enumerate(
        [
            [old(1, "all_reduce", "completed"), old(2, "all_reduce", "started")],
            [old(1, "all_reduce", "completed"), old(2, "send 1->0", "started")],
        ]
    ):
        content = {"version": "1.4", "pg_config": {0: [0, 1]}, "entries": entries}
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(content, protocol=2))
    event = compare(read_dumps([str(tmp_path)], []))
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("never_came", "1")


def test_what_has_ended_is_no_finding(tmp_path: Path) -> None:
    assert shown(tmp_path, {0: [entry(1)], 1: [entry(1)]}, 2) is None


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("nccl_trace_rank_3", 3),
        ("comm_lib_trace_rank_0.pkl", 0),
        ("host-7_rank_12", 12),
        ("a100-node3_rank2_pid77", 2),
        ("trace_5", 5),
        ("7.json", 7),
        ("train.log", None),
    ],
)
def test_ranks_in_names(name: str, rank: int | None) -> None:
    assert rank_of(name) == rank


class Program:
    """What a hostile pickle would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch pwned",)


def deep(levels: int) -> list[object]:
    found: list[object] = []
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pickle.dumps({"entries": [Program()]}), "posix.system, which no dump does"),
        (pickle.dumps({"entries": deep(100)}), "nested deeper"),
        (b"\x80\x02]r\xff\xff\xff\x7f.", "memory that it does not use"),
        (b"\x80\x02]", "ValueError"),
        (b"{" * 100_000, "JSONDecodeError"),
        (b"[]", "ValueError"),
        (pickle.dumps({"version": "2.10"}), "no list of `entries`"),
    ],
)
def test_what_is_no_dump_is_refused_by_name(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "rank_0").write_bytes(content)
    notes: list[str] = []
    assert read_dumps([str(tmp_path)], notes) == []
    assert words in notes[0]
    assert not Path("pwned").exists()


def test_broken_entries_are_left_out(tmp_path: Path) -> None:
    broken: Sequence[object] = [None, {"process_group": 3}, {"collective_seq_id": "x"}, entry(1)]
    (tmp_path / "rank_0.json").write_text(json.dumps({"entries": broken, "pg_config": [1]}))
    assert [len(dump.collectives) for dump in read_dumps([str(tmp_path)], [])] == [1]
