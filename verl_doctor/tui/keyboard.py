"""The keyboard, where standard input is a log: the terminal is opened anew."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO


def reopened() -> BinaryIO:
    """Takes standard input away as a stream of bytes and puts the terminal in its place.

    Has to be called before the screen starts, which reads keys from descriptor 0. Errors: OSError
    where there is no terminal.
    """
    terminal = os.open("/dev/tty", os.O_RDWR)
    stream = os.fdopen(os.dup(0), "rb")
    os.dup2(terminal, 0)
    os.close(terminal)
    if sys.__stdin__ is None or sys.__stdin__.closed or sys.__stdin__.fileno() != 0:
        sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdin = sys.__stdin__
    return stream
