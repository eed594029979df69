"""When each worker was heard of: first line, first fault, last sign of life.

The pipeline sees lines that hit something; the last words of a worker may be ordinary ones. So the
end of the log is read once more, and a sample of a long log's middle, within a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..diagnose.lives import Life
from ..logs.names import worker_of
from ..model import NOBODY, Finding, Worker
from .logfile.find import Stopped, ahead
from .logfile.lines import Lines
from .logfile.text import peeled

TAIL = 1 << 20
"""Bytes at the end of all sources together in which every line is read."""
SAMPLES = 64
SAMPLE = 1 << 14
MAX_SOURCES = 256

Sighting = tuple[int, float | None]
"""A line of the run, and the time that it tells."""


@dataclass(frozen=True)
class Presence:
    """One worker on the strip."""

    label: str
    """As findings name it; empty for the driver."""
    first: Sighting
    last: Sighting
    fault: Sighting | None

    @property
    def order(self) -> tuple[bool, int, int]:
        """Who failed first, then who fell silent first."""
        return self.fault is None, self.fault[0] if self.fault else 0, self.last[0]


class Signs(NamedTuple):
    """First and last line of a worker among those that were looked at."""

    first: Sighting
    last: Sighting


def signs_of(
    sources: Sequence[Lines], offsets: dict[str, int], stopped: Stopped
) -> dict[str, Signs]:
    """The first and the last line of each worker in the end and in samples of the sources, by
    label; a short log is read as a whole.

    Takes the sources, and the lines of the run before each. Where it was stopped, less.
    """
    found: dict[str, Signs] = {}
    known = [lines for lines in sources if lines.name in offsets][:MAX_SOURCES]
    for lines in known:
        before, usual = offsets[lines.name], worker_of(lines.name)
        for start, stop in _regions(lines, TAIL // max(1, len(known))):
            number = lines.number_of(start)
            if number is None:
                continue
            for line, worker, time in _said(lines, start, stop, usual):
                if stopped():
                    return found
                sign = before + number + line, time
                earlier = found.get(worker.label)
                found[worker.label] = Signs(earlier.first if earlier else sign, sign)
    return found


def _regions(lines: Lines, tail: int) -> Iterator[tuple[int, int]]:
    size = lines.size
    step = size // SAMPLES
    if size > tail + SAMPLES * SAMPLE:
        for i in range(SAMPLES):
            start = lines.start_of(i * step)
            yield start, min(size, start + SAMPLE)
    yield lines.start_of(max(0, size - tail - (0 if step > SAMPLE else SAMPLES * SAMPLE))), size


def _said(
    lines: Lines, start: int, stop: int, usual: Worker
) -> Iterator[tuple[int, Worker, float | None]]:
    number, time = 0, None
    for offset, block in ahead(lines, start, stop):
        place = offset
        while place < offset + len(block):
            row = lines.row(place)
            if row is None:
                return
            line = peeled(row)
            time = line.time or time
            if line.rest.strip():
                yield number, line.worker if line.worker != NOBODY else usual, time
            number, place = number + 1, row.end


def presences(
    lives: Sequence[Life],
    findings: Sequence[Finding],
    offsets: dict[str, int],
    signs: dict[str, Signs],
) -> tuple[Presence, ...]:
    """Every worker, who failed first before the others.

    Takes what the pipeline saw, the findings (a launcher's report can name a worker that printed
    nothing itself), the lines of the run before each source, and what `signs_of` found.
    """
    known: dict[str, Presence] = {}
    for life in lives:
        fault = (life.fault_line, life.fault_time) if life.fault_line else None
        known[life.worker.label] = Presence(
            life.worker.label,
            (life.first_line, life.first_time),
            (life.last_line, life.last_time),
            fault,
        )
    for label, sign in signs.items():
        one = known.get(label)
        if one is None:
            known[label] = Presence(label, sign.first, sign.last, None)
        else:
            first = min(one.first, sign.first, key=_line)
            known[label] = Presence(label, first, max(one.last, sign.last, key=_line), one.fault)
    for finding in findings:
        before = offsets.get(finding.evidence[0].path, 0) if finding.evidence else 0
        place = before + finding.first_line, finding.first_seen
        for label in finding.workers[:1]:
            one = known.get(label)
            if one is None:
                known[label] = Presence(label, place, place, place)
            elif finding.role in ("root", "symptom"):
                fault = min(place, one.fault or place, key=_line)
                known[label] = Presence(label, one.first, one.last, fault)
    return tuple(sorted(known.values(), key=lambda one: one.order))


def _line(sign: Sighting) -> int:
    return sign[0]


def drawn(one: Presence, span: tuple[float, float], width: int, clock: bool) -> str:
    """A worker's life as a row of characters: `-` from its first to its last sign, `X` its first
    error, `|` the last sign of life.

    Takes the span of the whole axis, in lines or (`clock`) seconds.
    """
    low, high = span
    scale = (width - 1) / (high - low) if high > low else 0.0

    def column(sign: Sighting) -> int:
        value = (sign[1] if clock else sign[0]) or low
        return max(0, min(width - 1, round((value - low) * scale)))

    first, last = column(one.first), column(one.last)
    row = [" "] * width
    row[first : last + 1] = "-" * (last - first + 1)
    row[last] = "|"
    if one.fault is not None:
        row[column(one.fault)] = "X"
    return "".join(row)


def axis(some: Sequence[Presence], total: int) -> tuple[tuple[float, float], bool]:
    """The span of the strip, and whether it is time: only where the signs tell enough of it. Lines
    without a time have that of an earlier one, and would all fall into one column."""
    signs = {sign for one in some for sign in (one.first, one.last, one.fault) if sign is not None}
    times = {time for _, time in signs if time is not None}
    told = all(time is not None for _, time in signs)
    if told and len(times) > 1 and 2 * len(times) > len(signs):
        return (min(times), max(times)), True
    return (1.0, float(max(1, total))), False


def ranks(workers: Sequence[str]) -> str:
    """Workers in few characters: `rank 0-3,7`, the one worker's label, or how many there are."""
    numbers = sorted(
        int(found)
        for label in workers
        if label.startswith("rank ") and (found := label[5:].partition(" ")[0]).isdigit()
    )
    if numbers and len(numbers) == len(workers):
        parts: list[list[int]] = []
        for number in numbers:
            if parts and number == parts[-1][1] + 1:
                parts[-1][1] = number
            else:
                parts.append([number, number])
        return "rank " + ",".join(f"{a}-{b}" if a != b else str(a) for a, b in parts)
    return workers[0] if len(workers) == 1 else f"{len(workers)}x" if workers else ""
