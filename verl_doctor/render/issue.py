"""The one page that a maintainer asks for, masked: its sections, and the page as Markdown or HTML.

verl's bug form asks for System Info, Reproduction and Expected behavior, and its maintainers then
ask for the log of the worker that failed first. The sections stand in that order.
"""

from __future__ import annotations

import html
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .. import __version__
from ..logs.mask import mask
from ..logs.text import visible
from ..model import Evidence, Finding, Lang, Report
from .labels import label, pasted, remembered, since
from .markdown import code, fenced, plain

MAX_CHAIN = 12
MAX_WORKERS = 8


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what the log says of it."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be shown as it is."""

    text: str


Block = str | Fact | Code
"""A paragraph, a fact or code; all of it masked and without control characters."""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    sections: tuple[Section, ...]


def page_of(report: Report, *, lang: Lang, tried: Sequence[str] = ()) -> Page:
    """The page for a report. Takes the report, the language, and people's notes on its root."""
    root = report.findings[0] if report.findings else None

    def say(key: str, **values: object) -> str:
        return label(key, lang, **values)

    found = [
        Section(say("issue_system"), _system(report, lang)),
        Section(say("issue_reproduction"), _reproduction(report, lang)),
        Section(say("issue_happened"), _happened(report, root, lang)),
    ]
    if root is not None:
        found.append(Section(say("issue_why"), _why(root, lang)))
    if len(report.findings) > 1:
        found.append(Section(say("issue_chain"), _chain(report.findings[1:], lang)))
    if report.unexplained:
        found.append(Section(say("unexplained"), (_lines(report.unexplained),)))
    if report.compared and report.compared.new:
        lines = _lines(one.first for one in report.compared.new)
        found.append(Section(_clean(since(report.compared, lang)), (lines,)))
    found.append(Section(say("issue_tried"), _tried(root, tried, lang)))
    found.append(Section(say("issue_expected"), (say("issue_expected_hint"),)))
    return Page(_title(report, root, lang), tuple(found))


def markdown(page: Page) -> str:
    """The page as Markdown; what stood in the log is code or escaped, never markup."""
    out = [f"# {plain(page.title)}"]
    for section in page.sections:
        out.append(f"\n## {plain(section.title)}")
        last: Block = ""
        for block in section.blocks:
            if not (isinstance(block, Fact) and isinstance(last, Fact)):
                out.append("")  # facts in a row are one list
            out.append(_markdown(block))
            last = block
    return "\n".join(out) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Code):
        return fenced(block.text)
    if isinstance(block, Fact):
        return f"- **{plain(block.name)}**: {code(block.value)}"
    return plain(block)


def html_page(page: Page, lang: Lang) -> str:
    """The page as one HTML file that loads nothing and runs nothing."""
    title = html.escape(page.title)
    out = [_HEAD.format(lang=lang, title=title), f"<h1>{title}</h1>"]
    for section in page.sections:
        out.append(f"<h2>{html.escape(section.title)}</h2>")
        out += [_html(block) for block in section.blocks]
    return "\n".join(out) + "\n</body>\n</html>\n"


def _html(block: Block) -> str:
    if isinstance(block, Code):
        return f"<pre>{html.escape(block.text)}</pre>"
    if isinstance(block, Fact):
        name, value = html.escape(block.name), html.escape(block.value)
        return f"<p><b>{name}</b>: <code>{value}</code></p>"
    return f"<p>{html.escape(block)}</p>"


