"""Hangs that are real: told from a slow step in time, with the phase and the stuck stack."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verl_doctor.detect.flight_recorder import compare
from verl_doctor.live import News
from verl_doctor.model import Frame
from verl_doctor.render.stacks import stacks as shown
from verl_doctor.run.hang import Held, hang_event, look_twice, waits_for
from verl_doctor.run.stacks import Snapshot, Stack, merged, snapshot
from verl_doctor.sources.flight_recorder import read_dumps

pytestmark = pytest.mark.usefixtures("compiled_once")

LIMIT_S = 90.0
STEP_S = 1.0

PREAMBLE = f"""
import os, sys, time
def step(number, seconds={STEP_S}):
    time.sleep(seconds)
    print("step:%d - actor/grad_norm:0.3" % number, flush=True)
"""

DATALOADER = """
import torch
from torch.utils.data import DataLoader, Dataset
class Prompts(Dataset):
    def __len__(self): return 40
    def __getitem__(self, i):
        if i == 4: read_from_storage()
        return torch.tensor(i)
def read_from_storage():
    time.sleep(600)
if __name__ == "__main__":
    loader = DataLoader(Prompts(), batch_size=1, num_workers=1, prefetch_factor=1)
    for number, batch in enumerate(loader, 1):
        step(number)
"""

COLLECTIVE = """
import threading, torch, torch.distributed as dist, torch.multiprocessing as mp
from torch._C._distributed_c10d import _dump_fr_trace
os.environ["TORCH_FR_BUFFER_SIZE"] = "100"
def dump(rank):
    with open(f"{os.path.dirname(__file__)}/trace_rank_{rank}", "wb") as file:
        file.write(_dump_fr_trace(True, False, False))
def compute_score():
    time.sleep(600)
def train(rank, file):
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    for number in range(1, 30):
        if number == 5:
            threading.Timer(1.0 - rank, dump, [rank]).start()
            if rank == 1: compute_score()
        dist.all_reduce(torch.ones(4))
        if rank == 0: step(number)
if __name__ == "__main__":
    mp.spawn(train, (sys.argv[1],), nprocs=2)
"""

DEEPER = """
def generate_sequences(end):
    sum(range(100_000))  # another stack at every look
    if time.monotonic() < end: generate_sequences(end)
