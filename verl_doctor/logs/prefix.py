"""A log line's prefixes taken off, however many are stacked, and what they say about the worker.

Which prefixes exist is said in `formats`; here is only how they add up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from .. import lazy
from ..model import NOBODY, Worker
from .formats import Format, discover

MAX_DEPTH = 12
"""Prefixes taken off one line: more is a hostile line, not a log."""
MAX_STARTS = 4096
"""Beginnings of lines remembered."""
HEAD = 256
"""Characters within which a prefix shows itself: a line of a megabyte is not searched."""

_LETTERS = {
    "D": "DEBUG",
    "V": "DEBUG",
    "I": "INFO",
    "W": "WARNING",
    "WARN": "WARNING",
    "E": "ERROR",
    "C": "CRITICAL",
    "F": "FATAL",
}


class Peeled(NamedTuple):
    """A line without its prefixes."""

    rest: str
    worker: Worker
    """NOBODY itself where no prefix names anyone."""
    level: str
    """Upper-case word of the innermost prefix that has one, or empty."""
    time: float | None
    """Of the outermost prefix that has one: a collector's stamp knows its zone and is on every
    line. A stamp without a zone is read as UTC, one without a year as nothing."""
    formats: tuple[str, ...]
    """Names of the prefixes taken off, outermost first."""


_Match = Callable[[str, int], "re.Match[str] | None"]
_Entry = tuple[str, _Match, Format]


@cache
def _matcher(pattern: str) -> _Match:
    return re.compile(pattern).match


class _ByStart(dict[str, tuple[_Entry, ...]]):
    """First two characters -> formats that can begin with them, compiled when first asked for.

    The key "any" has the formats that can begin with any character.
    """

    def __missing__(self, key: str) -> tuple[_Entry, ...]:
        found: list[_Entry] = []
        for fmt in discover():
            fits = key[:1] in fmt.starts and (not fmt.then or key[1:] in fmt.then)
            if not fmt.starts if key == "any" else key and fmt.starts and fits:
                match = _matcher(fmt.pattern)
                found.extend((needed, match, fmt) for needed in fmt.needs or ("",))
        entries = tuple(found)
        if len(self) < MAX_STARTS:
            self[key] = entries
        return entries


_BY_START = _ByStart()


def _next(text: str, pos: int) -> tuple[re.Match[str], Format] | None:
    """The prefix at `pos`: of several that fit, the one that explains most of the line.

    So no order between formats has to be kept. A bar's description can be any text, hence formats
    without a start of their own are tried only where no other fits.
    """
    best = None
    size = pos - 1
    head = text[pos : pos + HEAD]
    for needed, match, fmt in _BY_START[text[pos : pos + 2]]:
        if needed in head:
            found = match(text, pos)
            if found is not None and found.end() > size:
                size = found.end()
                best = found, fmt
    if best is None:
        for needed, match, fmt in _BY_START["any"]:
            if needed in head:
                found = match(text, pos)
                if found is not None:
                    return found, fmt
    return best


def peel(text: str) -> Peeled:
    """Takes the prefixes off one line, which is free of ANSI codes and line ends.

    Of the blanks behind a prefix one belongs to it; the others are the text's indentation. Only a
    message out of JSON can hold line ends.
    """
    found = _next(text, 0)
    if found is None:
        return Peeled(text, NOBODY, "", None, ())
    worker = NOBODY
    level, time = "", None
    names: list[str] = []
    pos = 0
    while found is not None:
        match, fmt = found
        end = match.end()
        fields: Mapping[str, str | None]
        if fmt.unwrap is None:
            fields = match.groupdict()
        else:
            inner = fmt.unwrap(text[pos:])
            if inner is None:
                break
            text, fields = inner
            pos = end = 0
        word = fields.get("level") or fields.get("level_")
        if word:
            level = _LETTERS.get(word, word.upper())
        stamp = fields.get("time")
        if stamp and time is None:
            time = parse_time(stamp)
        worker = _refined(worker, fields, fmt.every_line)
        if end == pos and fmt.unwrap is None:
            break
        names.append(fmt.name)
        pos = end
        if len(names) == MAX_DEPTH:
            break
        found = _next(text, pos)
    return Peeled(text[pos:], worker, level, time, tuple(names))


def is_steady(names: tuple[str, ...]) -> bool:
    """Whether prefixes of these formats are the same on all lines of a worker, and are on all."""
    return bool(names) and _steady().issuperset(names)


@cache
def _steady() -> frozenset[str]:
    return frozenset(fmt.name for fmt in discover() if fmt.steady)


def _refined(worker: Worker, fields: Mapping[str, str | None], every_line: bool) -> Worker:
    """The worker of the outer prefixes, and what one more says.

    A tag of every line is nearer to the process than those before it and replaces what they say;
    an engine inside an actor keeps the actor's name in front. The head of a message may only name
    who is not named yet.
    """
    node, actor = fields.get("node") or "", fields.get("actor") or ""
    pid, rank = fields.get("pid") or "", fields.get("rank") or ""
    if not (node or actor or pid or rank):
        return worker
    if not every_line:
        if worker.pid or worker.rank or worker.actor:
            return worker
        return Worker(worker.node or node, actor, pid, rank)
    if worker is NOBODY:
        return Worker(node, actor, pid, rank)
    if actor and worker.actor and actor != worker.actor:
        actor = f"{worker.actor}/{actor}"
    return Worker(
        node or worker.node, actor or worker.actor, pid or worker.pid, rank or worker.rank
    )


# --- times ----------------------------------------------------------------------------------

_TIME = lazy.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)"
    r"(?:[.,](\d{1,12}))?(?:(Z)|([+-])(\d\d):?(\d\d))?$"
)


@lru_cache(maxsize=1024)
def _second(stamp: str) -> float | None:
    """Seconds since the epoch of `2026-12-01 06:00:00` or `12/01/2026 06:00:00`, read as UTC."""
    from datetime import datetime, timezone  # a log without stamps needs none

    if stamp[2] == "/":
        stamp = f"{stamp[6:10]}-{stamp[:2]}-{stamp[3:5]} {stamp[11:]}"
    try:
        return datetime.fromisoformat(stamp).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None


def parse_time(stamp: str) -> float | None:
    """Seconds since the epoch of a stamp with a year, or of a plain number of (milli)seconds.

    None for a date that does not exist.
    """
    found = _TIME.match(stamp)
    if found is None:
        try:
            number = float(stamp)
        except ValueError:
            return None
        if number > 1e11:
            number /= 1000
        return number if 1e9 <= number < 4e9 else None
    base, fraction, _, sign, hours, minutes = found.groups()
    time = _second(base)
    if time is None:
        return None
    if fraction:
        time += float(f"0.{fraction}")
    if sign:
        offset = int(hours) * 3600 + int(minutes) * 60
        time += -offset if sign == "+" else offset
    return time
