"""Metric rules judged over the columns of a run.

What the options of a rule's `match.metric` mean is said in docs/rules.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from ...model import Curve
from .columns import Columns
from .robust import mann_kendall, pettitt, running_median, theil_sen

EARLY = 10
"""Points whose median is a run's own level at its start."""
OVER = 10
"""Good points, at least, after which a bad stretch is history, not present trouble."""
WINDOW = 60
"""Last points over which a trend is sought, where the rule names no window."""
SIDE = 10
"""Points on either side of a change whose medians are compared."""
RARE = 0.01
"""Chance below which a change point is taken for real; the z of a trend is held to the same."""
RARE_Z = 2.58
MAX_CURVE = 400
"""Points of a curve in a report."""


@dataclass(frozen=True, slots=True)
class Bad:
    """Where a metric rule holds."""

    line: int
    captures: Mapping[str, str]
    lines: tuple[int, ...]
    curve: Curve


class Points(NamedTuple):
    """The points of a series that a rule looks at."""

    key: str
    steps: Sequence[int]
    values: Sequence[float]
    lines: Sequence[int]


class Stretch(NamedTuple):
    """Bad points, by index: the first and the last of them, and the level that they left."""

    first: int
    last: int
    level: float


def wanted_keys(options: Mapping[str, Any]) -> list[str]:
    """Every series that a metric rule reads, without names that hold a `*`."""
    names = [*options["key"], *options.get("while", {}).get("key", ()), *options.get("ratio", ())]
    return [name for name in names if "*" not in name]


def judge(options: Mapping[str, Any], columns: Columns) -> Bad | None:
    """The first stretch of steps for which a metric rule's condition holds, or None.

    Takes the rule's `match.metric`. Its keys are judged in their order; the first bad one counts.
    """
    for key in columns.matching(options["key"]):
        points = _points(options, key, columns)
        if len(points.values) < options.get("min_points", 1):
            continue
        stretch = _stretch(options, points, columns)
        if stretch is not None:
            return _bad(options, points, stretch)
    return None


def healthy_range(options: Mapping[str, Any]) -> str:
    """The range that a rule calls healthy, in signs: `< 0.2`, `0.1 … 0.5`; empty without one."""
    bounds = options.get("healthy")
    if not bounds:
        return ""
    low, high = bounds.get("above"), bounds.get("below")
    if low is None or high is None:
        return f"< {high:g}" if low is None else f"> {low:g}"
    return f"{low:g} … {high:g}"


def _points(options: Mapping[str, Any], key: str, columns: Columns) -> Points:
    column = columns[key]
    steps, values, lines = column.steps, column.values, column.lines
    start = 0
    if "after_steps" in options:
        start = bisect_right(steps, options["after_steps"])
    if "ratio" not in options:
        return Points(key, steps[start:], values[start:].tolist(), lines[start:])
    other = _by_step(options["ratio"], columns)
    held = [
        (step, value / other[step], line)
        for step, value, line in zip(steps[start:], values[start:], lines[start:], strict=True)
        if other.get(step)
    ]
    return Points(key, *(zip(*held, strict=True) if held else ((), (), ())))


def _by_step(keys: Sequence[str], columns: Columns) -> dict[int, float]:
    """Step -> value of the first of the keys that the log has."""
    for key in columns.matching(keys):
        column = columns[key]
        return dict(zip(column.steps, column.values, strict=True))
    return {}


# --- conditions ---------------------------------------------------------------------------------


def _stretch(options: Mapping[str, Any], points: Points, columns: Columns) -> Stretch | None:
    values = running_median(points.values, options.get("smooth", 1))
    flags, level = _flags(options, points, values, columns)
    if "trend" in options or "change" in options:
        if not flags or not flags[-1]:
            return None
        finite = [i for i, value in enumerate(values) if math.isfinite(value)]
        kept = [values[i] for i in finite]
        found = _trend(options["trend"], kept) if "trend" in options else None
        if "change" in options:
            found = _change(options["change"], kept)
        if found is None:
            return None
        return Stretch(finite[found.first], len(values) - 1, found.level)
    # a value that is not finite is neither bad by a threshold nor well again
    told = [i for i in range(len(flags)) if options.get("nan") or math.isfinite(values[i])]
    need, lasting = _need(options), options.get("lasting")
    for begin, end in _spells([flags[i] for i in told], need):
        since = len(told) - 1 - end
        asked = since < max(OVER, need) if lasting is None else lasting == (since == 0)
        if asked and points.steps[told[begin]] <= options.get("before_steps", math.inf):
            return Stretch(told[begin], told[end], level)
    return None


def _need(options: Mapping[str, Any]) -> int:
    """How many bad points in a row a rule asks for."""
    need: int = options.get("for_steps", 1 if options.get("nan") else 3)
    # a point that equals the one before it makes two equal ones
    return max(1, need - 1) if options.get("constant") else need


