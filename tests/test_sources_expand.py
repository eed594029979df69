"""Arguments to sources, and the words for what is not read."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import shutil
import socket
import sqlite3
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from verl_doctor.sources import Failure, Source, chunks, expand, folder
from verl_doctor.sources.follow import follow_file


def write(path: Path, data: bytes = b"step:1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(sources: list[Source], root: Path) -> list[str]:
    return [os.path.relpath(source.path, root) for source in sources]


def only_failure(*paths: str | Path) -> Failure:
    sources, failures = expand([str(path) for path in paths])
    assert sources == []
    assert len(failures) == 1, failures
    assert "\n" not in failures[0].message
    return failures[0]


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder that everyone can enter, seen by a user who is not root."""
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield root
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        for path in [root, *root.rglob("*")]:
            path.chmod(0o755)
        shutil.rmtree(root)


def as_root(action: Callable[[], object]) -> None:
    me = os.geteuid()
    if os.getuid() == 0:
        os.seteuid(0)
    action()
    os.seteuid(me)


def test_a_folder_gives_its_logs_sorted(tmp_path: Path) -> None:
    logs = [
        "logs/raylet.out",
        "logs/worker-01-02.err",
        "nohup.out",
        "old/run.log.1",
        "old/run.log.2.gz",
        "old/train.log-20240101",
        "rank_0",
        "sge/job.e12345",
        "stderr",
        "structured.jsonl",
        "wandb/run-1/files/output.log",
    ]
    for name in logs:
        write(tmp_path / name)
    write(tmp_path / "old/run.log.2.gz", gzip.compress(b"x\n"))
    write(tmp_path / "structured.jsonl", b'{"level": "INFO", "message": "step 1"}\n')
    for name in (
        ".hidden/run.log",
        ".run.log",
        "global_step_20/actor/huggingface/vocab.txt",
        "checkpoint-100/trainer.log",
        "requirements.txt",
        "Makefile",
        "train.py",
        "config.yaml",
        "events.out.tfevents.1700000000.host.1.0",
        "data/train.jsonl",
        "rollouts/12.jsonl",
    ):
        write(tmp_path / name, b'{"prompt": "x", "response": "y"}\n')
    write(tmp_path / "empty.err", b"")
    write(tmp_path / "binary.log", bytes(range(256)) * 16)
    write(tmp_path / "script", b"#!/bin/bash\n")
    sources, failures = expand([str(tmp_path)])
    assert names(sources, tmp_path) == logs
    assert failures == []
    assert {s.kind for s in sources} == {"file", "gz"}
    assert all(s.size == os.path.getsize(s.path) for s in sources)


def test_links_are_followed_without_loops_and_duplicates_taken_once(tmp_path: Path) -> None:
    write(tmp_path / "session_1/logs/raylet.out")
    (tmp_path / "session_latest").symlink_to(tmp_path / "session_1")
    (tmp_path / "session_1/logs/up").symlink_to(tmp_path)
    (tmp_path / "session_1/logs/again.out").symlink_to("raylet.out")
    (tmp_path / "session_1/logs/gone.out").symlink_to("nowhere")
    (tmp_path / "session_1/logs/circle.out").symlink_to("circle.out")
    log = tmp_path / "session_1/logs/raylet.out"
    assert names(expand([str(log), str(tmp_path)])[0], tmp_path) == ["session_1/logs/raylet.out"]
    sources, failures = expand(
        [str(tmp_path), str(log), str(tmp_path / "session_latest"), "-", "-"]
    )
    assert len(sources) == 2
    assert failures == []


def test_of_3000_files_the_newest_are_taken(tmp_path: Path) -> None:
    for i in range(3000):
        path = write(tmp_path / f"worker-{i:04}.out")
        os.utime(path, (i, i))
    sources, failures = expand([str(tmp_path)])
    assert names(sources, tmp_path) == [f"worker-{i:04}.out" for i in range(1000, 3000)]
    assert [f.fatal for f in failures] == [False]
    assert "newest 2000 are read, 1000 older" in failures[0].message
    named = [str(tmp_path / f"worker-{i:04}.out") for i in range(3000)]
    assert len(expand(named)[0]) == 3000  # what the user named is never left out


