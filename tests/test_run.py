"""`verl-doctor run` with real children, pipes and signals."""

from __future__ import annotations

import hashlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import genuine
from verl_doctor.pipeline import Session
from verl_doctor.run.child import Ended
from verl_doctor.run.copying import Copy
from verl_doctor.run.examination import Examination

pytestmark = pytest.mark.usefixtures("compiled_once")

LIMIT_S = 60.0


def doctor(*options: str) -> list[str]:
    return [sys.executable, "-m", "verl_doctor", "run", "--no-record", *options, "--"]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def ran(
    command: list[str], *options: str, **keywords: object
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*doctor(*options), *command],
        capture_output=True,
        check=False,
        timeout=LIMIT_S,
        **keywords,  # type: ignore[call-overload]
    )


def test_both_streams_pass_untouched_and_apart() -> None:
    out, err = bytes(range(256)) * 50, b"\xff\r\x1b[31mprogress\r" * 20
    done = ran(python(f"import os; os.write(1, bytes(range(256)) * 50); os.write(2, {err!r})"))
    assert done.stdout == out
    assert done.stderr.startswith(err)
    assert b"exit status 0" in done.stderr


def test_standard_input_is_the_runs_own() -> None:
    done = ran(["cat"], input=b"typed\0\n")
    assert done.stdout == b"typed\0\n"


def test_two_streams_into_one_keep_their_order() -> None:
    code = "import os\nfor i in range(200): os.write(1 + i % 2, b'%d\\n' % i)"
    done = subprocess.run(
        [*doctor(), *python(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.stdout.startswith(b"".join(b"%d\n" % i for i in range(200)))


def test_the_diagnosis_comes_on_standard_error_alone(tmp_path: Path) -> None:
    log = tmp_path / "failed.log"
    log.write_bytes(genuine("verl-unequal-chunk"))
    done = ran(["sh", "-c", f"cat {log}; exit 7"])
    assert done.returncode == 7
    assert done.stdout == log.read_bytes()
    assert b"only support equal chunk" in done.stderr
    assert b"exit status 7" in done.stderr


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        (["sh", "-c", "exit 3"], 3, b"exit status 3"),
        (["sh", "-c", "kill -TERM $$"], 143, b"SIGTERM"),
        (["sh", "-c", "kill -KILL $$"], 137, b"who sent it is not known"),
        (["sh", "-c", "exit 137"], 137, b"who sent it is not known"),
        (["no-such-program-here"], 127, b"cannot start no-such-program-here"),
        (["/etc/passwd"], 126, b"cannot start /etc/passwd"),
    ],
)
def test_the_exit_status_is_the_runs_own(command: list[str], status: int, words: bytes) -> None:
    done = ran(command)
    assert done.returncode == status
    assert words in done.stderr


def test_a_run_that_ended_well_is_no_silence() -> None:
    done = ran(["echo", "step:1 - actor/lr:1e-6"])
    assert b"HEALTHY" in done.stderr
    assert b"HNG" not in done.stderr


SLEEPER = """
import signal, sys, time
def told(number, frame):
    print("got", signal.Signals(number).name, flush=True)
    if number in (signal.SIGTERM, signal.SIGINT):
        sys.exit(5)
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(one, told)
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize("last", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_forwarded_and_the_run_decides(last: signal.Signals) -> None:
    process = subprocess.Popen(
        [*doctor(), *python(SLEEPER)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    for one in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, last):
        process.send_signal(one)
        assert process.stdout.readline() == f"got {one.name}\n".encode()
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 5
    assert b"exit status 5" in err


def test_a_slow_reader_loses_no_byte() -> None:
    """64 MB that the run writes as fast as it can, read in fits and starts."""
    size = 64_000_000
    code = (
        "import os\nblock = os.urandom(99_999) + b'\\n'\n"
        f"left = {size}\n"
        "import hashlib; seen = hashlib.sha256()\n"
        "while left:\n"
        "    n = os.write(1, block[:min(left, len(block))]); seen.update(block[:n]); left -= n\n"
        "os.write(2, seen.hexdigest().encode() + b'\\n')"
    )
    seen, count = hashlib.sha256(), 0
    with subprocess.Popen(
        [*doctor(), *python(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        while data := os.read(process.stdout.fileno(), 1 << 20):
            seen.update(data)
            count += len(data)
            if count % 7 == 0:
                time.sleep(0.01)
        told = process.stderr.readline().strip()
        process.stderr.read()
    assert count == size
    assert told == seen.hexdigest().encode()


def test_a_reader_that_goes_away_ends_the_run_as_without_us() -> None:
    code = "import os\nwhile True: os.write(1, b'x' * 999 + b'\\n')"
    with subprocess.Popen(
        [*doctor(), *python(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(5000)
        process.stdout.close()
        err = process.stderr.read()
    assert b"BrokenPipeError" in err  # Python's own answer to a pipe without a reader
    assert process.returncode == 1


def test_the_log_is_kept_and_an_older_one_too(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"of an earlier run\n")
    done = ran(python("print('one'); import sys; print('two, unended', end='')"), "--log", str(log))
    assert log.read_bytes() == b"one\ntwo, unended" == done.stdout
    assert (tmp_path / "train.log.1").read_bytes() == b"of an earlier run\n"
    assert b"train.log: 2 lines" in done.stderr


def test_a_full_disk_under_the_copy_does_not_touch_the_run(tmp_path: Path) -> None:
    # a file may not grow beyond this limit, as on a full disk
    code = "print('x' * 99_999 + chr(10), end='', flush=True)"
    limited = f"ulimit -f 50; trap '' XFSZ; exec {shlex.join([*doctor(), *python(code)])}"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, check=False)
    assert done.stdout == b"x" * 99_999 + b"\n"
    assert done.returncode == 0
    assert b"the run itself lost nothing" in done.stderr


@pytest.mark.parametrize("log", ["/dev/null", "/no/such/folder/train.log"])
def test_a_log_that_cannot_be_one_is_said_before_the_start(log: str) -> None:
    done = ran(["echo", "started"], "--log", log)
    assert (done.returncode, done.stdout) == (2, b"")
    assert log.encode() in done.stderr
    assert Path("/dev/null").is_char_device()


def test_a_doctor_that_fails_says_so_and_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "copy"
    path.write_bytes(b"line\n")

    def session() -> Session:
        raise RuntimeError("no rules today")

    examination = Examination(
        Copy(-1),
        str(path),
        "run",
        session=session,
        tell=lambda news: None,
        look=lambda news, line: None,
        least_s=120,
    )
    examination.start()
    assert examination.close(Ended(0), LIMIT_S)
    assert examination.failure == "RuntimeError: no rules today"
    assert examination.report is None


def test_processes_that_outlive_the_run_are_left_alone(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    done = ran(["sh", "-c", f"sleep 300 & echo $! > {pid_file}; echo done"])
    pid = int(pid_file.read_text())
    try:
        os.kill(pid, 0)
        assert done.stdout == b"done\n"
        assert b"they are left alone" in done.stderr
    finally:
        os.kill(pid, signal.SIGKILL)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    ran(["echo", "x"], env={**os.environ, "TMPDIR": str(tmp_path)})
    assert list(tmp_path.glob("verl-doctor-*")) == []
