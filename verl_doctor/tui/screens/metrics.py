"""Curves of the metrics that rules look at, with the stretch that a rule calls bad."""

from __future__ import annotations

import math
from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList, Static

from ..curve import Curve, drawn, marks, points_of
from ..keys import LIST, bindings
from ..reading import Snapshot
from ..widgets.lists import Entry, ItemList
from ..words import word
from .base import DoctorScreen, Hints, titled


class CurveList(ItemList[Curve], inherit_bindings=False):
    """The metrics; those with a bad stretch first."""

    BINDINGS = LIST
    DEFAULT_CSS = "CurveList { text-wrap: nowrap; text-overflow: ellipsis; width: 34%; }"


class Chart(Static):
    """One curve and a cursor on a point of it."""

    DEFAULT_CSS = "Chart { width: 1fr; height: 1fr; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.curve: Curve | None = None
        self.point = 0
        """Index of the point under the cursor."""

    def show(self, curve: Curve | None) -> None:
        """Shows a curve, the cursor on its first bad point, else its last."""
        self.curve = curve
        if curve is not None:
            self.point = curve.bad[0][0] if curve.bad else len(curve.values) - 1
        self.draw()

    def move(self, columns: int) -> None:
        """Moves the cursor by columns of the screen, at least a point a column."""
        if self.curve is None:
            return
        count = len(self.curve.values)
        step = max(1, count // max(1, self.size.width - 2))
        self.point = max(0, min(count - 1, self.point + columns * step))
        self.draw()

    def on_resize(self, _: events.Resize) -> None:
        self.draw()

    def draw(self) -> None:
        """Draws the curve anew."""
        curve, width, height = self.curve, self.size.width - 2, self.size.height - 6
        if curve is None or width < 10 or height < 3:
            self.update("")
            return
        finite = [value for value in curve.values if math.isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (math.nan, math.nan)
        column = next(
            (c for c in range(width) if self.point < points_of(c, len(curve.values), width)[1]), 0
        )
        parts: list[str | tuple[str, str]] = [(f"{high:.6g}\n", "dim")]
        for row in drawn(curve, width, height):
            parts.append(f"{row}\n")
        parts += [(f"{marks(curve, width)}\n", "bold $text-error")]
        parts += [(f"{' ' * column}^\n", "bold"), (f"{low:.6g}\n", "dim")]
        self.update(Content.assemble(*parts))


class Metrics(DoctorScreen):
    """`M`."""

    PANE = "metrics"
    BINDINGS = bindings("metrics")
    DEFAULT_CSS = "Metrics #value { height: 2; padding: 0 1; }"

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._curves: Sequence[Curve] = snapshot.curves

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield CurveList().add_class("pane")
            yield Chart().add_class("pane")
        yield Static(id="value")
        yield Hints()

    def on_mount(self) -> None:
        super().on_mount()
        curves = self.query_one(CurveList)
        entries: list[Entry[Curve]] = [
            Entry(Content.assemble(("! " if curve.bad else "  ", "bold"), curve.key), curve)
            for curve in self._curves
        ]
        curves.fill(entries or [Entry(Content(word("no_metrics", self.lang)))])
        curves.focus()
        titled(curves, f"{word('screen_metrics', self.lang)} ({len(self._curves)})")

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        curve: Curve | None = self.query_one(CurveList).chosen
        chart = self.query_one(Chart)
        chart.show(curve)
        titled(chart, curve.key if curve is not None else "")
        self._tell()

    def on_option_list_option_selected(self, _: OptionList.OptionSelected) -> None:
        self.action_open()

    def action_left(self) -> None:
        self.query_one(Chart).move(-1)
        self._tell()

    def action_right(self) -> None:
        self.query_one(Chart).move(1)
        self._tell()

    def action_open(self) -> None:
        chart = self.query_one(Chart)
        if chart.curve is not None:
            self.doctor.goto_run_line(chart.curve.lines[chart.point])

    def _tell(self) -> None:
        chart = self.query_one(Chart)
        curve, told = chart.curve, []
        if curve is not None:
            step, value = curve.steps[chart.point], curve.values[chart.point]
            line = curve.lines[chart.point]
            told.append(word("step_value", self.lang, step=step, value=f"{value:.6g}", line=line))
            told += [
                word("bad_stretch", self.lang, rule=rule, first=curve.steps[a], last=curve.steps[b])
                for a, b, rule in curve.bad[:1]
            ]
        self.query_one("#value", Static).update(Content("\n".join(told)))
