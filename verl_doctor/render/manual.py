"""A rule as a page for people: what `explain` prints."""

from __future__ import annotations

from typing import TextIO

from rich.text import Text

from ..model import Lang, MatchSpec, Rule
from .labels import label
from .paper import console
from .text import COLOURS, Page


def signature(spec: MatchSpec) -> list[str]:
    """What a rule looks for, a line a pattern."""
    if not spec.patterns:
        return [f"{spec.kind}: {dict(spec.options)}"]
    lines = []
    for pattern in spec.patterns:
        name = "/".join(pattern.exception)
        what = pattern.message or pattern.regex or " + ".join(pattern.contains)
        extra = pattern.frame or pattern.innermost
        where = f" @ {extra}" if extra else ""
        lines.append(": ".join(part for part in (name, what) if part) + where)
    return lines


def render(rule: Rule, *, lang: Lang, color: str, stream: TextIO, width: int = 0) -> None:
    """Prints the rule's page on the stream, so many cells wide (0: as wide as the terminal)."""
    out = console(stream, color, width)
    page = Page(out, lang)

    def say(key: str) -> str:
        return label(key, lang)

    head = Text(f"{rule.id} ", style="bold").append(rule.slug, style="dim")
    head.append(f"  {say('severity_' + rule.severity)}", style=COLOURS[rule.severity])
    head.append(f"  {rule.role}, {rule.status}", style="dim")
    out.print(head)
    out.print(Text(rule.title.get(lang), style="bold"))
    out.print()
    page.field(say("what"), rule.summary.get(lang))
    if rule.impact:
        page.field("", rule.impact.get(lang))
    for spec, versions in rule.applies_to.items():
        page.field(say("versions"), f"{spec} {versions}")
    for line in signature(rule.match):
        page.field(say("signature"), line, "dim")
    for cause in rule.causes:
        out.print()
        page.field(say("why"), f"[{say('likely_' + cause.likelihood)}] {cause.text.get(lang)}")
        for i, fix in enumerate(cause.fixes, 1):
            page.fix(i, fix.text.get(lang), fix, fix.verify.get(lang) if fix.verify else "")
    out.print()
    for text in rule.false_positives:
        page.field(say("not"), text.get(lang))
    if rule.explains:
        page.field(say("causes"), ", ".join(rule.explains))
    if rule.emitted_by:
        page.field(say("printed_by"), ", ".join(rule.emitted_by))
    for reference in rule.references:
        note = " ".join(
            part for part in (reference.kind, reference.versions, reference.checked) if part
        )
        link = Text(f"  {say('see')}        {reference.url}  ({note})", style="dim")
        out.print(link, soft_wrap=True)
