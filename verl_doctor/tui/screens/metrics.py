"""Plots of the metrics that rules look at, with the stretch that a rule calls bad."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList, Static

from ...model import Lang
from ..keys import LIST, bindings
from ..plot import Plot, drawn, marks, points_of
from ..reading import Snapshot
from ..widgets.lists import Entry, ItemList
from ..words import word
from .base import DoctorScreen, Hints, titled


class PlotList(ItemList[Plot], inherit_bindings=False):
    """The metrics; those with a bad stretch first."""

    BINDINGS = LIST
    DEFAULT_CSS = (
        "PlotList { text-wrap: nowrap; text-overflow: ellipsis; width: 34%; padding-right: 1; }"
    )


class Chart(Static):
    """One plot and a cursor on a point of it."""

    DEFAULT_CSS = "Chart { width: 1fr; height: 1fr; padding: 0 1; }"

    def __init__(self, lang: Lang) -> None:
        super().__init__()
        self._lang = lang
        self.plot: Plot | None = None
        self.point = 0
        """Index of the point under the cursor."""

    def show(self, plot: Plot | None) -> None:
        """Shows a plot, the cursor on its first bad point, else its last."""
        self.plot = plot
        if plot is not None:
            self.point = plot.bad[0][0] if plot.bad else len(plot.values) - 1
        self.draw()

    def move(self, columns: int) -> None:
        """Moves the cursor by columns of the screen, at least a point a column."""
        if self.plot is None:
            return
        count = len(self.plot.values)
        step = max(1, count // max(1, self.size.width - 2))
        self.point = max(0, min(count - 1, self.point + columns * step))
        self.draw()

    def on_resize(self, _: events.Resize) -> None:
        self.draw()

    def draw(self) -> None:
        """Draws the plot anew."""
        plot, width, height = self.plot, self.size.width - 2, self.size.height - 6
        if plot is None or width < 10 or height < 3:
            self.update("")
            return
        finite = [value for value in plot.values if math.isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (math.nan, math.nan)
        column = next(
            (c for c in range(width) if self.point < points_of(c, len(plot.values), width)[1]), 0
        )
        parts: list[str | tuple[str, str]] = [(f"{high:.6g}\n", "dim")]
        for row in drawn(plot, width, height):
            parts.append(f"{row}\n")
        parts += [(f"{marks(plot, width)}\n", "bold $text-error")]
        ends = [word("step", self._lang, n=plot.steps[i]) for i in (0, -1)]
        between = " " * max(1, width - sum(map(cell_len, ends)))
        parts += [(f"{' ' * column}^\n", "bold"), (f"{low:.6g}\n{between.join(ends)}", "dim")]
        self.update(Content.assemble(*parts))


class Metrics(DoctorScreen):
    """`M`."""

    PANE = "metrics"
    BINDINGS = bindings("metrics")
    DEFAULT_CSS = "Metrics #value { height: 2; padding: 0 1; }"

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._plots: Sequence[Plot] = snapshot.plots

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield PlotList().add_class("pane")
            yield Chart(self.lang).add_class("pane")
        yield Static(id="value")
        yield Hints()

    def on_mount(self) -> None:
        super().on_mount()
        plots = self.query_one(PlotList)
        entries: list[Entry[Plot]] = [
            Entry(Content.assemble(("! " if plot.bad else "  ", "bold"), plot.key), plot)
            for plot in self._plots
        ]
        plots.fill(entries or [Entry(Content(word("no_metrics", self.lang)))])
        plots.focus()
        titled(plots, f"{word('screen_metrics', self.lang)} ({len(self._plots)})")

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        plot: Plot | None = self.query_one(PlotList).chosen
        chart = self.query_one(Chart)
        chart.show(plot)
        titled(chart, plot.key if plot is not None else "")
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
        if chart.plot is not None:
            self.doctor.goto_run_line(chart.plot.lines[chart.point])

    def _tell(self) -> None:
        chart = self.query_one(Chart)
        plot, told = chart.plot, []
        if plot is not None:
            step, value = plot.steps[chart.point], plot.values[chart.point]
            line = plot.lines[chart.point]
            told.append(word("step_value", self.lang, step=step, value=f"{value:.6g}", line=line))
            told += [
                word("bad_stretch", self.lang, rule=rule, first=plot.steps[a], last=plot.steps[b])
                for a, b, rule in plot.bad[:1]
            ]
        self.query_one("#value", Static).update(Content("\n".join(told)))
