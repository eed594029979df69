"""One line of a log as rows of the screen: marks, level, number, time gap, and the text itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from rich.cells import chop_cells
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from ...model import Lang
from ..logfile.find import Query
from ..logfile.levels import level_of
from ..logfile.lines import Lines, Row
from ..logfile.text import shown
from ..words import word

GAP_WIDTH = 8
LONG_GAP_S = 60.0
"""A pause between two lines that is marked."""
CURSOR = "▌"
"""Stands behind the number of the line under the cursor: its background alone is a colour."""
CUT = "›"
"""Ends a line that goes on beyond the edge."""
EVIDENCE = ">+"
"""Marks of a line that a finding rests on."""
LEVELS = {"E": "error", "W": "warning"}


@dataclass(frozen=True)
class Painter:
    """How the rows of one screen are painted."""

    console: Console
    style: Callable[[str], Style]
    """The style of a part by its name: `gutter`, `error`, `hit`, …"""
    lang: Lang
    lines: Lines
    width: int
    digits: int
    """Room for line numbers."""
    cursor: int
    evidence: Mapping[int, bool]
    bookmarks: Set[int]
    folds: Mapping[int, int]
    searched: Query | None
    wrap: bool
    side: int
    """Cells that the text is moved to the left by, where lines are not wrapped."""
    gaps: bool

    def strips(self, row: Row, gap: str) -> list[Strip]:
        """The rows of a line; one where lines are not wrapped."""
        number = self.lines.number_of(row.start)
        mark, level = self._mark(row, number), level_of(row.raw)
        named = str(number) if number is not None else "~"
        cursor = CURSOR if row.start == self.cursor else " "
        gutter = f"{mark}{level}{named:>{self.digits}}{cursor}"
        if self.gaps:
            gutter += f"{gap:>{GAP_WIDTH}} "
        ink = Style(
            color=self.style(LEVELS[level]).color if level in LEVELS else None,
            bold=True if mark in EVIDENCE else None,
        )
        text = Text(shown(row), end="")
        if self.searched is not None:
            for start, end in self.searched.spans(text.plain):
                text.stylize(self.style("hit"), start, end)
        if row.start in self.folds:
            end = self.folds[row.start]
            hidden = self.lines.tape.read(row.end, end - row.end).count(b"\n")
            text.append("  " + word("folded_lines", self.lang, n=hidden), self.style("note"))
        return self._cut(Strip([Segment(gutter, self.style("gutter"))]), text, ink)

    def _mark(self, row: Row, number: int | None) -> str:
        if number is not None and number in self.evidence:
            return ">" if self.evidence[number] else "+"
        return "*" if row.start in self.bookmarks else " "

    def _cut(self, gutter: Strip, text: Text, ink: Style) -> list[Strip]:
        room = max(1, self.width - gutter.cell_length)
        if not self.wrap:
            whole = Strip(text.render(self.console)).apply_style(ink)
            if whole.cell_length <= self.side + room:
                return [Strip.join([gutter, whole.crop(self.side)])]
            body = whole.crop(self.side, self.side + room - 1)
            return [Strip.join([gutter, body, Strip([Segment(CUT, self.style("gutter"))])])]
        cuts, place = [], 0
        for piece in chop_cells(text.plain, room)[:-1]:
            place += len(piece)
            cuts.append(place)
        strips = []
        for part in text.divide(cuts):
            part.end = ""
            strips.append(Strip.join([gutter, Strip(part.render(self.console)).apply_style(ink)]))
            gutter = Strip.blank(gutter.cell_length)
        return strips or [gutter]


def gap_words(before: float | None, now: float | None) -> str:
    """The pause between two times in at most GAP_WIDTH characters; a long one has a `!`."""
    if before is None or now is None:
        return ""
    pause = now - before
    sign = "-" if pause < 0 else "+"
    mark = "!" if pause >= LONG_GAP_S else ""
    pause = abs(pause)
    if pause >= 3600:
        text = f"{pause // 3600:.0f}h{pause % 3600 // 60:02.0f}m"
    elif pause >= 60:
        text = f"{pause // 60:.0f}m{pause % 60:02.0f}s"
    else:
        text = f"{pause:.1f}s"
    return f"{mark}{sign}{text}"
