"""Results of checks as text for a terminal and as JSON. The text ends with what it comes to."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import groupby
from typing import Any, TextIO

from rich.text import Text as Line

from ..checks.types import Result
from ..logs.json_text import json_text
from ..logs.text import visible
from ..model import Lang, Text
from .labels import pasted
from .paper import console
from .text import COLOURS, Page
from .wrapping import wrapped

MARKS = {
    "critical": ("X", "bold red"),
    "high": ("X", "bold red"),
    "medium": ("!", "yellow"),
    "low": ("-", "cyan"),
    "info": ("-", "dim"),
    "unknown": ("?", "magenta"),
    "ok": ("ok", "green"),
}
"""What a result comes to, the worst first: its mark and colour."""
GROUPS = {
    "config": Text("Configuration", "配置"),
    "data": Text("Data", "数据"),
    "model": Text("Model", "模型"),
    "env": Text("Environment", "环境"),
}
SUM = Text(
    "{stops} would stop or spoil the run, {warns} to look at, {fine} in order, "
    "{open} could not be checked.",
    "{stops} 项会中止或破坏训练，{warns} 项需留意，{fine} 项正常，{open} 项未能检查。",
)
MAX_SEEN = 12
TABLES = ("config.batch", "config.memory")
"""Checks whose table is shown also where all is in order."""


def render(
    results: Sequence[Result],
    *,
    lang: Lang = "en",
    color: str = "never",
    stream: TextIO | None = None,
    everything: bool = False,
) -> str:
    """Writes the results to the stream, or returns them as text where none is given.

    Takes the results, grouped; the language; the colour mode; and whether what was seen is shown
    also where it is in order (`everything`).
    """
    buffer = io.StringIO()
    page = Page(console(stream or buffer, color), lang)
    for group, members in groupby(results, key=lambda one: one.check.partition(".")[0]):
        title = GROUPS.get(group, Text(group)).get(lang)
        page.out.print(Line(f"\n{title}", style="bold underline"))
        for one in members:
            _result(page, one, everything)
    count = counts(results)
    style = COLOURS["critical"] if count["stops"] else "bold green"
    page.out.print(Line(f"\n{SUM.get(lang).format(**count)}", style=style))
    return buffer.getvalue()


def _result(page: Page, one: Result, everything: bool) -> None:
    mark, style = MARKS[standing(one)]
    head = Line(f"{mark:>4} ", style=style)
    body = Line(visible(one.text.get(page.lang), 2000))
    if one.rule:
        body.append(f"  [{one.rule}]", style="dim")
    for i, part in enumerate(wrapped(body, page.out.width - 6)):
        page.out.print((head if i == 0 else Line(" " * 5)).append_text(part), soft_wrap=True)
    shown = one.seen if everything or one.state != "ok" or one.check in TABLES else ()
    for text in shown[:MAX_SEEN]:
        page.out.print(Line(f"       {visible(text, 300)}", style="dim"), soft_wrap=True)
    if one.fix is not None:
        page.field(page.say("fix"), one.fix.text.get(page.lang))
        for sign, command in pasted(one.fix):
            page.paste(sign, "\n".join(visible(part, 2000) for part in command.split("\n")))


def standing(one: Result) -> str:
    """What a result comes to, as a key of MARKS: a fault's severity, else its state."""
    return one.severity if one.state == "fault" else one.state


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many results would stop the run, are to be looked at, are in order, are not known."""
    faults = [one.severity for one in results if one.state == "fault"]
    stops = sum(severity in ("critical", "high") for severity in faults)
    return {
        "stops": stops,
        "warns": len(faults) - stops,
        "fine": sum(one.state == "ok" for one in results),
        "open": sum(one.state == "unknown" for one in results),
    }


def as_json(results: Sequence[Result], about: dict[str, Any], lang: Lang = "en") -> str:
    """The results as one JSON document.

    Takes the results, what they are about (release, interpreter, …) and the language of the texts.
    """
    document = {
        "schema_version": 1,
        **about,
        "counts": counts(results),
        "results": [_plain(one, lang) for one in results],
    }
    return json_text(document, indent=2)


def _plain(one: Result, lang: Lang) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "check": one.check,
        "state": one.state,
        "severity": one.severity if one.state == "fault" else None,
        "text": one.text.get(lang),
        "seen": list(one.seen),
        "rule": one.rule or None,
    }
    if one.fix is not None:
        fix = {"text": one.fix.text.get(lang), "risk": one.fix.risk}
        given = {"run": one.fix.run, "set": one.fix.set, "code": one.fix.code}
        plain["fix"] = fix | {key: value for key, value in given.items() if value}
    return plain
