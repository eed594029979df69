"""The report as Markdown, safe to paste into an issue: log text stands in code, never as markup,
and secrets and home folders are masked."""

from __future__ import annotations

import re

from ..logs.mask import mask
from ..logs.text import visible
from ..model import Evidence, Lang, Report, Story
from .labels import label, pasted, remembered, since
from .spark import sparkline


def code(text: str) -> str:
    """Text as an inline code span whose fence is longer than any run of backticks in it."""
    text = " ".join(visible(mask(text)).split("\n"))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def fenced(text: str) -> str:
    """Lines as a code block whose fence is longer than any run of backticks in them."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def plain(text: str) -> str:
    """Words that may hold log text: nothing in them is markup, a mention or a link."""
    text = " ".join(visible(mask(text)).split("\n"))
    text = re.sub(r"([\\`*_{}\[\]()#+!|<>~$&])", r"\\\1", text)
    text = re.sub(r"(?i)(://|\bwww\.)", lambda found: f"{found[0][:-1]}\\{found[0][-1]}", text)
    return text.replace("@", "@\u200b")


def _line(one: Evidence) -> str:
    return f"- {code(f'{one.path}:{one.line}')} {code(one.text)}"


def render(report: Report, *, lang: Lang = "en") -> str:
    """The report as one Markdown page, verdict first."""

    def say(key: str, **values: object) -> str:
        return label(key, lang, **values)

    out = [f"## {say('verdict_' + report.verdict)}: {say('phase_' + report.phase.name)}"]
    for source in report.sources:
        size = say("size", lines=source.lines, size=f"{source.bytes} B")
        out.append(f"- {code(source.path)}: {size}")
    for finding in report.findings:
        name = finding.rule or say("unexplained")
        out.append(f"\n### {name} {plain(finding.title)}")
        role = say("role_" + finding.role).strip()
        severity = say("severity_" + finding.severity)
        sure = say("sure", how=say("sure_" + finding.confidence))
        out.append(f"{role}, {severity}, {sure}. {plain(finding.why)}\n")
        out += [_line(one) for one in finding.evidence if one.text]
        if finding.curve is not None:
            bad = say("curve_bad", step=finding.curve.first_bad)
            drawn, _ = sparkline(finding.curve)
            out.append(f"- {code(finding.curve.key)} {code(drawn)} {bad}")
        out.append(f"\n**{say('why')}**: {plain(finding.cause)}\n")
        told = remembered(finding, lang)
        out += [f"**{say('before')}**: {plain(text)}\n" for text in told]
        for i, fix in enumerate(finding.fixes, 1):
            worked = f" **{plain(say('worked'))}**" if fix.worked else ""
            out.append(f"{i}. {plain(fix.text)}{worked}")
            out += [f"   {code(paste)}" for _, paste in pasted(fix)]
    if report.story is not None:
        out += _story(report.story, lang)
    if report.unexplained:
        out.append(f"\n### {say('unexplained')}")
        out += [_line(one) for one in report.unexplained]
    if report.compared and report.compared.new:
        out.append(f"\n### {plain(since(report.compared, lang))}")
        out += [_line(one.first) for one in report.compared.new]
    for note in report.notes:
        out.append(f"\n> {plain(note)}")
    return "\n".join(out) + "\n"


def _story(story: Story, lang: Lang) -> list[str]:
    out = [f"\n### {label('story', lang)}"]
    for one in story.moments:
        step = "" if one.step is None else label("story_step", lang, n=one.step)
        place = code(f"{one.path}:{one.line}")
        out.append(f"- {step} {one.rule or '?'} {code(one.text)} {place}")
    saved = story.checkpoint
    if saved is not None:
        place = code(f"{saved.path}:{saved.line}")
        out.append(f"- {label('checkpoint_is', lang, name=code(saved.name), where=place)}")
    return out
