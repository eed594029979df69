"""Ratios that hold on any machine: what more rules and longer logs may cost."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from benchmarks.make_log import blocks
from tests.conftest import GENUINE, Doctor
from verl_doctor.knowledge.base import RuleBase, by_id
from verl_doctor.knowledge.build import PATTERN_KINDS
from verl_doctor.pipeline import Session
from verl_doctor.scan.database import Scanner

CHATTER = (
    b"(WorkerDict pid=%d) micro batch %d: 4096 tokens, 0 errors, retry=0, loss 0.123\n"
    b"\x1b[36m(TaskRunner pid=1)\x1b[0m prefetch %d of shard %d\n"
)
FAILURES = [path.read_bytes() for path in sorted(GENUINE.glob("*.log"))[:40]]


def chunk(number: int) -> bytes:
    """A mebibyte of a run that goes on, with a step line and one of forty genuine failures."""
    lines = b"".join(CHATTER % (i % 64, i, i, number) for i in range(8_000))
    step = b"step:%d - actor/grad_norm:0.4 - critic/score/mean:0.3\n" % number
    return lines + step + FAILURES[number % len(FAILURES)] + b"\n"


def tenfold(base: RuleBase) -> RuleBase:
    """The rule base with nine more rules beside each one that looks for texts."""

    def altered(plain: dict[str, Any], times: int) -> dict[str, Any]:
        plain = copy.deepcopy(plain)
        plain["id"] = f"{plain['id']}{times}"
        for pattern in next(iter(plain["match"].values())):
            for key in ("contains", "exception"):
                pattern[key] = [f"{text}{times}" for text in pattern.get(key, ())]
        return plain

    textual = [
        dict(plain) for plain in base.plains.values() if next(iter(plain["match"])) in PATTERN_KINDS
    ]
    more = [altered(plain, times) for plain in textual for times in range(1, 10)]
    return RuleBase({**base.plains, **by_id(more)})


def test_ten_times_the_rules_cost_at_most_a_third_more(
    shipped: tuple[RuleBase, Scanner],
) -> None:
    log = [chunk(number) for number in range(4)]
    many = tenfold(shipped[0])
    assert len(many) > 8 * len(shipped[0])
    doctors = Doctor(*shipped), Doctor(many, Scanner.compile(many.literals))

    def seconds(doctor: Doctor) -> float:
        start = time.process_time()
        doctor(log)
        return time.process_time() - start

    for doctor in doctors:
        seconds(doctor)  # what is built when first asked for
    ratios = [seconds(doctors[1]) / seconds(doctors[0]) for _ in range(3)]
    assert median(ratios) < 1.3, ratios


def test_a_log_that_is_a_single_line_costs_little_more(doctor: Doctor) -> None:
    log = [b"".join(blocks("healthy", 16 << 20))]
    line = [log[0].replace(b"\n", b" ")]

    def seconds(parts: list[bytes]) -> float:
        start = time.process_time()
        doctor(parts)
        return time.process_time() - start

    seconds(log)  # what is built when first asked for
    assert median(seconds(line) / seconds(log) for _ in range(3)) < 5  # usually 3


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_ten_times_the_log_takes_the_same_memory() -> None:
    """Peak of a process of its own; the log holds failures throughout."""
    program = textwrap.dedent(
        """
        import sys
        from tests.test_ratios import chunk
        from verl_doctor.knowledge.load import load
        from verl_doctor.pipeline import diagnose_chunks
        base, scanner = load()
        rules = [base.rule(rule_id) for rule_id in base.plains]  # else more are built as more fail
        chunks = (chunk(number) for number in range(int(sys.argv[1])))
        diagnose_chunks([("train.log", chunks, [])], base, scanner)
        print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
        """
    )

    def peak(mebibytes: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", program, str(mebibytes)], capture_output=True, check=True
        )
        return int(done.stdout)

    peak(1)  # fills the cache of rules
    assert peak(200) < 1.2 * peak(20)


@pytest.mark.skipif(sys.platform != "linux", reason="the size is read from /proc")
@pytest.mark.parametrize(
    ("text", "times"),
    [
        (b"(W pid=%d) Exception ignored in: <x>\n", 20_000),
        (b"failed (exitcode: -9) local_rank: %d (pid: 1)\n", 20_000),
        (
            b"[prompt] a\n[response] Traceback (most recent call last):\nKeyError: %d\n[score] 1\n",
            3_000,
        ),
    ],
    ids=["ignored", "elastic", "samples"],
)
def test_a_storm_takes_no_more_memory_the_longer_it_lasts(
    shipped: tuple[RuleBase, Scanner], text: bytes, times: int
) -> None:
    session = Session(*shipped)
    session.begin("train.log", [])

    def size_after(first: int) -> int:
        for start in range(first, first + times, 1_000):
            session.feed(b"".join(text % number for number in range(start, start + 1_000)))
        pages = Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    before = size_after(0)
    assert size_after(times) - before < 2 << 20  # without a limit: 3.4, 7.5 and 4 MiB
