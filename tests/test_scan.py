"""Chunks are scanned freed of colours, some ahead of others, and none is lost: not to Ctrl-C, not
to the end of the process that scans them."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Doctor
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.scan.ahead import AHEAD, ALONE, scan_ahead
from verl_doctor.scan.anchors import COLOURED
from verl_doctor.scan.chunk import Scanned, scan
from verl_doctor.scan.colours import SPARSE, plain, uncoloured
from verl_doctor.scan.database import Scanner
from verl_doctor.scan.process import SLOT, ScanningProcess, scanning_process

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


def quiet(size: int) -> bytes:
    """Lines without hits, of that many bytes and up to one line more."""
    return QUIET * (size // len(QUIET) + 1)


def chunks_of_a_long_log() -> list[bytes]:
    """After the first ALONE bytes different chunks, each with hits of its own."""
    step = b"step:%d - actor/grad_norm:0.4\n"
    coloured = painted("256", QUIET * 1000)
    rest = [QUIET * 50 + step % number * number for number in range(2 * AHEAD + 3)]
    return [quiet(ALONE), *rest, coloured, quiet(SLOT), b"step:7 - loss:0.1", b""]


def test_what_is_scanned_ahead_comes_in_order_as_if_scanned_one_by_one(scanner: Scanner) -> None:
    for chunks in ([], [QUIET, b"step:1 - loss:1\n"], chunks_of_a_long_log()):
        assert list(scan_ahead(scanner, chunks)) == [scan(scanner, chunk) for chunk in chunks]


def test_line_ends_are_counted_up_to_each_hit(scanner: Scanner) -> None:
    log = b"\n\nstep:1 - loss:1\n" + QUIET * 3 + b"step:2 - loss:1 [prompt]\n\nstep:3 - loss:1"
    scanned = scan(scanner, log)
    counted = [log.count(b"\n", 0, end) for end, _ in scanned.hits]
    assert len(counted) >= 4
    assert list(scanned.newlines) == [*counted, log.count(b"\n")]


def test_the_next_chunk_is_read_while_one_is_scanned(scanner: Scanner) -> None:
    """Each scan waits for it: without a chunk ahead it would wait for ever."""
    told, chunks = Told(scanner), [quiet(ALONE), *[QUIET] * (2 * AHEAD + 3)]
    before = threading.active_count()
    with threads_only():
        found = list(scan_ahead(told, told.give(chunks)))
    assert found == [scan(scanner, chunk) for chunk in chunks]
    assert told.scanned == len(chunks) - 1
    assert threading.active_count() == before


@contextmanager
def threads_only() -> Iterator[None]:
    """As in a program that runs threads of its own."""
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    yield
    done.set()
    other.join()


def through(
    helper: ScanningProcess, chunks: list[bytes], before_result: Callable[[int], None]
) -> list[Scanned]:
    """What a helper makes of chunks, with AHEAD of them submitted before one is asked for."""
    found: list[Scanned] = []
    waiting = iter(chunks)
    for chunk in islice(waiting, AHEAD):
        helper.submit(chunk)
    while helper.waiting:
        for chunk in islice(waiting, 1):
            helper.submit(chunk)
        before_result(len(found))
        found.append(helper.result())
    return found


def test_a_process_scans_like_this_one(scanner: Scanner) -> None:
    chunks = chunks_of_a_long_log()
    with scanning_process(scanner, AHEAD + 1) as helper:
        assert through(helper, chunks, lambda _: None) == [scan(scanner, one) for one in chunks]


def test_nothing_is_lost_where_the_process_is_killed(scanner: Scanner) -> None:
    chunks = chunks_of_a_long_log()

    def kill(done: int) -> None:
        if done == 3:
            for process in multiprocessing.active_children():
                process.kill()
                process.join()

    with scanning_process(scanner, AHEAD + 1) as helper:
        assert through(helper, chunks, kill) == [scan(scanner, one) for one in chunks]


def test_nothing_is_lost_where_ctrl_c_comes_amid_an_answer(
    scanner: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has read a part of the answer, or all of it: the next one is not taken for it."""
    chunks = chunks_of_a_long_log()
    with scanning_process(scanner, AHEAD + 1) as helper:
        for chunk in chunks[1 : AHEAD + 2]:
            helper.submit(chunk)
        connection = helper._connection

        def interrupted() -> None:
            connection.recv_bytes()
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(connection, "recv", interrupted)
            with pytest.raises(KeyboardInterrupt):
                helper.result()
        found = [helper.result() for _ in range(helper.waiting)]
    assert found == [scan(scanner, one) for one in chunks[1 : AHEAD + 2]]


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
@pytest.mark.usefixtures("compiled_once")
def test_the_process_ends_with_the_one_that_was_killed() -> None:
    program = textwrap.dedent(
        """
        import multiprocessing, time
        from verl_doctor.knowledge.load import load
        from verl_doctor.scan.ahead import ALONE, scan_ahead

        found = scan_ahead(load()[1], [bytes(ALONE), *[b"step:1 - loss:1\\n"] * 9])
        next(found), next(found)
        print(*[child.pid for child in multiprocessing.active_children()], flush=True)
        time.sleep(60)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout
        (child,) = map(int, process.stdout.readline().split())
        os.kill(child, 0)
        process.kill()
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the process that scans outlived the one that it scanned for")


@pytest.mark.usefixtures("compiled_once")
def test_what_was_read_before_ctrl_c_is_diagnosed() -> None:
    """Two long chunks; the second waits to be taken while a third is awaited."""
    program = textwrap.dedent(
        """
        import json, sys
        from tests.test_scan import ALONE, QUIET, painted, quiet
        from verl_doctor.knowledge.load import load
        from verl_doctor.pipeline import diagnose_chunks

        def chunks():
            yield quiet(ALONE)
            yield QUIET + painted("256", QUIET) + b"\\n"
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
    first = quiet(ALONE).count(b"\n") + 2
    assert json.loads(out) == [True, "CUD001", first, first + 6], told