def _flags(
    options: Mapping[str, Any], points: Points, values: Sequence[float], columns: Columns
) -> tuple[list[bool], float]:
    """For every point whether it is bad, and the run's own level at its start."""
    if options.get("nan"):
        return [not math.isfinite(value) for value in points.values], math.nan
    if options.get("constant"):
        flags = [False] + [a == b for a, b in pairwise(values)]
    else:
        flags = [math.isfinite(value) for value in values]
    finite = [value for value in values[:EARLY] if math.isfinite(value)]
    level = median(finite) if finite else math.nan
    low, high = _bounds(options, level)
    while_ = options.get("while")
    other = _by_step(while_["key"], columns) if while_ else {}
    for i, value in enumerate(values):
        flags[i] = (
            flags[i]
            and low < value < high
            and (while_ is None or _holds(while_, other.get(points.steps[i])))
        )
    return flags, level


def _bounds(options: Mapping[str, Any], level: float) -> tuple[float, float]:
    """Between which values a point is bad; nothing lies between them where a share is asked of a
    level that isn't positive."""
    low, high = options.get("above", -math.inf), options.get("below", math.inf)
    fall, rise = options.get("falls_to"), options.get("rises_to")
    if (fall is not None or rise is not None) and not level > 0:
        return math.inf, -math.inf
    if fall is not None:
        high = min(high, fall * level)
    if rise is not None:
        low = max(low, rise * level)
    return low, high


def _holds(condition: Mapping[str, Any], value: float | None) -> bool:
    if value is None or not math.isfinite(value):
        return False
    low, high = condition.get("above", -math.inf), condition.get("below", math.inf)
    return bool(low < value < high)


def _trend(trend: Mapping[str, Any], values: Sequence[float]) -> Stretch | None:
    """A steady rise or fall over the last points: Mann-Kendall says that it is one, Theil-Sen how
    large, as a share of the level at its begin. It begins where a fifth of it is behind."""
    window = trend.get("window", WINDOW)
    offset = max(0, len(values) - window)
    part = values[offset:]
    if len(part) < window:
        return None
    score, change = mann_kendall(part), theil_sen(part) * (len(part) - 1)
    level = median(part[:EARLY])
    wanted = trend.get("rises_by", trend.get("falls_by", 0.0)) * abs(level)
    if "falls_by" in trend:
        score, change = -score, -change
    if score < RARE_Z or change <= 0 or change < wanted:
        return None
    sign = -1 if "falls_by" in trend else 1
    near = [i for i, value in enumerate(part) if sign * (value - level) < change / 5]
    return Stretch(min(offset + (near[-1] + 1 if near else 0), len(values) - 1), 0, level)


def _change(change: Mapping[str, Any], values: Sequence[float]) -> Stretch | None:
    """A step to another level that still lasts: Pettitt's test finds it, the medians on its two
    sides say how large it is, and of the points since, nine in ten lie on its far side."""
    place, chance = pettitt(values)
    before, after = values[max(0, place - SIDE) : place], values[place : place + SIDE]
    if chance > RARE or len(before) < SIDE or len(after) < SIDE // 2:
        return None
    level, now = median(before), median(after)
    rises = "rises_to" in change
    share = change["rises_to"] if rises else change["falls_to"]
    if level <= 0 or (now < share * level if rises else now > share * level):
        return None
    far = [(value > (level + now) / 2) == rises for value in values]
    # ranks know the place to within a few points, the level half way up to one
    near = range(place - len(before) // 2, place + len(after) // 2 + 1)
    place = min(near, key=lambda i: sum(far[:i]) + far[i:].count(False))
    return Stretch(place, 0, level) if far[place:].count(False) * 10 <= len(far) - place else None


def _spells(flags: Sequence[bool], need: int) -> Iterator[tuple[int, int]]:
    """First and last index of every spell of trouble: runs of `need` flags or more, those joined
    between which it was well for less than that (or OVER)."""
    begun = ended = None
    for first, last in _runs(flags):
        if last - first + 1 < need:
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


# --- words --------------------------------------------------------------------------------------


def _bad(options: Mapping[str, Any], points: Points, stretch: Stretch) -> Bad:
    values = points.values
    if not options.get("nan"):
        values = running_median(values, options.get("smooth", 1))
    first, last = stretch.first, stretch.last
    captures = {
        "key": points.key,
        "value": f"{values[first]:.4g}",
        "step": str(points.steps[first]),
        "last": f"{values[-1]:.4g}",
        "last_step": str(points.steps[-1]),
        "bad_steps": str(last - first + 1),
        "steps": str(len(values)),
        "early": f"{stretch.level:.4g}",
        "healthy": healthy_range(options),
    }
    shown = (min(first + _need(options) - 1, last), last)
    lines = tuple(dict.fromkeys(points.lines[k] for k in shown if k != first))
    return Bad(points.lines[first], captures, lines, _curve(options, points, first))


def _curve(options: Mapping[str, Any], points: Points, first: int) -> Curve:
    """The series as a report shows it: thinned evenly, the first bad point always among it."""
    count = len(points.values)
    chosen = range(count)
    if count > MAX_CURVE:
        even = {i * (count - 1) // (MAX_CURVE - 1) for i in range(MAX_CURVE)}
        chosen = sorted(even | {first})  # type: ignore[assignment]
    name = points.key + (f" / {options['ratio'][0]}" if "ratio" in options else "")
    return Curve(
        name,
        tuple(points.steps[i] for i in chosen),
        tuple(points.values[i] for i in chosen),
        points.steps[first],
        healthy_range(options),
    )
