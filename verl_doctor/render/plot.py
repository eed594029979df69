"""The metrics at fault as a picture: SVG written here, PNG by matplotlib where it is installed.

A picture holds a panel a metric: the curve, gaps where it is not finite, the first bad step as a
line, and the last checkpoint from before the trouble.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

from ..errors import DoctorError
from ..model import Curve, Report
from .spark import extent, scaled

MAX_PANELS = 8
WIDTH, HEIGHT = 720, 150
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 30, 25
LINE, BAD, SAVED, INK = "#1f6feb", "#cf222e", "#1a7f37", "#57606a"


class PlotError(DoctorError):
    """A picture can't be drawn; the message says what to do."""


def guilty(report: Report) -> list[Curve]:
    """The curves of the findings, most important first: each metric once, advice last."""
    ranked = sorted(report.findings, key=lambda one: one.role == "advice")
    curves = {one.curve.key: one.curve for one in reversed(ranked) if one.curve is not None}
    return list(reversed(curves.values()))[:MAX_PANELS]


def svg(report: Report) -> str:
    """The picture as SVG; an empty one if no metric is at fault."""
    curves = guilty(report)
    saved = _saved_step(report)
    height = HEIGHT * len(curves)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for i, curve in enumerate(curves):
        out.append(f'<g transform="translate(0 {i * HEIGHT})">')
        out += _panel(curve, saved)
        out.append("</g>")
    return "\n".join([*out, "</svg>", ""])


def png(report: Report, path: str) -> None:
    """Draws the picture into a PNG file. Errors: PlotError without matplotlib; OSError."""
    try:
        import matplotlib
    except ImportError as error:
        raise PlotError(
            "a PNG needs matplotlib: pip install 'verl-doctor[plot]', or give a name that ends "
            "in .svg"
        ) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    curves = guilty(report)
    figure, axes = pyplot.subplots(
        max(1, len(curves)), figsize=(WIDTH / 96, HEIGHT / 96 * max(1, len(curves))), squeeze=False
    )
    for axis, curve in zip(axes[:, 0], curves, strict=False):
        _draw(axis, curve, _saved_step(report))
    figure.tight_layout()
    figure.savefig(path, dpi=144, format="png")
    pyplot.close(figure)


def _draw(axis: Any, curve: Curve, saved: int | None) -> None:
    axis.plot(curve.steps, curve.values, color=LINE, linewidth=1)
    axis.set_xlim(curve.steps[0], max(curve.steps[-1], curve.steps[0] + 1))
    axis.axvline(curve.first_bad, color=BAD, linestyle="--", linewidth=1)
    if saved is not None and curve.steps[0] <= saved <= curve.steps[-1]:
        axis.axvline(saved, color=SAVED, linestyle=":", linewidth=1)
    if _by_decades(curve):
        axis.set_yscale("log")
    # a key is a log's text: no mathematics in it
    title = _title(curve).encode("ascii", "backslashreplace").decode().replace("$", r"\$")
    axis.set_title(title, fontsize=8, loc="left")
    axis.tick_params(labelsize=7)


def _by_decades(curve: Curve) -> bool:
    pairs = zip(scaled(curve.values), curve.values, strict=True)
    return any(drawn != value for drawn, value in pairs if math.isfinite(value))


def _saved_step(report: Report) -> int | None:
    story = report.story
    return story.checkpoint.step if story is not None and story.checkpoint is not None else None


def _title(curve: Curve) -> str:
    healthy = f", healthy {curve.healthy}" if curve.healthy else ""
    return f"{curve.key}: first bad step {curve.first_bad}{healthy}"


def _panel(curve: Curve, saved: int | None) -> Iterator[str]:
    first, last = curve.steps[0], curve.steps[-1]
    values = scaled(curve.values)
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)

    def x(step: float) -> float:
        return LEFT + (step - first) / max(1, last - first) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / ((high - low) or 1.0) * (HEIGHT - TOP - BOTTOM)

    yield f'<text x="{LEFT}" y="18" font-size="12" fill="#1f2328">{escape(_title(curve))}</text>'
    base = HEIGHT - BOTTOM
    yield f'<path d="M{LEFT} {TOP}V{base}H{WIDTH - RIGHT}" stroke="{INK}" fill="none"/>'
    least, greatest = extent(curve)
    for text, height in ((greatest, TOP + 4), (least, base)):
        yield f'<text x="{LEFT - 6}" y="{height}" text-anchor="end">{text:.4g}</text>'
    for step, anchor in ((first, "start"), (last, "end")):
        yield f'<text x="{x(step):.1f}" y="{base + 15}" text-anchor="{anchor}">{step}</text>'
    for stretch in _finite_stretches(curve.steps, values):
        points = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in stretch)
        yield f'<polyline points="{points}" stroke="{LINE}" fill="none"/>'
    marks = [(curve.first_bad, BAD, "4 3")]
    if saved is not None and first <= saved <= last:
        marks.append((saved, SAVED, "1 3"))
    for step, colour, dashes in marks:
        yield (
            f'<path d="M{x(step):.1f} {TOP}V{base}" stroke="{colour}" stroke-dasharray="{dashes}"/>'
        )


def _finite_stretches(
    steps: Sequence[int], values: Sequence[float]
) -> Iterator[list[tuple[int, float]]]:
    stretch: list[tuple[int, float]] = []
    for step, value in zip(steps, values, strict=True):
        if math.isfinite(value):
            stretch.append((step, value))
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch
