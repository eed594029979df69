"""A metric's curve as one line of text: in blocks or, where those can't be printed, in ASCII."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from ..model import Curve

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = ".:-=+*%@"
BROKEN, BROKEN_PLAIN = "✗", "x"
WIDTH = 48


def printable(encoding: str | None) -> bool:
    """Whether a stream of this encoding can hold the blocks."""
    try:
        (BLOCKS + BROKEN).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def sparkline(curve: Curve, *, blocks: bool = True, width: int = WIDTH) -> tuple[str, int]:
    """The curve in at most `width` characters, and the place of its first bad step in them.

    A character is the mean of its stretch of points; one with a NaN or infinite point is a cross.
    Values that span more than three decades are drawn by their logarithm.
    """
    marks, cross = (BLOCKS, BROKEN) if blocks else (PLAIN, BROKEN_PLAIN)
    values = scaled(curve.values)
    count = min(width, len(values))
    if not count:
        return "", 0
    edges = [i * len(values) // count for i in range(count + 1)]
    means = [_mean(values[a:b]) for a, b in pairwise(edges)]
    finite = [value for value in means if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    span = (high - low) or 1.0
    text = "".join(
        marks[int((value - low) / span * (len(marks) - 1) + 0.5)] if math.isfinite(value) else cross
        for value in means
    )
    bad = next((i for i, step in enumerate(curve.steps) if step >= curve.first_bad), 0)
    return text, next(i for i in range(count) if edges[i + 1] > bad)


def scaled(values: Sequence[float]) -> list[float]:
    """The values, or their logarithms where these tell more: all above 0 and far apart."""
    finite = [value for value in values if math.isfinite(value)]
    if finite and min(finite) > 0 and max(finite) / min(finite) > 1000:
        return [math.log10(value) if math.isfinite(value) else value for value in values]
    return list(values)


def extent(curve: Curve) -> tuple[float, float]:
    """The least and the greatest finite value; NaN twice where there is none."""
    finite = [value for value in curve.values if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else (math.nan, math.nan)


def _mean(values: Sequence[float]) -> float:
    if any(not math.isfinite(value) for value in values):
        return math.nan
    return math.fsum(values) / len(values)
