"""Statistics that a single spike doesn't move: medians, Mann-Kendall, Theil-Sen, Pettitt.

Plain Python; what is quadratic in the number of points is bounded by MAX_PAIRED.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import combinations

MAX_PAIRED = 200
"""Points that are compared each with each; a longer series is thinned evenly."""


def median(values: Iterable[float]) -> float:
    """The middle of the values, or the mean of the two in the middle; there has to be one.

    As in `statistics`, whose import takes 5 ms: it brings decimals and fractions along.
    """
    order = sorted(values)
    half, odd = divmod(len(order), 2)
    return order[half] if odd else (order[half - 1] + order[half]) / 2


def running_median(values: Sequence[float], width: int) -> list[float]:
    """The median of the last `width` points at each place, NaN where none of them is finite."""
    if width <= 1:
        return list(values)
    window: list[float] = []
    result = []
    for i, value in enumerate(values):
        if i >= width and math.isfinite(values[i - width]):
            del window[bisect_left(window, values[i - width])]
        if math.isfinite(value):
            insort(window, value)
        half, odd = divmod(len(window), 2)
        if not window:
            result.append(math.nan)
        else:
            result.append(window[half] if odd else (window[half - 1] + window[half]) / 2)
    return result


def mann_kendall(values: Sequence[float]) -> float:
    """The z of Mann-Kendall's test: above 2.58 a rise, below -2.58 a fall, at the 1 % level.

    Ties count for neither side, which errs towards no trend. 0 for fewer than 4 points.
    """
    points = _thinned(values)
    count = len(points)
    if count < 4:
        return 0.0
    score = sum((b > a) - (b < a) for a, b in combinations(points, 2))
    spread = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return (score - (score > 0) + (score < 0)) / spread


def theil_sen(values: Sequence[float]) -> float:
    """The median slope between two points, per point. 0 for fewer than 2 points."""
    points = _thinned(values)
    if len(points) < 2:
        return 0.0
    numbered = list(enumerate(points))
    slope = median((b - a) / (j - i) for (i, a), (j, b) in combinations(numbered, 2))
    return slope * (len(points) - 1) / (len(values) - 1)


def pettitt(values: Sequence[float]) -> tuple[int, float]:
    """Pettitt's rank test for one change point.

    Returns the index of the first point after the most likely change, and the probability that
    such a change is chance. (0, 1.0) for fewer than 4 points.
    """
    count = len(values)
    if count < 4:
        return 0, 1.0
    order = sorted(values)
    place, best, total = 0, 0.0, 0.0
    for i, value in enumerate(values[:-1]):
        rank = (bisect_left(order, value) + bisect_right(order, value) + 1) / 2
        total += 2 * rank - (count + 1)
        if abs(total) > abs(best):
            place, best = i + 1, total
    chance = 2 * math.exp(-6 * best * best / (count**3 + count**2))
    return place, min(1.0, chance)


def _thinned(values: Sequence[float]) -> Sequence[float]:
    count = len(values)
    if count <= MAX_PAIRED:
        return values
    return [values[i * (count - 1) // (MAX_PAIRED - 1)] for i in range(MAX_PAIRED)]
