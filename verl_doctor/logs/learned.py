"""Prefixes that no format knows, learnt from how a log's tracebacks begin."""

from __future__ import annotations

import re

from .. import lazy
from ..model import NOBODY, Worker
from .prefix import Peeled, peel
from .shapes import HEADER

MAX_LEARNED = 4
_KEYS = lazy.compile(r"\^[CZ\\]")
"""Keys as a terminal echoes them: `^CTraceback …` has no prefix."""
_NUMBER = lazy.compile(r"\d+")
_CLOCK = lazy.compile(r"\d:\d\d")


class Learned:
    """The unknown prefixes of one source.

    What stands before `Traceback (most recent call last):` stands before every line of that log:
    `gpu-01: `, `[pod/x/main] `, a dashboard's date and host. Digits may vary.
    """

    def __init__(self) -> None:
        self._patterns: list[re.Pattern[str]] = []

    def peel(self, peeled: Peeled) -> Peeled:
        """Takes such a prefix off a line freed of those that are known."""
        text = peeled.rest
        if not self._patterns and HEADER not in text:
            return peeled
        for pattern in self._patterns:
            found = pattern.match(text)
            if found:
                return _behind(peeled, found.end())
        before, header, rest = text.partition(HEADER)
        known = not _KEYS.sub("", before).strip(" |+╭─") or before.startswith(
            ("[prompt]", "[response]")
        )
        if not header or rest.strip() != ":" or known or len(before) > 120:
            return peeled
        if before.rstrip().endswith(("Original", "Group")) or len(self._patterns) >= MAX_LEARNED:
            return peeled
        shape = r"\d+".join(re.escape(piece) for piece in _NUMBER.split(before))
        self._patterns.append(re.compile(shape))
        return _behind(peeled, len(before))


def _behind(peeled: Peeled, place: int) -> Peeled:
    """What stands behind an unknown prefix; it names the worker unless it holds a time."""
    prefix = peeled.rest[:place].strip(" \t:|>")
    inner = peel(peeled.rest[place:])
    worker = inner.worker if inner.worker != NOBODY else peeled.worker
    if worker == NOBODY and not _CLOCK.search(prefix):
        worker = Worker(node=prefix)
    return Peeled(
        inner.rest,
        worker,
        inner.level or peeled.level,
        peeled.time or inner.time,
        (*peeled.formats, "learned", *inner.formats),
    )
