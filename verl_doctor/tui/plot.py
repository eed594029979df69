"""Metric plots of a run, and which stretch of them a finding is about.

The one place of the screen that knows how series of metrics are kept.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from ..knowledge.base import RuleBase
from ..model import Report
from ..pipeline import Session

MAX_POINTS = 20_000
"""Points of a series that are drawn: its last ones."""


@dataclass(frozen=True)
class Plot:
    """One metric over the steps of a run."""

    key: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    lines: tuple[int, ...]
    """Line of the run that every point was printed on."""
    bad: tuple[tuple[int, int, str], ...] = ()
    """First and last index of each bad stretch, and the rule that says so."""


def plots_of(session: Session, report: Report, base: RuleBase) -> tuple[Plot, ...]:
    """The plots of everything that rules look at, those with a bad stretch first.

    Takes the session, in the thread that feeds it, and its report.
    """
    about: dict[str, list[tuple[int, str]]] = {}
    for finding in report.findings:
        if finding.curve is not None and finding.rule:
            about.setdefault(finding.curve.key, []).append((finding.curve.first_bad, finding.rule))
    plots = []
    for key, column in session.columns.items():
        lines = column.lines[-MAX_POINTS:]
        steps, values = column.steps[-MAX_POINTS:], column.values[-MAX_POINTS:]
        bad = []
        for step, rule in about.get(key, ()):
            first, last = bisect_left(steps, step), len(steps) - 1
            options = base.spec(rule).options
            if options.get("lasting") is False:
                last = min(last, first + options.get("for_steps", 1) - 1)
            if first <= last:
                bad.append((first, last, rule))
        plots.append(Plot(key, tuple(steps), tuple(values), tuple(lines), tuple(bad)))
    return tuple(sorted(plots, key=lambda plot: (not plot.bad, plot.key)))


def drawn(plot: Plot, width: int, height: int) -> list[str]:
    """The plot as `height` rows of `width` characters, the highest value on top.

    Each column spans the values of its points; `N` at the bottom is a value that is no number.
    """
    rows = [[" "] * width for _ in range(height)]
    finite = [value for value in plot.values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    scale = (height - 1) / (high - low) if high > low else 0.0
    for column in range(width):
        first, last = points_of(column, len(plot.values), width)
        some = [value for value in plot.values[first:last] if math.isfinite(value)]
        if first < last and len(some) < last - first:
            rows[-1][column] = "N"
        if some:
            top, bottom = (
                height - 1 - round((value - low) * scale) if scale else height // 2
                for value in (max(some), min(some))
            )
            for row in range(top, bottom + 1):
                rows[row][column] = "|" if top != bottom else "*"
    return ["".join(row) for row in rows]


def points_of(column: int, count: int, width: int) -> tuple[int, int]:
    """First index and the index behind the last of the points that a column shows."""
    if count <= width:
        return (column, column + 1) if column < count else (count, count)
    return column * count // width, (column + 1) * count // width


def marks(plot: Plot, width: int) -> str:
    """A row with `!` under every column that has a bad point."""
    row = []
    for column in range(width):
        first, last = points_of(column, len(plot.values), width)
        hit = any(first <= stop and start < last for start, stop, _ in plot.bad)
        row.append("!" if first < last and hit else " ")
    return "".join(row)
