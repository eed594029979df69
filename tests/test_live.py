"""Live runs: real growing files, real pipes, rotation and truncation; the clock is ours."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Doctor, genuine
from verl_doctor.detect.cadence import LEAST_S
from verl_doctor.live import COOL_DOWN_S, STEADY_AFTER_S, News, Watch
from verl_doctor.pipeline import Session
from verl_doctor.sources.follow import follow_file, follow_stream

pytestmark = pytest.mark.usefixtures("compiled_once")

FAILURE = genuine("verl-unequal-chunk")


def steps(first: int, last: int) -> bytes:
    return b"".join(b"step:%d - actor/grad_norm:0.4\n" % i for i in range(first, last + 1))


class Clock:
    """Seconds that pass only when a script says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def watched(doctor: Doctor, script: list[tuple[float, bytes]]) -> list[News]:
    """The news of a stream that gives these bytes (b"" for nothing) after these seconds each."""
    clock = Clock()
    news: list[News] = []
    session = Session(doctor.base, doctor.scanner)
    session.begin("run", [])

    def stream() -> Iterator[bytes]:
        for seconds, data in script:
            clock.now += seconds
            yield data

    Watch(session, news.append, clock).run(stream())
    return news


def test_a_finding_is_told_once_when_its_lines_have_come(doctor: Doctor) -> None:
    script = [(1.0, steps(1, 3)), (3.0, b""), (1.0, FAILURE), (0.2, b""), (5.0, b""), (5.0, b"")]
    news = watched(doctor, script)
    assert [one.kind for one in news] == ["alert"]
    assert news[0].finding
    assert news[0].finding.evidence[0].line == 3 + 9


def test_a_fault_that_goes_on_is_told_again_with_its_count(doctor: Doctor) -> None:
    script = [(3.0, FAILURE), (0.2, b""), (5.0, FAILURE), (0.2, b"")]
    assert [one.kind for one in watched(doctor, script)] == ["alert"]
    script += [(COOL_DOWN_S, FAILURE), (0.2, b"")]
    news = watched(doctor, script)
    assert [(one.kind, one.count) for one in news] == [("alert", 1), ("again", 3)]


def test_a_cause_that_comes_late_revises_the_root(doctor: Doctor) -> None:
    log = genuine("verl-all-prompts-overlong").splitlines(keepends=True)
    cause = [line for line in log if b"filter dataset len: 0" in line]
    effect = [line for line in log if line not in cause]
    news = watched(doctor, [(3.0, b"".join(effect)), (0.2, b""), (1.0, cause[0]), (0.2, b"")])
    assert [one.kind for one in news] == ["alert", "revised"]
    assert news[1].finding
    assert "filter dataset len" in news[1].finding.title


def test_a_recovered_fault_is_cleared(doctor: Doctor) -> None:
    oom = genuine("gpu-healthy-oom-retry").splitlines(keepends=True)[0]
    script = [(3.0, steps(1, 5) + oom), (0.2, b""), (60.0, steps(6, 9)), (0.2, b"")]
    assert [one.kind for one in watched(doctor, script)] == ["alert", "cleared"]


def test_silence_is_measured_against_the_runs_own_steps(doctor: Doctor) -> None:
    script = [(60.0, steps(i, i)) for i in range(1, 8)]
    script += [(60.0, b"")] * 2
    assert watched(doctor, script) == []
    news = watched(doctor, [*script, (120.0, b""), (60.0, b""), (30.0, steps(8, 8)), (1.0, b"")])
    assert [one.kind for one in news] == ["stopped", "resumed"]
    assert (news[0].step, news[0].usual) == (7, 60.0)


def test_output_without_steps_is_told_apart_from_silence(doctor: Doctor) -> None:
    script = [(60.0, steps(i, i)) for i in range(1, 8)]
    chatter = [(20.0, b"INFO still generating, %d running requests\n" % i) for i in range(9)]
    news = watched(doctor, [*script, *(part for line in chatter for part in (line, (0.2, b"")))])
    assert [(one.kind, one.phase, one.step) for one in news] == [("no_step", "training", 7)]
    assert news[0].seconds > 2.5 * news[0].usual


