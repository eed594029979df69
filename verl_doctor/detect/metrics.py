"""Series of verl's step line (and of trainers that print a dict), and the rules over them.

The shape of the line and its traps (`np.float64(…)`, keys that hold blanks) are described in
docs/rules.md; verl prints it in `verl/utils/logger/aggregate_logger.py`.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from ..model import Line

_BODY = re.compile(r"(?:^|[\s\])])(step:\d+ - .*)$")
_PAIR = re.compile(
    r"(?:^| - )([^:\s][^:]*(?::[^:\d\s-][^:]*)*?):"
    r"((?:np\.\w+\()?(?:[-+]?(?:\d[\d.eE+-]*|nan|inf))\)?)(?= - |\s*$)"
)
_DICT = re.compile(r"'([\w/@.-]+)': ((?:np\.\w+\()?[-+]?(?:\d[\d.eE+-]*|nan|inf)\)?)")

MAX_POINTS = 200_000
"""Points kept of a series; a longer run is judged by these."""
EARLY = 10
"""Points whose median is a run's own level at its start."""


def _number(text: str) -> float:
    if text.startswith("np."):
        text = text[text.index("(") + 1 : -1]
    return float(text)


class Series:
    """One metric: step, value and line of every point."""

    def __init__(self) -> None:
        self.steps = array("q")
        self.values = array("d")
        self.lines = array("q")


class Metrics:
    """Reads step lines into the series that the rules ask for."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = frozenset(wanted)
        self.series: dict[str, Series] = {}
        self._dicts = 0

    def step_line(self, line: Line) -> None:
        """Takes a line with verl's `step:N - key:value - …`, also behind a progress bar."""
        body = _BODY.search(line.text)
        if body is None:
            return
        pairs = _PAIR.findall(body[1])
        if pairs and pairs[0][0] == "step":
            self._add(int(float(pairs[0][1])), pairs[1:], line.number)

    def dict_line(self, line: Line) -> None:
        """Takes a line with a trainer's `{'loss': 0.1, 'grad_norm': nan, …}`."""
        self._dicts += 1
        self._add(self._dicts, _DICT.findall(line.text), line.number)

    def _add(self, step: int, pairs: list[tuple[str, str]], number: int) -> None:
        for key, text in pairs:
            if key not in self._wanted:
                continue
            try:
                value = _number(text)
            except ValueError:
                continue
            series = self.series.setdefault(key, Series())
            if len(series.values) < MAX_POINTS:
                series.steps.append(step)
                series.values.append(value)
                series.lines.append(number)


@dataclass(frozen=True, slots=True)
class Bad:
    """Where a metric rule holds."""

    line: int
    captures: Mapping[str, str]
    lines: tuple[int, ...]


def wanted_keys(options: Mapping[str, Any]) -> list[str]:
    """Every series that a metric rule reads."""
    return [*options["key"], *options.get("while", {}).get("key", ())]


def judge(options: Mapping[str, Any], metrics: Metrics) -> Bad | None:
    """The first stretch of steps for which a metric rule's condition holds, or None.

    Takes the rule's `match.metric` (see docs/rules.md). The first of the rule's keys that the log
    has is judged.
    """
    for key in options["key"]:
        series = metrics.series.get(key)
        if series is not None and len(series.values) >= options.get("min_points", 1):
            bad = _judge_series(options, key, series, metrics)
            if bad is not None:
                return bad
    return None


def _judge_series(
    options: Mapping[str, Any], key: str, series: Series, metrics: Metrics
) -> Bad | None:
    if options.get("nan"):
        flags = [not math.isfinite(value) for value in series.values]
        need = options.get("for_steps", 1)
        return _stretch(flags, need, options.get("lasting"), key, series, series.values.tolist())
    values = _smoothed(series.values.tolist(), options.get("smooth", 1))
    need = options.get("for_steps", 3)
    if options.get("constant"):
        flags = [False] + [a == b for a, b in pairwise(values)]
        need = max(2, need) - 1
    else:
        flags = [math.isfinite(value) for value in values]
    low, high = options.get("below"), options.get("above")
    finite = [value for value in values[:EARLY] if math.isfinite(value)]
    early = median(finite) if finite else math.nan
    fall, rise = options.get("falls_to"), options.get("rises_to")
    while_ = options.get("while")
    other = _by_step(while_, metrics) if while_ else {}
    for i, value in enumerate(values):
        flags[i] = (
            flags[i]
            and (high is None or value > high)
            and (low is None or value < low)
            and (fall is None or (early > 0 and value < fall * early))
            and (rise is None or (early > 0 and value > rise * early))
            and (while_ is None or _holds(while_, other.get(series.steps[i])))
        )
    return _stretch(flags, need, options.get("lasting"), key, series, values, early)


def _by_step(while_: Mapping[str, Any], metrics: Metrics) -> dict[int, float]:
    for key in while_["key"]:
        series = metrics.series.get(key)
        if series is not None:
            return dict(zip(series.steps, series.values, strict=True))
    return {}


def _holds(condition: Mapping[str, Any], value: float | None) -> bool:
    if value is None or not math.isfinite(value):
        return False
    low, high = condition.get("below"), condition.get("above")
    return (high is None or value > high) and (low is None or value < low)


def _smoothed(values: list[float], width: int) -> list[float]:
    """Running median over the last `width` points."""
    if width <= 1:
        return values
    result = []
    for i in range(len(values)):
        window = [v for v in values[max(0, i - width + 1) : i + 1] if math.isfinite(v)]
        result.append(median(window) if window else math.nan)
    return result


def _stretch(
    flags: list[bool],
    need: int,
    lasting: bool | None,
    key: str,
    series: Series,
    values: list[float],
    early: float = math.nan,
) -> Bad | None:
    """The first run of `need` flags or more; the one that reaches the end (`lasting`) or not."""
    for first, last in _runs(flags):
        if last - first + 1 < need or (lasting is not None and lasting != (last == len(flags) - 1)):
            continue
        captures = {
            "key": key,
            "value": f"{values[first]:.4g}",
            "step": str(series.steps[first]),
            "last": f"{values[-1]:.4g}",
            "last_step": str(series.steps[-1]),
            "bad_steps": str(last - first + 1),
            "steps": str(len(values)),
            "early": f"{early:.4g}",
        }
        shown = (min(first + need - 1, last), last)
        lines = tuple(dict.fromkeys(series.lines[k] for k in shown if k != first))
        return Bad(series.lines[first], captures, lines)
    return None


def _runs(flags: list[bool]) -> Iterator[tuple[int, int]]:
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
