"""The top line: the verdict at the left, how far reading has come at the right."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from ...model import Lang, Report
from ...render.labels import label
from ..words import word

STYLES = {
    "failed": "bold $text on $error-darken-1",
    "hung": "bold black on $warning",
    "degraded": "bold black on $warning",
    "interrupted": "bold black on $accent",
    "healthy": "bold $text-success",
    "unknown": "bold reverse",
}


class Header(Static):
    """One line. Until there is a report, what is being done stands for it."""

    DEFAULT_CSS = "Header { height: 1; dock: top; background: $panel; }"

    def show(self, report: Report | None, progress: str, lang: Lang, *, finished: bool) -> None:
        """Shows a report's verdict, and words on the reading."""
        left = Content("" if finished else f" {word('loading', lang)}")
        if report is not None:
            where = label(f"phase_{report.phase.name}", lang)
            if report.phase.step is not None:
                where += label("at_step", lang, n=report.phase.step)
            if finished and report.verdict in ("unknown", "healthy"):
                # what that means is nowhere else
                where = label(f"{report.verdict}_tail", lang, where=where)
            verdict = label(f"verdict_{report.verdict}", lang)
            so_far = "" if finished else f" ({word('provisional', lang)})"
            left = Content.assemble((f" {verdict}{so_far} ", STYLES[report.verdict]), f" {where} ")
        right = Content(f"{progress} ")
        room = self.size.width - right.cell_length
        if room > 0:
            left = left.truncate(room, ellipsis=True, pad=True)
        self.update(Content.assemble(left, right.stylize("dim")))
