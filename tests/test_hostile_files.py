"""What a file, pipe or archive can try. docs/threats.md says which line each test holds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.conftest import Doctor, genuine
from tests.test_cli import run
from verl_doctor.sources import Source, chunks, expand, read

FAILURE = genuine("verl-unequal-chunk")
ROOT_LINE = 9
STDIN = Source("<stdin>", "stdin")
CHINESE = "训练开始:共 8 张显卡,批大小 1024。\n".encode()


def first(doctor: Doctor, data: bytes) -> tuple[str | None, int, list[str]]:
    """Rule and line of the first finding of a stream, and the notes on its reading."""
    notes: list[str] = []
    report = doctor(list(chunks(STDIN, stdin=io.BytesIO(data), size=1024, notes=notes)))
    return report.findings[0].rule, report.findings[0].evidence[0].line, notes


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "no final newline": lambda log: log.rstrip(b"\n"),
    "UTF-8 cut in a character": lambda log: log + "训".encode()[:2],
    "UTF-16 of PowerShell's redirect": lambda log: log.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda log: log.decode().encode("utf-16-le"),
    "UTF-16 cut in a character": lambda log: log.decode().encode("utf-16-be") + b"\0",
    "UTF-16 with half a pair": lambda log: log.decode().encode("utf-16") + b"\x00\xd8\n\0",
    "NULs before it": lambda log: b"\0" * 70_000 + log,
    "NULs inside": lambda log: log.replace(b"\n", b"\0\0\n", 1),
    "bytes that are no text": lambda log: log + b"\xff\xfe\x80\x81 rest\n",
    "gz cut short": lambda log: gzip.compress(log + os.urandom(9999).hex().encode())[:-3000],
    "gz with a wrong end": lambda log: gzip.compress(log)[:-8] + b"\0" * 8,
    "gz in gz's own padding": lambda log: gzip.compress(log) + b"\0" * 5000,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_log_is_still_diagnosed(doctor: Doctor, damage: Callable[[bytes], bytes]) -> None:
    want = doctor(FAILURE).findings[0]
    rule, line, _ = first(doctor, damage(FAILURE))
    assert (rule, line) == (want.rule, want.evidence[0].line)


def test_gb18030_is_read_whatever_the_chinese_says(doctor: Doctor) -> None:
    data = CHINESE.decode().encode("gb18030") * 3 + FAILURE
    rule, line, notes = first(doctor, data)
    want = doctor(FAILURE).findings[0]
    assert (rule, line) == (want.rule, want.evidence[0].line + 3)
    assert "GB18030" in notes[0]


class Endless(io.RawIOBase):
    """A stream that repeats a block for ever, and knows how much was asked of it."""

    def __init__(self, block: bytes, start: bytes = b"") -> None:
        self.block = block
        self.start = start
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        block, self.start = self.start or self.block, b""
        self.given += len(block)
        return block


def test_zeros_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_BLANK", 8 << 20)
    stream = Endless(bytes(1 << 20))
    notes: list[str] = []
    for _ in chunks(STDIN, stdin=stream, notes=notes):  # type: ignore[arg-type]
        pass
    assert stream.given < 16 << 20
    assert "nothing but NUL bytes" in notes[-1]


@pytest.mark.parametrize("pack", ["gz", "bz2", "xz", "zst"])
def test_a_bomb_of_zeros_is_given_up(monkeypatch: pytest.MonkeyPatch, pack: str) -> None:
    monkeypatch.setattr(read, "MAX_BLANK", 8 << 20)
    zeros = bytes(64 << 20)
    packed = {
        "gz": lambda: gzip.compress(zeros, 1),
        "bz2": lambda: bz2.compress(zeros),
        "xz": lambda: lzma.compress(zeros, preset=0),
        "zst": lambda: zstandard.compress(zeros),
    }[pack]()
    notes: list[str] = []
    parts = chunks(STDIN, stdin=io.BytesIO(packed), notes=notes)
    assert sum(map(len, parts)) < 32 << 20
    assert "nothing but NUL bytes" in notes[-1]


def test_a_hole_before_a_log_that_was_emptied_under_its_writer_is_read_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doctor: Doctor
) -> None:
    monkeypatch.setattr(read, "MAX_BLANK", 1 << 20)
    path = tmp_path / "run.log"
    with open(path, "wb") as file:
        file.seek(8 << 20)
        file.write(b"\n" + FAILURE)
    report = doctor(list(chunks(expand([str(path)])[0][0])))
    assert report.findings[0].rule == doctor(FAILURE).findings[0].rule


def test_a_device_is_refused_whichever_way_it_is_given(tmp_path: Path) -> None:
    link = tmp_path / "train.log"
    link.symlink_to("/dev/zero")
    for given in ("/dev/zero", link):
        done = run(given, "--no-record")
        assert done.returncode == 2
        assert b"is a device" in done.stderr
    with open("/dev/zero", "rb") as zero:
        done = subprocess.run(
            [sys.executable, "-m", "verl_doctor", "-", "--no-record"],
            stdin=zero,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert b"is a device" in done.stderr


def test_a_fifo_that_never_closes_is_left_by_ctrl_c(tmp_path: Path) -> None:
    fifo = tmp_path / "run.log"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [sys.executable, "-m", "verl_doctor", str(fifo), "--no-record", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with open(fifo, "wb", buffering=0) as writer:
        writer.write(FAILURE)
        # more than a pipe and a chunk hold: when the last byte is taken, the failure was read
        for _ in range(8 << 10):
            writer.write(b"still running\n" * 100)
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert b'"verdict": "failed"' in out or b'"verdict": "interrupted"' in out


def test_a_gzip_stream_of_empty_members_ends() -> None:
    empty = zlib.compressobj(wbits=31)
    member = empty.compress(b"") + empty.flush()
    notes: list[str] = []
    data = member * 20_000 + gzip.compress(b"last\n")
    assert b"".join(chunks(STDIN, stdin=io.BytesIO(data), notes=notes)) == b"last\n"
    assert notes == []


def test_a_log_that_shrinks_in_the_middle_of_a_read_is_told(tmp_path: Path, doctor: Doctor) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(FAILURE + b"quiet\n" * 100_000)
    notes: list[str] = []
    parts = chunks(expand([str(path)])[0][0], size=4096, notes=notes)
    read = [next(parts)]
    os.truncate(path, len(FAILURE) + 6)
    read += parts
    assert doctor(read).findings[0].rule == doctor(FAILURE).findings[0].rule
    assert ["became shorter while it was read" in note for note in notes] == [True]
