"""Where a series of values turns bad: spells of bad points, trends, changes of level.

Knows values and their places, neither keys nor steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .robust import mann_kendall, median, pettitt, theil_sen

EARLY = 10
"""Points whose median is a run's own level at its start; so many have to be well for a turn."""
OVER = 10
"""Good points, at least, after which a bad stretch is history, not present trouble."""
WINDOW = 60
"""Last points over which a trend is sought, where the rule names no window."""
RECENT = 40
"""Last points in which a change is sought by themselves: in a long series, ranks see it late."""
SIDE = 10
"""Points on either side of a change whose medians are compared."""
RARE = 0.01
"""Chance below which a change point is taken for real; the z of a trend is held to the same."""
RARE_Z = 2.58


class Stretch(NamedTuple):
    """Bad points, by index: the first and the last of them, and the level that they left."""

    first: int
    last: int
    level: float


def trend(asked: Mapping[str, Any], values: Sequence[float]) -> Stretch | None:
    """A steady rise or fall over the last points: Mann-Kendall says that it is one, Theil-Sen how
    large, as a share of the level at its begin. It begins where a fifth of it is behind."""
    window = asked.get("window", WINDOW)
    offset = max(0, len(values) - window)
    part = values[offset:]
    if len(part) < window:
        return None
    score, change = mann_kendall(part), theil_sen(part) * (len(part) - 1)
    level = median(part[:EARLY])
    wanted = asked.get("rises_by", asked.get("falls_by", 0.0)) * abs(level)
    if "falls_by" in asked:
        score, change = -score, -change
    if score < RARE_Z or change <= 0 or change < wanted:
        return None
    sign = -1 if "falls_by" in asked else 1
    near = [i for i, value in enumerate(part) if sign * (value - level) < change / 5]
    return Stretch(min(offset + (near[-1] + 1 if near else 0), len(values) - 1), 0, level)


def change(asked: Mapping[str, Any], values: Sequence[float]) -> Stretch | None:
    """A step to another level that still lasts, in the whole series or only in its last part:
    there a few points after it are enough."""
    found = _break(asked, values)
    offset = len(values) - RECENT
    if found is None and offset > 0:
        recent = _break(asked, values[offset:])
        found = recent and recent._replace(first=recent.first + offset)
    return found


def _break(asked: Mapping[str, Any], values: Sequence[float]) -> Stretch | None:
    """Pettitt's test finds the step, the medians on its two sides say how large it is, and of the
    points since, nine in ten lie on its far side."""
    place, chance = pettitt(values)
    before, after = values[max(0, place - SIDE) : place], values[place : place + SIDE]
    if chance > RARE or len(before) < SIDE or len(after) < SIDE // 2:
        return None
    level, now = median(before), median(after)
    rises = "rises_to" in asked
    share = asked["rises_to"] if rises else asked["falls_to"]
    if level <= 0 or (now < share * level if rises else now > share * level):
        return None
    far = [(value > (level + now) / 2) == rises for value in values]
    # ranks know the place to within a few points, the level half way up to one
    near = range(place - len(before) // 2, place + len(after) // 2 + 1)
    place = min(near, key=lambda i: sum(far[:i]) + far[i:].count(False))
    return Stretch(place, 0, level) if far[place:].count(False) * 10 <= len(far) - place else None


def spells(flags: Sequence[bool], need: int, once_well: int) -> Iterator[tuple[int, int]]:
    """First and last index of every spell of trouble: runs of `need` flags or more (`once_well`
    where EARLY points before were well), those joined between which it was well for less than
    that (or OVER)."""
    begun = ended = None
    well = passed = 0
    for first, last in _runs(flags):
        well, passed = well + first - passed, last + 1
        if last - first + 1 < (once_well if well >= EARLY else need):
            continue
        if begun is not None and ended is not None and first - ended - 1 >= max(OVER, need):
            yield begun, ended
            begun = None
        begun, ended = first if begun is None else begun, last
    if begun is not None and ended is not None:
        yield begun, ended


def _runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """First and last index of every run of set flags."""
    first = None
    for i, flag in enumerate(flags):
        if flag and first is None:
            first = i
        elif not flag and first is not None:
            yield first, i - 1
            first = None
    if first is not None:
        yield first, len(flags) - 1