"""

SLOW_STEP = f"""
{DEEPER}
sys.setrecursionlimit(10**6)
for number in range(1, 5): step(number, 0.4)
generate_sequences(time.monotonic() + 3)
for number in range(5, 7): step(number, 0.4)
"""


def watched(program: str, tmp_path: Path, until: bytes, *options: str) -> tuple[bytes, int]:
    """What the doctor says of a program, which is ended once these words have come."""
    path = tmp_path / "train.py"
    path.write_text(PREAMBLE + program)
    command = [sys.executable, "-m", "verl_doctor", "run", "--no-record", "--hang-after", "1"]
    command += [*options, "--", sys.executable, "-W", "ignore", str(path), str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr
        said, end = b"", time.monotonic() + LIMIT_S
        while until not in said and time.monotonic() < end:
            said += os.read(process.stderr.fileno(), 1 << 16) or b"(ended)" + until
        if b"the command ended" not in said:
            process.send_signal(signal.SIGTERM)
        said += process.stderr.read()
    return said, process.returncode


def quiet_of(said: bytes) -> tuple[float, float]:
    """(seconds of silence, usual step) of the first stop that was told."""
    found = re.search(rb"nothing for ([\d.]+) s, usually ([\d.]+) s", said)
    assert found, said.decode()
    return float(found[1]), float(found[2])


def test_a_dataloader_worker_that_hangs(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    said, status = watched(DATALOADER, tmp_path, b"read_from_storage")
    quiet, usual = quiet_of(said)
    assert quiet < 3 * max(usual, STEP_S)
    assert b"nothing moved" in said
    assert b"waits for a DataLoader worker" in said
    assert re.search(rb"HNG032[\s\S]*read_from_storage[\s\S]* HUNG  data, step 4", said)
    assert status == 128 + signal.SIGTERM


def test_a_collective_that_one_rank_never_joins(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    said, _ = watched(COLLECTIVE, tmp_path, b"compute_score")
    quiet, usual = quiet_of(said)
    assert quiet < 3 * max(usual, STEP_S)
    assert b"waits in a collective" in said
    assert re.search(rb"HNG031[\s\S]*compute_score[\s\S]* HUNG  reward, step 4", said)
    # what the ranks' flight recorders say, read by the same program, agrees
    event = compare(read_dumps([str(tmp_path)], []))
    assert event
    assert (event.fields["shows"], event.fields["missing"]) == ("never_came", "1")


@pytest.mark.parametrize(
    ("interrupted", "verdict", "status"),
    [(False, b" HEALTHY ", 0), (True, b" HUNG  training, step 4", 128 + signal.SIGINT)],
)
def test_how_a_run_that_stood_still_ends_tells_whether_it_hung(
    interrupted: bool, verdict: bytes, status: int, tmp_path: Path
) -> None:
    """It goes on to a good end, or someone presses Ctrl-C and it prints a traceback."""
    path, end = tmp_path / "train.py", tmp_path / "end"
    waits = "while not os.path.exists(sys.argv[1]): time.sleep(2)\n"
    path.write_text(PREAMBLE + "for i in range(1, 5): step(i, 0.5)\n" + waits)
    command = [sys.executable, "-m", "verl_doctor", "run", "--no-record", "--hang-after", "1", "--"]
    command += [sys.executable, str(path), str(end)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr
        said = b""
        while b"nothing moved" not in said:
            data = os.read(process.stderr.fileno(), 1 << 16)
            assert data, said.decode()
            said += data
        if interrupted:
            process.send_signal(signal.SIGINT)
        else:
            end.touch()
        said += process.stderr.read()
    assert verdict in said
    assert process.returncode == status


def test_a_slow_step_is_no_hang(tmp_path: Path) -> None:
    said, status = watched(SLOW_STEP, tmp_path, b"verl-doctor: the command ended")
    assert b"slow rather than hung" in said
    assert b"generate_sequences" in said
    assert b"output again after" in said
    assert b"HEALTHY" in said
    assert status == 0


@pytest.mark.parametrize(
    ("program", "still"), [("time.sleep(600)", True), (DEEPER + "generate_sequences(1e12)", False)]
)
def test_two_looks_tell_what_stands_from_what_moves(program: str, still: bool) -> None:
    code = "import sys, time; sys.setrecursionlimit(10**6); print(flush=True)\n" + program
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            held = look_twice(process.pid, STEP_S)
        finally:
            process.kill()
    assert held.still == still
    assert (hang_event(held, News("stopped"), "run", 1) is not None) == still


# --- what the stacks say -------------------------------------------------------------------------


def frames(*functions: str, file: str = "/home/me/train.py") -> tuple[Frame, ...]:
    return tuple(Frame(file, 10 + i, name) for i, name in enumerate(functions))


def test_identical_stacks_are_merged() -> None:
    wait, work = frames("all_reduce", "train"), frames("score", "train")
    found = merged([(1, [wait]), (2, [work]), (3, [wait]), (4, [wait, wait])])
    assert found == (Stack(wait, (1, 3, 4)), Stack(work, (2,)))


@pytest.mark.parametrize(
    ("file", "function", "kind"),
    [
        ("/x/site-packages/torch/distributed/distributed_c10d.py", "all_reduce", "collective"),
        ("/x/torch/utils/data/dataloader.py", "_Iter._try_get_data", "dataloader"),
        ("/x/ray/_private/worker.py", "get", "ray"),
        ("/x/multiprocessing/resource_tracker.py", "main", "idle"),
        ("/x/torch/utils/data/_utils/worker.py", "_worker_loop", ""),
    ],
)
def test_who_waits_for_whom(file: str, function: str, kind: str) -> None:
    assert waits_for(Stack(frames(function, file=file), (1,))) == kind


def test_the_one_that_others_wait_for_is_told() -> None:
    wait = Stack(frames("all_reduce", file="/x/torch/distributed/distributed_c10d.py"), (1, 2, 3))
    work = Stack(frames("compute_score", "train"), (4,))
    news = News("stopped", seconds=300.0, usual=60.0, step=7, phase="training")
    event = hang_event(Held(Snapshot((wait, work)), True, 5.0), news, "train.log", 70)
    assert event
    assert event.fields["frame"] == "/home/me/train.py:10 in compute_score"
    assert (event.fields["pids"], event.fields["processes"]) == ("4", "4")
    assert (event.fields["waits"], event.fields["phase"]) == ("collective", "reward")


@pytest.mark.parametrize("obstacle", ["no_pyspy", "ptrace_scope", "capability", "user"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_missing_right_is_named_with_other_ways(obstacle: str, lang: str) -> None:
    text = shown(Held(Snapshot(obstacle=obstacle), False, 0.0), lang)  # type: ignore[arg-type]
    assert "ray stack" in text
    words = {"no_pyspy": "verl-doctor[stacks]", "ptrace_scope": "kernel.yama.ptrace_scope=0"}
    assert words.get(obstacle, "") in text


def test_hostile_names_in_a_stack_are_shown_harmless() -> None:
    stack = Stack((Frame("/tmp/\x1b[2Jx.py", 1, "f\u202eg"),), (1,))
    text = shown(Held(Snapshot((stack,)), True, 1.0), "en")
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_without_py_spy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert snapshot(os.getpid()).obstacle == "no_pyspy"
