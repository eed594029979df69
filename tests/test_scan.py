"""Chunks are scanned freed of colours, one ahead of the other, and none is lost to Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Doctor
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.scan.ahead import LONG, scan, scan_ahead
from verl_doctor.scan.anchors import COLOURED
from verl_doctor.scan.colours import SPARSE, plain, uncoloured
from verl_doctor.scan.database import Scanner

QUIET = b"(WorkerDict pid=%d) micro batch: 4096 tokens\n" % 7
PREFIXED = b"\x1b[36m(WorkerDict pid=7, ip=10.0.0.1)\x1b[0m micro batch: 4096 tokens\n"
COLOURS = {
    "256": (b"\x1b[1;38;5;196m", b"\x1b[0m"),
    "erase": (b"\x1b[31m\x1b[K", b"\x1b[m\x1b[K"),
    "caret": (b"^[[31m", b"^[[0m"),
    "replaced": (b"\xef\xbf\xbd[31m", b"\xef\xbf\xbd[0m"),
    "link": (b"\x1b]8;;https://pytorch.org\x1b\\", b"\x1b]8;;\x1b\\"),
}
DENSITY = {"sparse": 500, "dense": 0}
"""Lines without colours inside before each one that has some."""


def painted(colour: str, quiet: bytes) -> bytes:
    """A log with colours inside its messages, the first and the last line among them."""
    on, off = COLOURS[colour]
    message = (
        b"\r 50%%|##%s#\rtorch.OutOf%sMemory%sError: CUDA out of %smemory%s. Tried to allocate"
        b" %s2.00%s GiB.\n" % (on, on, off, on, off, on, off)
    )
    return (message + quiet) * 3 + message.rstrip()


@pytest.fixture
def scanner(shipped: tuple[RuleBase, Scanner]) -> Scanner:
    return shipped[1]


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("density", DENSITY)
def test_a_message_coloured_inside_is_scanned_as_if_it_were_not(
    scanner: Scanner, colour: str, density: str
) -> None:
    log = painted(colour, QUIET * DENSITY[density])
    places = [end for end, ident in scanner.scan(log) if ident == COLOURED]
    assert (len(places) * SPARSE < len(log)) == (density == "sparse")
    scanned = scan(scanner, log)
    assert scanned.chunk == plain(log)
    assert scanned.hits == scanner.scan(plain(log))
    assert scanned.size == len(log)


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("density", DENSITY)
def test_a_coloured_log_is_diagnosed_like_a_plain_one(
    doctor: Doctor, colour: str, density: str
) -> None:
    log = painted(colour, PREFIXED * DENSITY[density])
    found, expected = doctor(log), doctor(plain(log))
    assert expected.findings[0].rule == "CUD001"
    assert found.findings == expected.findings
    assert found.sources[0].lines == expected.sources[0].lines == log.count(b"\n") + 1


PIECES = [b"\x1b[31m", b"\x1b[0m", b"\x1b[2K", b"^[[1m", b"\x1b]0;title\x07"]
TEXTS = [b"\n", b"\r", b" ", b"loss", "训练".encode(), b"x" * 600]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*PIECES, *TEXTS]), max_size=40), st.data())
def test_lines_keep_their_numbers_whichever_of_them_are_freed_of_colours(
    parts: list[bytes], data: st.DataObject
) -> None:
    log = b"".join(parts)
    lines = log.split(b"\n")
    chosen = data.draw(st.sets(st.sampled_from(range(len(lines)))))
    places, start = [], 0
    for number, line in enumerate(lines):
        if number in chosen and line:
            places.append(start + data.draw(st.integers(1, len(line))))
        start += len(line) + 1
    freed = uncoloured(log, places).split(b"\n")
    assert len(freed) == len(lines)
    for number, (line, after) in enumerate(zip(lines, freed, strict=True)):
        assert after == plain(line) or (number not in chosen and after == line)


class Told(Scanner):
    """A scanner that scans nothing long before the next chunk has been asked for."""

    def __init__(self, scanner: Scanner) -> None:
        self._inner = scanner
        self.given = 0
        self.scanned = 0
        self.more = threading.Condition()

    def give(self, chunks: list[bytes]) -> Iterator[bytes]:
        """The chunks; counts those that were asked for."""
        for chunk in chunks:
            with self.more:
                self.given += 1
                self.more.notify_all()
            yield chunk
        with self.more:
            self.given += 1
            self.more.notify_all()

    def scan(self, chunk: bytes) -> list[tuple[int, int]]:
        if threading.current_thread() is not threading.main_thread():
            with self.more:
                self.scanned += 1
                assert self.more.wait_for(lambda: self.given > self.scanned + 1, timeout=30)
        return self._inner.scan(chunk)


def long_chunks(count: int) -> list[bytes]:
    """Different chunks of LONG bytes and more; each has hits of its own."""
    step = b"step:%d - actor/grad_norm:0.4\n"
    return [QUIET * (LONG // len(QUIET) + 1) + step % number * number for number in range(count)]


def test_what_is_scanned_ahead_comes_in_order_as_if_scanned_one_by_one(scanner: Scanner) -> None:
    coloured = painted("256", QUIET * 30_000)
    first, *rest = long_chunks(6)
    for chunks in (
        [],
        [QUIET, b"step:1 - loss:1\n"],
        [QUIET, first, QUIET, coloured, *rest, b"step:7 - loss:0.1", b""],
    ):
        assert list(scan_ahead(scanner, chunks)) == [scan(scanner, chunk) for chunk in chunks]


def test_the_next_chunk_is_read_while_one_is_scanned(scanner: Scanner) -> None:
    """Each scan waits for it: without a chunk ahead it would wait for ever."""
    told = Told(scanner)
    chunks = long_chunks(6)
    before = threading.active_count()
    assert list(scan_ahead(told, told.give(chunks))) == [scan(scanner, chunk) for chunk in chunks]
    assert told.scanned == len(chunks) - 1
    assert threading.active_count() == before


@pytest.mark.usefixtures("compiled_once")
def test_what_was_read_before_ctrl_c_is_diagnosed() -> None:
    """Two long chunks; the second waits to be taken while a third is awaited."""
    program = textwrap.dedent(
        """
        import json, sys
        from tests.test_scan import QUIET, LONG, painted
        from verl_doctor.knowledge.load import load
        from verl_doctor.pipeline import diagnose_chunks

        def chunks():
            quiet = QUIET * (LONG // len(QUIET) + 1)
            yield quiet
            yield quiet + painted("256", QUIET) + b"\\n"
            print("waiting", flush=True)
            sys.stdin.read()

        report, interrupted = diagnose_chunks([("train.log", chunks(), [])], *load())
        line = report.findings[0].evidence[0].line
        print(json.dumps([interrupted, report.findings[0].rule, line, report.sources[0].lines]))
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=60)
    each = LONG // len(QUIET) + 1
    assert json.loads(out) == [True, "CUD001", 2 * each + 1, 2 * each + 7], told
