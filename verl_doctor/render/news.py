"""News of a live run as plain lines, and a status line where there is a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

from ..live import News
from ..model import Lang
from .labels import duration, label, pasted

MARGIN = 9
"""Cells of the time at the beginning of a line, and of the blanks below it."""


def wait(news: News, lang: Lang) -> str:
    """One sentence about a wait: how long against what is usual, in which phase, after which step.

    Takes news of kind `stopped`, `no_step`, `slow` or `resumed`.
    """
    step = label("none", lang) if news.step is None else str(news.step)
    told = label(f"news_{news.kind}", lang, n=duration(news.seconds), step=step)
    if news.kind == "resumed":
        return told
    if news.usual:
        told += label("news_usual", lang, usual=duration(news.usual))
    if news.kind == "slow":
        return told
    where = label("phase_" + news.phase, lang)
    return f"{told}{label('news_where', lang, phase=where, step=step)}"


def line(news: News, lang: Lang, clock: float | None = None) -> str:
    """The news as one or more lines of text, without the last newline."""

    def say(key: str, **values: object) -> str:
        return label(key, lang, **values)

    stamp = time.strftime("%H:%M:%S", time.localtime(clock))
    finding = news.finding
    if news.kind in ("stopped", "no_step", "slow", "resumed"):
        return f"{stamp} {wait(news, lang)}"
    if finding is None:
        return f"{stamp} {say('news_cleared')}"
    where = say("line", n=finding.evidence[0].line) if finding.evidence else ""
    name = finding.rule or say("unexplained")
    kind = say("news_" + news.kind)
    head = say("news_finding", kind=kind, name=name, where=where, title=finding.title)
    head = f"{stamp} {head}"
    if news.kind == "again":
        return head + say("news_times", n=news.count)
    out = [head]
    if news.kind in ("alert", "revised") and finding.fixes:
        fix = finding.fixes[0]
        first = "".join("  " + text for _, text in pasted(fix)[:1])
        out.append(" " * MARGIN + say("news_fix", text=fix.text) + first)
    return "\n".join(out)


def fitted(text: str, stream: TextIO, margin: int = MARGIN) -> str:
    """Lines for a stream: on a terminal broken between words, with so many cells of margin kept."""
    if not stream.isatty():
        return text
    from rich.text import Text

    from .paper import broken, console

    width = console(stream, "never").width - margin
    rows = []
    for row in text.split("\n"):
        parts = broken(Text(row[margin:]), width)
        body = ("\n" + " " * margin).join(part.rstrip() for part in parts)
        rows.append(row[:margin] + body)
    return "\n".join(rows)


class Status:
    """One line on a terminal's standard error that is rewritten; silent elsewhere."""

    def __init__(self, lang: Lang, stream: TextIO = sys.stderr) -> None:
        self._lang = lang
        self._stream = stream
        self._on = stream.isatty()
        self._shown = 0.0

    def show(self, step: int | None, lines: int, quiet_s: float) -> None:
        """Rewrites the line, at most twice a second."""
        now = time.monotonic()
        if not self._on or now - self._shown < 0.5:
            return
        self._shown = now
        from rich.cells import set_cell_size

        told = label("none", self._lang) if step is None else step
        quiet = f"{quiet_s:.0f} s" if quiet_s < 10 else duration(quiet_s)
        text = label("status", self._lang, step=told, lines=f"{lines:,}", n=quiet)
        # a line that reaches the edge would be wrapped, and only its end be rewritten
        room = os.get_terminal_size(self._stream.fileno()).columns - 1
        self._stream.write(f"\r\x1b[K{set_cell_size(text, room).rstrip() if room > 0 else text}")
        self._stream.flush()

    def clear(self) -> None:
        """Takes the line away before something else is printed."""
        if self._on and self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