def test_after_a_stop_a_step_gets_its_time_again(doctor: Doctor) -> None:
    script = [(60.0, steps(i, i)) for i in range(1, 8)]
    script += [(200.0, b""), (1.0, b"a line\n"), (1.0, b""), (60.0, b"more\n"), (0.2, b"")]
    assert [one.kind for one in watched(doctor, script)] == ["stopped", "resumed"]
    script += [(100.0, b"and more\n"), (0.2, b"")]
    assert [one.kind for one in watched(doctor, script)] == ["stopped", "resumed", "no_step"]


def test_a_progress_bar_without_line_ends_is_output(doctor: Doctor) -> None:
    clock, news = Clock(), list[News]()
    session = Session(doctor.base, doctor.scanner)
    session.begin("run", [])
    watch = Watch(session, news.append, clock)

    def stream() -> Iterator[bytes]:
        for i in range(1, 8):
            clock.now += 60
            yield steps(i, i)
        for _ in range(6):
            clock.now += 60
            watch.heard()  # what `follow_stream` and `follow_file` do for a part of a line
            yield b""

    watch.run(stream())
    assert [one.kind for one in news] == ["no_step"]


def test_a_slow_step_is_told_when_it_has_come(doctor: Doctor) -> None:
    script: list[tuple[float, bytes]] = []
    for i in range(1, 8):
        script += [(60.0, steps(i, i)), (0.2, b"")]
    # output halfway: neither silence nor a step for more than two and a half usual steps
    script += [(100.0, b"a line\n"), (100.0, steps(8, 8)), (0.2, b"")]
    news = watched(doctor, script)
    assert [(one.kind, one.step) for one in news] == [("slow", 8)]
    assert 200 < news[0].seconds < 201


@pytest.mark.parametrize(
    ("banner", "silent"),
    [(b"test_gen_batch meta info: {}\n", 3000.0), (b"Saving checkpoint to x\n", 1500.0)],
)
def test_a_first_validation_or_checkpoint_may_take_its_time(
    doctor: Doctor, banner: bytes, silent: float
) -> None:
    script = [(60.0, steps(i, i)) for i in range(1, 8)]
    assert watched(doctor, [*script, (1.0, banner), (silent, b""), (1.0, b"")]) == []
    assert watched(doctor, [*script, (1.0, b"any line\n"), (silent, b""), (1.0, b"")]) != []


def test_a_run_that_never_rests_is_looked_at_all_the_same(doctor: Doctor) -> None:
    noise = [(0.1, b"INFO busy %d\n" % i) for i in range(10)]
    news = watched(doctor, [*noise, *noise, *noise, (0.1, FAILURE), *noise])
    assert [one.kind for one in news] == ["alert"]


def test_an_old_log_that_is_read_through_is_not_told_piece_by_piece(doctor: Doctor) -> None:
    piece = b"INFO busy\n" * 2_000_000
    script = [(1.0, FAILURE + piece), (1.0, piece), (1.0, piece), (1.0, piece)]
    assert watched(doctor, script) == []


def test_a_fast_run_is_not_called_hung_after_a_few_seconds(doctor: Doctor) -> None:
    script = [(0.5, steps(i, i)) for i in range(1, 30)] + [(LEAST_S - 1, b"")]
    assert watched(doctor, script) == []


def test_the_report_at_the_end_is_that_of_the_whole_log(doctor: Doctor) -> None:
    session = Session(doctor.base, doctor.scanner)
    session.begin("run", [])
    stream = iter([steps(1, 3), b"", FAILURE, b"", b""])
    report = Watch(session, lambda news: None).run(stream)
    whole = doctor(steps(1, 3) + FAILURE)
    assert report.findings[0].rule == whole.findings[0].rule
    assert report.findings[0].first_line == whole.findings[0].first_line


# --- growing files ------------------------------------------------------------------------------


def collect(path: Path, notes: list[str], until: bytes) -> bytes:
    """Follows until these bytes have come (at most 20 s)."""
    found, begun = b"", time.monotonic()
    for chunk in follow_file(str(path), notes, poll_s=0.01):
        found += chunk
        if until in found or time.monotonic() - begun > 20:
            break
    return found


def writer(work: object) -> threading.Thread:
    thread = threading.Thread(target=work)  # type: ignore[arg-type]
    thread.start()
    return thread


def test_a_file_that_does_not_exist_yet(tmp_path: Path) -> None:
    path = tmp_path / "train.log"

    def work() -> None:
        time.sleep(0.2)
        with path.open("wb", buffering=0) as file:
            file.write(b"one\ntw")
            time.sleep(0.1)
            file.write(b"o\nend\n")

    thread = writer(work)
    assert collect(path, [], b"end\n") == b"one\ntwo\nend\n"
    thread.join()


