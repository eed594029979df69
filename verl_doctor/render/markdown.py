"""The report as Markdown, safe to paste into an issue: log text stands in code, never as markup,
and secrets and home folders are masked."""

from __future__ import annotations

import re

from ..logs.mask import mask
from ..logs.text import visible
from ..model import Evidence, Lang, Report
from .labels import label, pasted


def _code(text: str) -> str:
    """Text as an inline code span whose fence is longer than any run of backticks in it."""
    text = " ".join(visible(mask(text)).split("\n"))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _plain(text: str) -> str:
    """Words that may hold log text: nothing in them is markup, a mention or a link."""
    text = " ".join(visible(mask(text)).split("\n"))
    text = re.sub(r"([\\`*_{}\[\]()#+!|<>~$&])", r"\\\1", text)
    text = re.sub(r"(?i)(://|\bwww\.)", lambda found: f"{found[0][:-1]}\\{found[0][-1]}", text)
    return text.replace("@", "@\u200b")


def _line(one: Evidence) -> str:
    return f"- {_code(f'{one.path}:{one.line}')} {_code(one.text)}"


def render(report: Report, *, lang: Lang = "en") -> str:
    """The report as one Markdown page, verdict first."""

    def say(key: str, **values: object) -> str:
        return label(key, lang, **values)

    out = [f"## {say('verdict_' + report.verdict)}: {say('phase_' + report.phase.name)}"]
    for source in report.sources:
        size = say("size", lines=source.lines, size=f"{source.bytes} B")
        out.append(f"- {_code(source.path)}: {size}")
    for finding in report.findings:
        name = finding.rule or say("unexplained")
        out.append(f"\n### {name} {_plain(finding.title)}")
        role = say("role_" + finding.role).strip()
        severity = say("severity_" + finding.severity)
        sure = say("sure", how=say("sure_" + finding.confidence))
        out.append(f"{role}, {severity}, {sure}. {_plain(finding.why)}\n")
        out += [_line(one) for one in finding.evidence if one.text]
        out.append(f"\n**{say('why')}**: {_plain(finding.cause)}\n")
        for i, fix in enumerate(finding.fixes, 1):
            out.append(f"{i}. {_plain(fix.text)}")
            out += [f"   {_code(paste)}" for _, paste in pasted(fix)]
    if report.unexplained:
        out.append(f"\n### {say('unexplained')}")
        out += [_line(one) for one in report.unexplained]
    for note in report.notes:
        out.append(f"\n> {_plain(note)}")
    return "\n".join(out) + "\n"