_HEAD = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 sans-serif; }}
pre {{ white-space: pre-wrap; padding: .8rem; background: #f4f4f4; color: #111; }}
pre, code {{ overflow-wrap: anywhere; }}
</style>
</head>
<body>"""


# --- sections -------------------------------------------------------------------------------


def _clean(text: str) -> str:
    return visible(mask(text))


def _lines(evidence: Iterable[Evidence]) -> Code:
    """Lines of the log with their places."""
    rows = [f"{one.path}:{one.line}: {one.text}" for one in evidence if one.text]
    return Code("\n".join(_clean(row).replace("\n", " ") for row in rows))


def _title(report: Report, root: Finding | None, lang: Lang) -> str:
    where = label("phase_" + report.phase.name, lang)
    what = root.title if root else label("verdict_" + report.verdict, lang)
    return _clean(f"[{where}] {what}")


def _time(stamp: float | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(stamp)) if stamp is not None else ""


def _facts(pairs: Iterable[tuple[str, str]], lang: Lang) -> tuple[Fact, ...]:
    return tuple(Fact(label(key, lang), _clean(value)) for key, value in pairs if value)


def _system(report: Report, lang: Lang) -> tuple[Block, ...]:
    facts: tuple[Block, ...] = tuple(
        Fact(name, _clean(version)) for name, version in report.versions.items()
    )
    facts += _facts((("issue_hardware", name) for name in report.hardware), lang)
    facts += (Fact("verl-doctor", f"{__version__}, {report.rules_version}"),)
    return (*facts, label("issue_system_hint", lang))


def _reproduction(report: Report, lang: Lang) -> tuple[Block, ...]:
    if not (report.command or report.overrides):
        return (label("issue_no_command", lang),)
    head = report.command or "python -m verl.trainer.main_ppo"
    return (Code(" \\\n  ".join(_clean(part) for part in (head, *report.overrides))),)


def _happened(report: Report, root: Finding | None, lang: Lang) -> tuple[Block, ...]:
    phase = label("phase_" + report.phase.name, lang)
    if report.phase.step is not None:
        phase += label("at_step", lang, n=report.phase.step)
    pairs = [
        ("issue_verdict", label("verdict_" + report.verdict, lang)),
        ("issue_phase", phase),
        ("issue_started", _time(report.phase.first_time)),
        ("issue_ended", _time(report.phase.last_time)),
        ("issue_last", report.phase.last_text),
    ]
    if root is None:
        return _facts(pairs, lang)
    workers = ", ".join(root.workers[:MAX_WORKERS])
    if len(root.workers) > MAX_WORKERS:
        workers += f" +{len(root.workers) - MAX_WORKERS}"
    pairs += [("worker", workers)]
    if root.count > 1:
        pairs += [("count", label("times", lang, n=root.count))]
    return (*_facts(pairs, lang), _lines(root.evidence))


def _why(root: Finding, lang: Lang) -> tuple[Block, ...]:
    told: list[Block] = [_clean(root.cause)]
    pairs = [
        ("issue_rule", root.rule or ""),
        ("issue_sure", label("sure_" + root.confidence, lang)),
        ("chosen", root.why),
    ]
    told += _facts(pairs, lang)
    told += [Fact(label("see", lang), _clean(url)) for url in root.references]
    return tuple(told)


def _chain(findings: Sequence[Finding], lang: Lang) -> tuple[Block, ...]:
    rows = []
    for one in findings[:MAX_CHAIN]:
        role = label("role_" + one.role, lang).strip()
        where = f"{one.evidence[0].path}:{one.evidence[0].line}" if one.evidence else ""
        rows.append(f"{role}: {one.rule or '?'} {one.title} ({where}, {one.count}x)")
    if len(findings) > MAX_CHAIN:
        rows.append(label("new_more", lang, n=len(findings) - MAX_CHAIN))
    return (Code("\n".join(_clean(row).replace("\n", " ") for row in rows)),)


def _tried(root: Finding | None, tried: Sequence[str], lang: Lang) -> tuple[Block, ...]:
    told: list[Block] = []
    if root is not None:
        told += [_clean(text) for text in remembered(root, lang)]
    told += [Fact(label("issue_note", lang), _clean(text)) for text in tried]
    for fix in root.fixes if root is not None else ():
        paste = " ".join(text for _, text in pasted(fix))
        told.append(Fact(label("issue_proposed", lang), _clean(f"{fix.text} {paste}".strip())))
    return (*told, label("issue_tried_hint", lang))
