"""Which lines report an error or a warning, told by the scanner's own expressions.

A line on the screen is asked by `re`; a log of gigabytes is searched by hyperscan, which takes a
quarter of a second to compile: only when somebody searches, and in the thread that does.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from ...scan.anchors import ANCHORS, ERROR_LINE, EXCEPTION, FIRST_RULE, TRACEBACK

if TYPE_CHECKING:
    from ...scan.database import Scanner

_LETTER, _WARNING = FIRST_RULE - 2, FIRST_RULE - 1
_OWN = {
    _LETTER: r"(\[[EFC]\d{4} |^[EFC]\d{4} )",
    _WARNING: r"(\bWARN(ING)?\b|[A-Za-z]Warning: |\[W\d{4} |^W\d{4} )",
}
"""Levels that the doctor has no anchor for; the letters are glog's and c10d's."""
ERROR_IDS = frozenset((ERROR_LINE, EXCEPTION, TRACEBACK, _LETTER))
WARNING_IDS = frozenset((_WARNING,))


@cache
def _expression(ids: frozenset[int]) -> re.Pattern[bytes]:
    every = {**ANCHORS, **_OWN}
    return re.compile("|".join(every[ident] for ident in sorted(ids)).encode(), re.MULTILINE)


def level_of(line: bytes) -> str:
    """`E` for a line that reports an error, `W` for a warning, a blank for any other."""
    if _expression(ERROR_IDS).search(line):
        return "E"
    return "W" if _expression(WARNING_IDS).search(line) else " "


class Marked:
    """Lines of one kind, as a pattern to search for."""

    def __init__(self, ids: frozenset[int]) -> None:
        self._ids = ids
        self._scanner: Scanner | None = None
        self._lock = threading.Lock()

    def starts(self, block: bytes) -> Iterator[int]:
        """Offsets in the block at which such lines start."""
        with self._lock:
            if self._scanner is None:
                from ...scan.database import Scanner

                self._scanner = Scanner.compile((), _OWN)
            ends = [end for end, ident in self._scanner.scan(block) if ident in self._ids]
        last = -1
        for end in ends:
            start = block.rfind(b"\n", 0, max(0, end - 1)) + 1
            if start > last:
                yield start
                last = start


ERRORS = Marked(ERROR_IDS)
"""Lines with an exception, a traceback's head, or a level of ERROR and above."""
WARNINGS = Marked(WARNING_IDS)
"""Lines of level WARNING."""
