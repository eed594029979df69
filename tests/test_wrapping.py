"""One failing log, dressed as clusters dress logs, gives the same root and line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conftest import Doctor, genuine
from verl_doctor.model import Report

SLUGS = (
    "dataloader-worker-exception",
    "datasets-concat-schema",
    "gpu-fork-reinit",
    "state-dict-mismatch",
    "torch-load-weights-only",
    "verl-unequal-chunk",
)
PREFIXES = {
    "ray": "(WorkerDict pid=4711) ",
    "ray remote": "(WorkerDict pid=4711, ip=10.0.0.2) ",
    "ray old": "(pid=4711) ",
    "torchrun": "[rank3]: ",
    "torchrun tee": "[default3]:",
    "tee and rank": "[default3]:[rank3]: ",
    "slurm": "3: ",
    "slurm and rank": "3: [rank3]: ",
    "mpirun": "[1,3]<stderr>:",
    "kubernetes": "2026-11-30T17:47:54.123456789Z ",
    "cloud stamp": "[2026-03-11 17:47:54] ",
    "compose": "vllm-1  | ",
    "journald": "Aug 17 18:42:18 node7 train[812]: ",
    "vllm": "ERROR 12-01 06:04:40 [core.py:708] ",
    "vllm engine": "(EngineCore_DP0 pid=77) ERROR 12-01 06:04:40 [core.py:708] ",
    "cloud, ray, engine": "2026-11-30T17:47:54Z (TaskRunner pid=5, ip=10.0.0.2) "
    "(EngineCore_DP0 pid=77) ERROR 12-01 06:04:40 [core.py:708] ",
    "loguru": "2026-12-01 06:00:00.123 | ERROR    | verl.trainer:fit:42 - ",
    "deepspeed": "[2023-11-14 16:10:09,253] [ERROR] [launch.py:314:sigkill_handler] ",
}


def root(report: Report) -> tuple[str | None, str, int]:
    """What must not change: rule, fingerprint's rule part and the decisive line."""
    first = report.findings[0]
    return first.rule, first.title, first.evidence[0].line


def per_line(log: bytes, dress: Callable[[bytes], bytes]) -> bytes:
    return b"\n".join(dress(line) for line in log.split(b"\n")[:-1]) + b"\n"


@pytest.fixture(params=SLUGS)
def log(request: pytest.FixtureRequest) -> bytes:
    return genuine(request.param)


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES.keys())
def test_prefixes(doctor: Doctor, log: bytes, prefix: str) -> None:
    dressed = per_line(log, lambda line: prefix.encode() + line)
    assert root(doctor(dressed)) == root(doctor(log))


def test_json_lines(doctor: Doctor, log: bytes) -> None:
    def dress(line: bytes) -> bytes:
        text = line.decode("utf-8", "replace").split("\r")[-1]
        return json.dumps({"@timestamp": "2026-12-01T06:00:00Z", "@message": text}).encode()

    assert root(doctor(per_line(log, dress))) == root(doctor(log))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (b"\x1b[36m(WorkerDict pid=9)\x1b[0m ", b""),
        (b"^[[36m(WorkerDict pid=9)^[[0m ", b""),
        (b"\xef\xbf\xbd[36m(WorkerDict pid=9)\xef\xbf\xbd[0m ", b""),
        (b"\x1b[31m", b"\x1b[0m"),
        (b"\x1b[1;38;5;196m", b"\x1b[0m\x1b[K"),
    ],
)
def test_colours(doctor: Doctor, log: bytes, start: bytes, end: bytes) -> None:
    assert root(doctor(per_line(log, lambda line: start + line + end))) == root(doctor(log))


def test_a_colour_at_every_word(doctor: Doctor, log: bytes) -> None:
    dressed = per_line(
        log, lambda line: line.replace(b" ", b" \x1b[35m").replace(b":", b"\x1b[0m:")
    )
    assert root(doctor(dressed)) == root(doctor(log))


def test_carriage_returns(doctor: Doctor, log: bytes) -> None:
    want = root(doctor(log))
    assert root(doctor(log.replace(b"\n", b"\r\n"))) == want
    bar = b"\rTraining Progress:  10%|#         | 116/1155 [7:54:43<67:30:48, 233.93s/it]\r"
    assert root(doctor(per_line(log, lambda line: bar + line))) == want


def test_chunks_may_end_at_any_line(doctor: Doctor, log: bytes) -> None:
    want = root(doctor(log))
    lines = log.splitlines(keepends=True)
    assert root(doctor(lines)) == want
    for cut in range(1, len(lines)):
        assert root(doctor([b"".join(lines[:cut]), b"".join(lines[cut:])])) == want


def test_three_other_ranks_print_in_between(doctor: Doctor, log: bytes) -> None:
    want = root(doctor(per_line(log, lambda line: b"[rank3]: " + line)))
    mixed, place = [], {}
    for number, line in enumerate(log.split(b"\n")[:-1], 1):
        for rank in (0, 1, 2):
            mixed.append(b"[rank%d]: loading shard %d of 64" % (rank, number))
        mixed.append(b"[rank3]: " + line)
        place[number] = len(mixed)
    rule, title, line_number = root(doctor(b"\n".join(mixed) + b"\n"))
    assert (rule, title) == want[:2]
    assert line_number == place[want[2]]


def test_no_newline_at_the_end(doctor: Doctor, log: bytes) -> None:
    assert root(doctor(log.rstrip(b"\n"))) == root(doctor(log))


def test_folded_by_ray(doctor: Doctor, log: bytes) -> None:
    tail = b"\x1b[32m [repeated 7x across cluster]\x1b[0m"
    folded = per_line(log, lambda line: b"(WorkerDict pid=9) " + line + tail)
    report = doctor(folded)
    assert root(report) == root(doctor(log))
    assert report.findings[0].count >= 7
    assert report.hidden["folded"] > 7


@pytest.mark.parametrize(
    "prefix",
    [
        "gpu-01: ",
        "worker-1: ",
        "10.0.0.2: ",
        "[pod/rl-worker-5/main] ",
        "Aug 12, 2025 @ 03:00:51.117\ttrain-rl-7b-worker-0\t",
        "> ",
        "2025-08-12 03:00:51 - [rank 5] - ERROR - ",
    ],
)
def test_a_prefix_that_no_format_knows_is_learnt(doctor: Doctor, log: bytes, prefix: str) -> None:
    dressed = per_line(log, lambda line: prefix.encode() + line)
    assert root(doctor(dressed)) == root(doctor(log))