def test_a_walk_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAX_ENTRIES", 10)
    for i in range(20):
        write(tmp_path / f"{i}.log")
    sources, failures = expand([str(tmp_path)])
    assert len(sources) == 10
    assert "the search ended there" in failures[0].message


def test_globs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a/x.weird", b"text\n")
    write(tmp_path / "a/y.log")
    write(tmp_path / "b[1]/z.log")
    assert names(expand([f"{tmp_path}/a/*"])[0], tmp_path) == ["a/x.weird", "a/y.log"]
    assert names(expand([f"{tmp_path}/**/*.log"])[0], tmp_path) == ["a/y.log", "b[1]/z.log"]
    assert names(expand([f"{tmp_path}/b[1]/z.log"])[0], tmp_path) == ["b[1]/z.log"]
    assert names(expand([f"{tmp_path}/a*"])[0], tmp_path) == ["a/y.log"]
    assert "matches nothing" in only_failure(f"{tmp_path}/*.err").message
    monkeypatch.setenv("HOME", str(tmp_path))
    assert names(expand(["~/a/y.log"])[0], tmp_path) == ["a/y.log"]


def test_missing_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "logs/train_run.log")
    for wrong, right in (
        ("logs/train_rum.log", "logs/train_run.log"),
        ("logs/TRAIN_RUN.LOG", "logs/train_run.log"),
        ("log/train_run.log", "logs"),
        ("logs/train_run.log/", "logs/train_run.log"),
    ):
        failure = only_failure(f"{tmp_path}/{wrong}")
        assert failure.fatal
        assert f"Type: verl-doctor {tmp_path / right}" in failure.message
    assert "Type: ls" in only_failure(tmp_path / "zzz").message
    assert "unset shell variable" in only_failure("").message
    assert "curl" in only_failure("https://example.org/run.log").message
    assert "ssh node3 cat /logs/run.log" in only_failure("node3:/logs/run.log").message
    (tmp_path / "latest").symlink_to("/gone/elsewhere")
    assert "link to /gone/elsewhere" in only_failure(tmp_path / "latest").message
    (tmp_path / "circle").symlink_to("circle")
    assert "back to itself" in only_failure(tmp_path / "circle").message
    for odd in ("a\0b", "x" * 5000, "a\nb\x1b[31m"):
        assert "\x1b" not in only_failure(odd).message
    write(tmp_path / "it's a run.log")
    quoted = only_failure(tmp_path / "its a run.log").message.partition("Type: ")[2]
    assert quoted == f"verl-doctor '{tmp_path}/it'\"'\"'s a run.log'"


def test_empty_is_a_remark(tmp_path: Path) -> None:
    for data in (b"", gzip.compress(b"")):
        failure = only_failure(write(tmp_path / "run.log", data))
        assert not failure.fatal
        assert "is empty: nothing was ever written to it" in failure.message
    failure = only_failure(tmp_path)
    assert failure.fatal
    assert "holds no log with anything in it" in failure.message


def test_binary_files_say_what_they_are(tmp_path: Path) -> None:
    header = b'{"w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
    path = tmp_path / "x.log"
    sqlite3.connect(tmp_path / "db").execute("create table t (a)").connection.close()
    with zipfile.ZipFile(tmp_path / "pt", "w") as archive:
        archive.writestr("archive/data.pkl", b"x")
    tar = bytearray(1024)
    tar[257:262] = b"ustar"
    core = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x04\0>\0" + b"\0" * 80
    for data, what in (
        (Path("/bin/sh").read_bytes(), "ELF"),
        (core, "core dump"),
        (b"PAR1\x15\x04" + b"\0" * 90, "Parquet"),
        (struct.pack("<Q", len(header)) + header + b"\0\0", "safetensors"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "screenshot"),
        ((tmp_path / "db").read_bytes(), "SQLite"),
        (pickle.dumps({"a": list(range(99))}), "pickle"),
        ((tmp_path / "pt").read_bytes(), "PyTorch checkpoint"),
        (bytes(tar), "tar xf"),
        (gzip.compress(bytes(tar)), f"tar xf {path}"),
        (os.urandom(5000), "a binary file"),
        (struct.pack("<2000H", *range(2000)), "a binary file"),
    ):
        failure = only_failure(write(path, data))
        assert what in failure.message
        assert failure.fatal
        assert "verl-doctor" in failure.message
    for text in (b"PAR1 is the magic of parquet\n", b"GGUF: loading\n", "错误\n".encode("utf-16")):
        assert len(expand([str(write(path, text))])[0]) == 1


