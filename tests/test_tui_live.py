"""A log that grows, a pipe with the keyboard still working, a reading that is stopped."""

from __future__ import annotations

import errno
import gzip
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verl_doctor import store
from verl_doctor.pipeline import Session
from verl_doctor.sources import Source
from verl_doctor.tui.logfile.tape import Tape
from verl_doctor.tui.reading import Input
from verl_doctor.tui.widgets.findings import same_fault

from .conftest import GENUINE, ROOT
from .tui_pilot import PATIENCE_S, User, use

pytestmark = pytest.mark.usefixtures("compiled_once")

NCCL = GENUINE / "nccl-timeout-missing-rank.log"
FAULT = b'Traceback (most recent call last):\n  File "x.py", line 1, in f\nValueError: boom\n'


def test_a_growing_file_is_followed_and_its_findings_are_told(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"step one\n")

    async def script(user: User) -> None:
        await user.until(lambda: user.log.lines.newlines == 1)
        user.log.focus()
        await user.press("F")
        with path.open("ab") as file:
            file.write(b"step two\n" * 50)
        await user.until(lambda: user.line == 51)
        with path.open("ab") as file:
            file.write(FAULT)
        await user.until(lambda: user.triage.finding is not None)
        assert user.line == 54
        assert "so far" in user.screen()
        assert any("boom" in told for told in user.messages())
        await user.press("g")
        assert not user.log.following
        with path.open("ab") as file:
            file.write(b"on it goes\n")
        await user.until(lambda: user.log.lines.newlines == 55)
        assert user.line == 1

    use(Input(follow=str(path)), script, read=False)


def test_a_later_report_shows_its_root_unless_the_user_has_chosen(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"x\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n")

    async def script(user: User) -> None:
        await user.until(lambda: user.triage.finding is not None)
        first = user.triage.finding
        assert first is not None
        assert first.rule == "DST012"
        assert user.line == 2
        with path.open("ab") as file:
            file.write(b"quiet\n" * 7 + FAULT)
        await user.until(lambda: not same_fault(user.triage.finding, first))
        assert user.triage.finding is user.findings.values[1]
        assert user.line == 12
        await user.press("G")
        assert same_fault(user.triage.finding, first)
        assert user.line == 2
        with path.open("ab") as file:
            file.write(FAULT.replace(b"ValueError", b"KeyError"))
        await user.until(lambda: user.triage.snapshot.lines == 15)
        assert same_fault(user.triage.finding, first)
        assert user.line == 2

    use(Input(follow=str(path)), script, read=False)


def test_a_log_that_is_still_read_does_not_stop(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step:{n} - actor/loss:0.5\n" for n in range(1, 6)))

    async def script(user: User) -> None:
        await user.until(lambda: user.triage.snapshot.report and user.triage.snapshot.lines == 5)
        report = user.triage.snapshot.report
        assert report is not None
        assert report.findings == ()
        assert "Nothing found so far" in user.screen()
        user.app.reading.stop()
        with path.open("a") as file:
            file.write("step:6 - actor/loss:0.5\n")
        await user.until(lambda: user.triage.snapshot.finished)
        await user.until(lambda: user.triage.finding is not None)
        finding = user.triage.finding
        assert finding is not None
        assert "No further output" in finding.title
        assert user.line == finding.evidence[0].line

    use(Input(follow=str(path)), script, read=False)


def test_a_log_that_does_not_exist_yet(tmp_path: Path) -> None:
    path = tmp_path / "later.log"

    async def script(user: User) -> None:
        assert "Waiting for the first line" in user.screen()
        path.write_bytes(FAULT)
        await user.until(lambda: user.triage.finding is not None)
        assert "ValueError: boom" in user.screen()

    use(Input(follow=str(path)), script, read=False)


def test_a_pipe_is_shown_as_it_comes(tmp_path: Path) -> None:
    reader, writer = os.pipe()

    async def script(user: User) -> None:
        os.write(writer, b"one\ntwo\n")
        await user.until(lambda: " 2 two" in user.screen() or " 2▌two" in user.screen())
        os.write(writer, FAULT)
        os.close(writer)
        await user.read()
        assert "ValueError: boom" in user.screen()
        assert user.line == 5

    with os.fdopen(reader, "rb") as stream:
        wanted = Input((Source("<stdin>", "stdin"),), stdin=stream, live=True)
        use(wanted, script, read=False)


def test_a_full_disk_takes_nothing_from_the_diagnosis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(b"usual\n" * 2_000_000 + FAULT))

    def no_room(tape: Tape, chunk: bytes) -> None:
        if tape.taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        kept(tape, chunk)

    kept = Tape._keep
    monkeypatch.setattr(Tape, "_keep", no_room)

    async def script(user: User) -> None:
        assert "ValueError: boom" in user.screen()
        report = user.triage.snapshot.report
        assert report is not None
        assert any("is full" in note for note in report.notes)
        user.log.focus()
        await user.press("G")
        assert "usual" in user.screen()

    use(path, script)


