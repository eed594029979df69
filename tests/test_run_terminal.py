"""`verl-doctor run` in a real terminal: the run gets one too, keys and sizes reach it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("compiled_once")

LIMIT_S = 60.0


class Screen:
    """A terminal of 40 lines and 100 columns, and a program in it that has it to itself."""

    def __init__(self, *command: str) -> None:
        self.master, slave = pty.openpty()
        self.resize(40, 100)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),
        )
        self.slave = slave
        self.shown = b""

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))

    def wait_for(self, text: bytes) -> None:
        """Reads until this text is shown."""
        end = time.monotonic() + LIMIT_S
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if ready:
                self.shown += os.read(self.master, 1 << 16)

    def keys(self, data: bytes) -> None:
        os.write(self.master, data)

    def ended(self) -> int:
        """Reads to the last word of the doctor; returns the exit status."""
        self.wait_for(b"verl-doctor: the command")
        return self.process.wait(LIMIT_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)


@pytest.fixture
def screen() -> Iterator[object]:
    opened: list[Screen] = []

    def show(*command: str) -> Screen:
        opened.append(Screen(*command))
        return opened[0]

    yield show
    for one in opened:
        one.close()


def run(code: str) -> list[str]:
    """The command line that runs Python code under the doctor."""
    doctor = [sys.executable, "-m", "verl_doctor", "run", "--no-record", "--"]
    return [*doctor, sys.executable, "-c", code]


def wait_for_state(pid: int, state: str) -> None:
    """Waits until a process is in this state: on a busy machine a stop signal that was sent takes
    effect when the process gets its turn."""
    end = time.monotonic() + LIMIT_S
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != state:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_run_has_a_terminal_of_the_same_size(screen: object) -> None:
    shown: Screen = screen(
        *run(  # type: ignore[operator]
            "import os, sys, signal\n"
            "print(*(s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)))\n"
            "print(os.get_terminal_size())\n"
            "signal.signal(signal.SIGWINCH, lambda *_: None)\n"
            "print('ready'); signal.pause(); print(os.get_terminal_size())"
        )
    )
    shown.wait_for(b"ready")
    assert b"True True True" in shown.shown
    assert b"columns=100, lines=40" in shown.shown
    shown.resize(30, 90)
    shown.process.send_signal(signal.SIGWINCH)
    shown.wait_for(b"columns=90, lines=30")
    assert shown.ended() == 0


def test_typed_lines_reach_the_run_and_are_shown_once(screen: object) -> None:
    shown: Screen = screen(*run("print('got', input('name? ') + '!')"))  # type: ignore[operator]
    shown.wait_for(b"name? ")
    shown.keys(b"doctor\r")
    shown.wait_for(b"got doctor!")
    assert shown.ended() == 0
    assert shown.shown.count(b"doctor\r\n") == 1


def test_ctrl_c_goes_to_the_run_alone_and_the_terminal_is_restored(screen: object) -> None:
    shown: Screen = screen(*run("import time; print('ready'); time.sleep(300)"))  # type: ignore[operator]
    shown.wait_for(b"ready")
    shown.keys(b"\x03")
    assert shown.ended() == 128 + signal.SIGINT
    assert b"KeyboardInterrupt" in shown.shown
    assert b"ended by SIGINT" in shown.shown
    assert b"^C" not in shown.shown.partition(b"SYS062")[2]  # the echo is no name of a worker
    assert termios.tcgetattr(shown.slave) == shown.before


def test_ctrl_z_stops_the_run_and_fg_lets_it_go_on(screen: object, tmp_path: Path) -> None:
    code = tmp_path / "ticks.py"
    code.write_text(
        "import os, time\nprint('pid', os.getpid(), 'end', flush=True)\n"
        "for i in range(100_000):\n    print('tick', flush=True); time.sleep(0.05)\n"
    )
    shown: Screen = screen("bash", "--norc", "-i")  # type: ignore[operator]
    shown.keys(f"{sys.executable} -m verl_doctor run --no-record -- python {code}\r".encode())
    shown.wait_for(b" end")
    pid = int(re.findall(rb"pid (\d+) end", shown.shown)[-1])
    shown.keys(b"\x1a")
    shown.wait_for(b"Stopped")
    wait_for_state(pid, "T")
    shown.shown = b""
    shown.keys(b"fg\r")
    # a line of its own: the shell repeats the command, and until it has handed the terminal over
    # a Ctrl-C would be its own
    shown.wait_for(b"\ntick\r")
    shown.keys(b"\x03")
    shown.wait_for(b"ended by SIGINT")
    shown.keys(b"exit\r")