def test_devices_sockets_and_fifos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is a device" in only_failure("/dev/zero").message
    assert "is a device" in only_failure("/dev/null").message
    with socket.socket(socket.AF_UNIX) as sock:
        monkeypatch.chdir(tmp_path)
        sock.bind("s")
        assert "is a socket" in only_failure(tmp_path / "s").message
    os.mkfifo(tmp_path / "pipe.log")
    write(tmp_path / "run.log")
    assert names(expand([str(tmp_path)])[0], tmp_path) == ["run.log"]
    assert expand([str(tmp_path / "pipe.log")])[0][0].size is None


def test_permissions(as_nobody: Path) -> None:
    root = as_nobody

    def make() -> None:
        write(root / "run.log")
        write(root / "secret.log").chmod(0o200)
        write(root / "closed/x.log").parent.chmod(0o700)

    as_root(make)
    if os.getuid() != 0:
        (root / "closed").chmod(0)
    failure = only_failure(root / "secret.log")
    assert failure.fatal
    assert "mode 0200" in failure.message
    assert "sudo cat" in failure.message
    assert "cannot be listed" in only_failure(root / "closed").message
    assert "Permission denied" in only_failure(root / "closed/x.log").message
    sources, failures = expand([str(root)])
    assert names(sources, root) == ["run.log"]
    assert [f.fatal for f in failures] == [False]
    assert "closed" in failures[0].message
    assert "secret.log" in failures[0].message
    notes: list[str] = []
    assert list(chunks(Source(str(root / "secret.log"), "file"), notes=notes)) == []
    assert "Permission denied" in notes[0]


def test_standard_input(tmp_path: Path) -> None:
    assert expand(["-"], stdin=io.BytesIO(b"x"))[0] == [Source("<stdin>", "stdin", None)]
    with open(write(tmp_path / "run.log", b"12345\n"), "rb") as file:
        file.read(2)
        assert expand(["-"], stdin=file)[0][0].size == 4
    assert "standard input is closed" in expand(["-"], stdin=file)[1][0].message


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/run\xff.log")
    Path(path).write_bytes(b"")
    assert "run\\udcff.log" in expand([path])[1][0].message
    Path(path).write_bytes(b"x\n")
    assert list(chunks(expand([path])[0][0])) == [b"x\n"]


def test_a_log_whose_permission_goes_while_it_is_read_is_read_to_its_end(as_nobody: Path) -> None:
    """What is open stays readable; what is opened after that is told, and the rest is read."""
    one, other = as_nobody / "a.log", as_nobody / "b.log"
    for path in (one, other):
        as_root(partial(path.write_bytes, b"quiet\n" * 10_000 + b"end\n"))
    sources, failures = expand([str(one), str(other)])
    assert not failures
    notes: list[str] = []
    parts = chunks(sources[0], size=4096, notes=notes)
    read = [next(parts)]
    for path in (one, other):
        as_root(partial(path.chmod, 0))
    read += parts
    assert b"".join(read) == b"quiet\n" * 10_000 + b"end\n"
    assert notes == []
    assert list(chunks(sources[1], notes=notes)) == []
    assert ["could not be opened: Permission denied" in note for note in notes] == [True]


def test_a_followed_log_that_comes_back_unreadable_is_told_and_followed_on(
    as_nobody: Path,
) -> None:
    """Rotated into a file that we may not read; once we may, it goes on there."""
    path = as_nobody / "run.log"
    as_root(lambda: path.write_bytes(b"first\n"))
    notes: list[str] = []
    got = b""
    stream = follow_file(str(path), notes, poll_s=0.01, ended=lambda: b"second" in got)

    def rotate() -> None:
        path.rename(as_nobody / "run.log.1")
        path.write_bytes(b"second\n")
        path.chmod(0)

    for chunk in stream:
        if chunk == b"first\n":
            as_root(rotate)
        elif any("ermission" in note for note in notes):
            as_root(lambda: path.chmod(0o644))
        got += chunk
    assert got == b"first\nsecond\n"
    assert any("Permission denied" in note for note in notes)
