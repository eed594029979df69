"""The findings of a run, by what they are: roots, symptoms, consequences, advice."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from ...model import SEVERITIES, Finding, Lang
from ...render.labels import label
from ..keys import bindings
from ..presence import ranks
from ..words import word
from .lists import Entry, ItemList

ROLES = ("root", "symptom", "cascade", "teardown", "advice")
MARKS: dict[str, str] = dict(zip(SEVERITIES, ("!! ", "!  ", "~  ", "-  ", ".  "), strict=True))
"""How bad, without a colour."""
STYLES = {
    "critical": "bold $text-error",
    "high": "bold $text-error",
    "medium": "$text-warning",
    "low": "",
    "info": "dim",
}


class FindingList(ItemList[Finding]):
    """The left pane."""

    BINDINGS = bindings("findings")
    DEFAULT_CSS = """
    FindingList { text-wrap: nowrap; text-overflow: ellipsis; padding-right: 1; }
    """

    def show(
        self, findings: Sequence[Finding], lang: Lang, *, finished: bool, keep: Finding | None
    ) -> None:
        """Shows a report's findings and chooses the one to keep, else the first."""
        entries: list[Entry[Finding]] = []
        for role in ROLES:
            group = [finding for finding in findings if finding.role == role]
            if group:
                head = f"{label(f'role_{role}', lang).strip()} ({len(group)})"
                entries.append(Entry(Content(head)))
                entries += [Entry(_content(finding, lang), finding) for finding in group]
        if not entries:
            key = "no_findings" if finished else "no_findings_yet"
            entries.append(Entry(Content(word(key, lang))))
        chosen = [i for i, one in enumerate(entries) if one.value is not None]
        kept = [i for i in chosen if same_fault(entries[i].value, keep)]
        self.fill(entries, next(iter(kept or chosen), None))


def same_fault(one: Finding | None, other: Finding | None) -> bool:
    """Whether two findings, of reports on the same log, are about the same fault."""
    return one is not None and other is not None and one.fingerprint == other.fingerprint


def _content(finding: Finding, lang: Lang) -> Content:
    name = finding.rule or label("unexplained", lang)
    spread = ranks(finding.workers)
    times = f" x{finding.count}" if finding.count > 1 else ""
    return Content.assemble(
        (MARKS[finding.severity], STYLES[finding.severity]),
        (name, "bold"),
        (f"{times} {spread}".rstrip(), "dim"),
        f"\n   {finding.title}",
    )
