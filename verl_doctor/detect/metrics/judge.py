"""Metric rules judged over the columns of a run.

What the options of a rule's `match.metric` mean is said in docs/rules.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...logs.text import visible
from ...model import Curve
from .columns import Columns
from .conditions import Points, by_step, find, needed
from .robust import running_median
from .shapes import Stretch

MAX_CURVE = 400
"""Points of a curve in a report."""


class Bad(NamedTuple):
    """Where a metric rule holds."""

    line: int
    captures: Mapping[str, str]
    lines: tuple[int, ...]
    curve: Curve


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
        stretch = find(options, points, columns)
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
    other = by_step(options["ratio"], columns)
    held = [
        (step, value / other[step], line)
        for step, value, line in zip(steps[start:], values[start:], lines[start:], strict=True)
        if other.get(step)
    ]
    return Points(key, *(zip(*held, strict=True) if held else ((), (), ())))


def _bad(options: Mapping[str, Any], points: Points, stretch: Stretch) -> Bad:
    values = points.values
    if not options.get("nan"):
        values = running_median(values, options.get("smooth", 1))
    first, last = stretch.first, stretch.last
    captures = {
        "key": points.key,
        "value": f"{points.values[first]:.4g}",
        "step": str(points.steps[first]),
        "last": f"{values[-1]:.4g}",
        "last_step": str(points.steps[-1]),
        "bad_steps": str(last - first + 1),
        "steps": str(len(values)),
        "early": f"{stretch.level:.4g}",
        "healthy": healthy_range(options),
    }
    shown = (min(first + needed(options) - 1, last), last)
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
        visible(name, 120),
        tuple(points.steps[i] for i in chosen),
        tuple(points.values[i] for i in chosen),
        points.steps[first],
        healthy_range(options),
    )