def test_a_fault_of_our_own_leaves_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(FAULT)

    async def script(user: User) -> None:
        await user.until(lambda: user.triage.finding is not None)
        monkeypatch.setattr(Session, "pause", lambda self: 1 / 0)
        with path.open("ab") as file:
            file.write(b"more\n")
        await user.until(lambda: user.triage.snapshot.finished)
        assert any("ZeroDivisionError" in told for told in user.messages())
        assert "ValueError: boom" in user.screen()

    use(Input(follow=str(path)), script, read=False)


def test_what_is_known_of_a_fault_stays_while_the_log_grows(tmp_path: Path) -> None:
    before, path = tmp_path / "before.log", tmp_path / "train.log"
    before.write_bytes(FAULT)
    path.write_bytes(FAULT)

    async def nothing(user: User) -> None:
        pass

    use(before, nothing)

    async def script(user: User) -> None:
        await user.until(lambda: "seen once, in run" in user.screen())
        with path.open("ab") as file:
            file.write(b"more\n")
        await user.until(lambda: user.triage.snapshot.lines == 4)
        assert "seen once, in run" in user.screen()

    use(Input(follow=str(path)), script, read=False)


def test_reading_can_be_stopped_and_what_was_read_is_diagnosed(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    with path.open("wb") as file:
        file.write(FAULT)
        for _ in range(30):
            file.write(b"(WorkerDict pid=7) a usual line of a usual log\n" * 200_000)
        file.write(b"the end\n")

    async def script(user: User) -> None:
        await user.until(lambda: user.app.reading.done > 0)
        await user.press("x")
        await user.read()
        done = user.app.reading.done
        assert 0 < done < path.stat().st_size
        assert "stopped: " in user.screen()
        report = user.triage.snapshot.report
        assert report is not None
        assert any("stopped before the end" in note for note in report.notes)
        user.log.focus()
        await user.press("G")  # what was not read can still be looked at
        assert "the end" in user.screen()
        assert user.line is None

    use(path, script, read=False)


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command: str) -> None:
        # our copy of the program's end stays open: it must not close before the shell has opened it
        self.ours, self.theirs = pty.openpty()
        name = os.ttyname(self.theirs)
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
        # the shell leads a session without a terminal: the first one that it opens becomes its own
        self.process = subprocess.Popen(
            ["sh", "-c", f"exec <{name} >{name} 2>&1; {command}"],
            start_new_session=True, cwd=ROOT, env=env,
        )  # fmt: skip
        self.output = b""

    def until(self, text: str) -> None:
        """Reads until the program has written a text."""
        end = time.monotonic() + PATIENCE_S
        while text.encode() not in self.output:
            assert time.monotonic() < end, self.output[-2000:]
            self.drain()

    def drain(self) -> bool:
        """Reads what has been written, if anything comes within a moment; whether it did."""
        ready, _, _ = select.select([self.ours], [], [], 0.2)
        if ready:
            self.output += os.read(self.ours, 1 << 16)
        return bool(ready)

    def leave(self, keys: bytes) -> int:
        """Presses keys and returns the exit status; what is still written is read."""
        os.write(self.ours, keys)
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None or self.drain():
            assert time.monotonic() < end, self.output[-2000:]
            self.drain()
        os.close(self.ours)
        os.close(self.theirs)
        return self.process.returncode


def test_a_pipe_leaves_the_keyboard_working() -> None:
    doctor = f"{sys.executable} -m verl_doctor tui --no-record"
    terminal = Terminal(f"cat {NCCL} | {doctor}")
    terminal.until("DST001")
    assert terminal.leave(b"q") == 0
    assert b"Traceback (most recent call last):\r\n  File" not in terminal.output


def test_a_run_that_is_left_while_it_goes_on_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(FAULT)
    terminal = Terminal(f"{sys.executable} -m verl_doctor tui -f {path}")
    terminal.until("unexplained")
    assert terminal.leave(b"q") == 0
    assert [one.title for one in store.incidents().incidents] == ["ValueError: boom"]


def test_without_a_terminal_the_verb_says_what_to_type() -> None:
    command = [sys.executable, "-m", "verl_doctor", "tui"]
    done = subprocess.run([*command, str(NCCL)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert "verl-doctor train.log" in done.stderr
    assert "Traceback" not in done.stderr


def test_on_a_terminal_mistakes_are_told_in_a_line() -> None:
    doctor = f"{sys.executable} -m verl_doctor tui"
    for command, told in (
        (doctor, "which log?"),
        (f"{doctor} /no/such.log", "no such file"),
        (f"{doctor} -f a.log b.log", "one log file"),
    ):
        terminal = Terminal(command)
        assert terminal.leave(b"") == 2
        assert told in terminal.output.decode().lower()
        assert "Traceback" not in terminal.output.decode()