def test_a_hundred_rotations_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"")

    def work() -> None:
        for i in range(100):
            with path.open("ab") as file:
                file.write(b"line %d\n" % i)
            time.sleep(0.02)
            path.rename(tmp_path / f"train.log.{i}")
            path.write_bytes(b"")
        path.write_bytes(b"end\n")

    thread = writer(work)
    notes: list[str] = []
    found = collect(path, notes, b"end\n")
    thread.join()
    missing = [i for i in range(100) if b"line %d\n" % i not in found]
    assert missing == []
    assert ["rotated" in note for note in notes] == [True]  # once, not a hundred times


def test_truncation(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"a long first line\n")

    def work() -> None:
        time.sleep(0.2)
        path.write_bytes(b"new\nend\n")

    thread = writer(work)
    notes: list[str] = []
    assert collect(path, notes, b"end\n") == b"a long first line\nnew\nend\n"
    thread.join()
    assert any("truncated" in note for note in notes)


def test_a_pipe_gives_lines_as_they_come_and_its_unfinished_last_line() -> None:
    read, write = os.pipe()

    def work() -> None:
        for part in (b"one\ntw", b"o\nlast"):
            os.write(write, part)
            time.sleep(0.1)
        os.close(write)

    thread = writer(work)
    with os.fdopen(read, "rb") as stream:
        parts = list(follow_stream(stream, poll_s=0.02))
    thread.join()
    assert [part for part in parts if part] == [b"one\n", b"two\n", b"last"]
    assert b"" in parts


# --- the command ----------------------------------------------------------------------------------


def command(*args: str | Path) -> list[str]:
    return [sys.executable, "-m", "verl_doctor", *map(str, args), "--no-record"]


def test_a_pipe_that_stays_open_tells_its_finding_before_its_end() -> None:
    process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(FAILURE)
    process.stdin.flush()
    first = process.stdout.readline()
    assert process.poll() is None
    assert b"found" in first
    assert b"VRL012" in first
    out, _ = process.communicate(b"step:1 - a:1\n", timeout=60)
    assert b"FAILED" in out
    assert process.returncode == 1


def test_follow_a_file_until_ctrl_c(tmp_path: Path) -> None:
    import signal

    path = tmp_path / "train.log"
    process = subprocess.Popen(command("-f", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    assert b"does not exist yet: waiting" in process.stderr.readline()
    path.write_bytes(steps(1, 3))
    time.sleep(3)
    with path.open("ab") as file:
        file.write(FAILURE)
    assert b"VRL012" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"FAILED" in out


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: data.decode().encode("utf-16")])
def test_a_pipe_may_be_compressed_or_utf_16(pack: object) -> None:
    data = pack(FAILURE)  # type: ignore[operator]
    done = subprocess.run(command(), input=data, capture_output=True, check=False, timeout=60)
    assert b"VRL012" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("/dev/zero", None, b"is a device, not a log"),
        ("", None, b"unset shell variable"),
        ("train.log.gz", gzip.compress(FAILURE), b"is compressed (gz). Type: verl-doctor train"),
        ("win.log", FAILURE.decode().encode("utf-16"), b"is UTF-16"),
        ("*.log", None, b"matches nothing"),
        ("w[ab].log", None, b"stands for several files"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_what_to_type(
    name: str, content: bytes | None, told: bytes, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    if "[" in name:
        (tmp_path / "wa.log").write_bytes(FAILURE)
    done = subprocess.run(
        command("-f", name), capture_output=True, check=False, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert not done.stdout


def test_a_named_pipe_is_followed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(command("-f", path), stdout=subprocess.PIPE) as process:
        with path.open("wb", buffering=0) as writer:
            writer.write(steps(1, 2))
            time.sleep(STEADY_AFTER_S + 0.5)
            writer.write(FAILURE)
            assert process.stdout
            assert b"found VRL012" in process.stdout.readline()
        assert process.wait(60) == 1


def test_follow_takes_one_file(tmp_path: Path) -> None:
    done = subprocess.run(command("-f", tmp_path), capture_output=True, check=False)
    assert done.returncode == 2
    assert b"one log file" in done.stderr
