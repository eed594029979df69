"""The conditions of a metric rule over one series: which points are bad, and where that begins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .columns import Columns
from .robust import median, running_median
from .shapes import EARLY, OVER, Stretch, change, spells, trend


class Points(NamedTuple):
    """The points of a series that a rule looks at."""

    key: str
    steps: Sequence[int]
    values: Sequence[float]
    lines: Sequence[int]


def by_step(keys: Sequence[str], columns: Columns) -> dict[int, float]:
    """Step -> value of the first of the keys that the log has."""
    for key in columns.matching(keys):
        column = columns[key]
        return dict(zip(column.steps, column.values, strict=True))
    return {}


def find(options: Mapping[str, Any], points: Points, columns: Columns) -> Stretch | None:
    """The first stretch of the points for which a rule's condition holds, or None.

    Takes the rule's `match.metric`, the points of one of its keys, and the columns, for the second
    signal that the rule may ask for.
    """
    values = running_median(points.values, options.get("smooth", 1))
    flags, level = _flags(options, points, values, columns)
    # a value that is not finite is neither bad by a threshold nor well again
    told = [i for i in range(len(flags)) if options.get("nan") or math.isfinite(values[i])]
    if "trend" in options or "change" in options:
        if not told or not flags[told[-1]]:
            return None
        kept = [values[i] for i in told]
        found = trend(options["trend"], kept) if "trend" in options else None
        if "change" in options:
            found = change(options["change"], kept)
        return found and Stretch(told[found.first], told[-1], found.level)
    least, lasting = max(OVER, needed(options)), options.get("lasting")
    for begin, end in spells([flags[i] for i in told], needed(options), _need_once_well(options)):
        since = len(told) - 1 - end
        asked = since < least if lasting is None else lasting == (since == 0)
        if asked and points.steps[told[begin]] <= options.get("before_steps", math.inf):
            first = _unsmoothed(options, points, told[begin], columns)
            # the first of equal points differs from the one before it
            first = max(0, first - 1) if options.get("constant") else first
            return Stretch(first, told[end], level)
    return None


def _unsmoothed(options: Mapping[str, Any], points: Points, first: int, columns: Columns) -> int:
    """Where a stretch begins in the values themselves: a running median shows it some points
    late."""
    width = options.get("smooth", 1)
    if width > 1:
        raw, _ = _flags(options, points, points.values, columns)
        earliest = max(0, first - width + 1)
        while first > earliest and raw[first - 1]:
            first -= 1
    return first


def needed(options: Mapping[str, Any]) -> int:
    """How many bad points in a row a rule asks for."""
    return _in_a_row(options, options.get("for_steps", 1 if options.get("nan") else 3))


def _need_once_well(options: Mapping[str, Any]) -> int:
    """The same for a run that had been well: a turn says more than how a run always was."""
    if "once_well" not in options:
        return needed(options)
    return _in_a_row(options, options["once_well"])


def _in_a_row(options: Mapping[str, Any], count: int) -> int:
    # a point that equals the one before it makes two equal ones
    return max(1, count - 1) if options.get("constant") else count


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
    other = by_step(while_["key"], columns) if while_ else {}
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
