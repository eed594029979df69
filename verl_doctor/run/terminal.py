"""A terminal for the run where its caller has one: keys go in, the window's size follows."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import termios
import threading
import tty

_LFLAG, _CC = 3, 6
"""Places in what tcgetattr gives."""


class Terminal:
    """A pseudo-terminal between the caller's terminal and the run.

    The caller's is raw meanwhile, so that each key (Ctrl-C too) reaches the run's own terminal,
    which knows what it means there.
    """

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self._outer = next((one for one in (0, 1, 2) if os.isatty(one)), 1)
        self._keys = os.isatty(0)
        self._saved = termios.tcgetattr(self._outer)
        # the run's terminal behaves as the caller's did
        termios.tcsetattr(self.slave, termios.TCSANOW, self._saved)
        self.resize()

    def claim(self) -> None:
        """Makes it the controlling terminal; to be called in the child, a session's leader."""
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def resize(self) -> None:
        """Gives the run's terminal the size of the caller's."""
        with contextlib.suppress(OSError):
            size = fcntl.ioctl(self._outer, termios.TIOCGWINSZ, bytes(8))
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def start(self) -> None:
        """To be called once the run has its end: raw mode, and keys go through."""
        os.close(self.slave)
        self.raw()
        if self._keys:
            threading.Thread(target=self._pass_keys, name="verl-doctor-keys", daemon=True).start()

    def raw(self) -> None:
        """The caller's terminal leaves all keys and line ends to the run's."""
        if self._keys:
            with contextlib.suppress(termios.error):
                tty.setraw(self._outer, termios.TCSANOW)

    def restore(self) -> None:
        """The caller's terminal is as it was."""
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._outer, termios.TCSADRAIN, self._saved)

    def _pass_keys(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(0, 1024):
                before, suspend, after = data.partition(self._suspend_key())
                self._send(before)
                if suspend:
                    # the kernel ignores a stop from the terminal of a session without a shell
                    os.kill(0, signal.SIGTSTP)
                    self._send(after)

    def _suspend_key(self) -> bytes:
        """Ctrl-Z, unless the run reads all keys itself (an editor, a debugger)."""
        flags = termios.tcgetattr(self.master)
        key: bytes = flags[_CC][termios.VSUSP]
        return key if flags[_LFLAG] & termios.ISIG and key != b"\0" else b"\xff" * 8

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.master, data) :]
