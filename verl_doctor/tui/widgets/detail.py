"""One finding in full: causes and their state, fixes that can be copied, evidence that can be
opened, and what this machine knows of it. Without a finding: what the log comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from textual.content import Content

from ...model import CauseState, Evidence, Finding, FixText, Lang, Report
from ...render.labels import label, pasted, remembered
from ..keys import bindings
from ..words import word
from .findings import MARKS, STYLES
from .lists import Entry, ItemList

INDENT = 2
STATES = {"possible": "?", "supported": "+", "confirmed": "!", "ruled_out": "x"}


@dataclass(frozen=True)
class Item:
    """Something in the pane: what is copied of it, and the line that it points to."""

    kind: str
    """`title`, `cause`, `fix`, `evidence`, `text`."""
    copy: str
    place: tuple[str, int] | None = None


@dataclass(frozen=True)
class Shown:
    """What the pane shows."""

    report: Report
    finding: Finding | None = None
    recorded: bool = False
    """The store has been asked: not to be there means something."""
    lang: Lang = "en"
    names: dict[str, str] = field(default_factory=dict)
    """Short names of the sources, where there are several."""


class Detail(ItemList[Item]):
    """The right pane."""

    BINDINGS = bindings("detail")

    def show(self, shown: Shown, *, same: bool) -> None:
        """Shows a finding (or the log's own sum); `same`: it was shown before, keep the place."""
        entries = list(_of_finding(shown) if shown.finding is not None else _of_log(shown))
        self.fill(entries, None if same else next(i for i, e in enumerate(entries) if e.value))

    def choose_line(self, place: tuple[str, int]) -> bool:
        """Puts the highlight on the evidence at a line; whether there is one."""
        for i, item in enumerate(self.values):
            if item is not None and item.kind == "evidence" and item.place == place:
                self.choose(i)
                return True
        return False


def _of_finding(shown: Shown) -> Iterator[Entry[Item]]:
    finding, lang = shown.finding, shown.lang
    assert finding is not None
    decisive = _place(finding.evidence[0]) if finding.evidence else None
    name = finding.rule or label("unexplained", lang)
    sure = label("sure", lang, how=label(f"sure_{finding.confidence}", lang))
    severity = label(f"severity_{finding.severity}", lang)
    yield Entry(
        Content.assemble(
            (f"{MARKS[finding.severity].strip()} {finding.title}", STYLES[finding.severity]),
            ("\n" + word("finding_head", lang, name=name, severity=severity, sure=sure), "dim"),
        ),
        Item("title", f"{name}: {finding.title}", decisive),
    )
    yield from _history(shown)
    yield Entry(Content(word("causes_head", lang)))
    if not finding.causes:
        yield Entry(Content(finding.cause), Item("cause", finding.cause, decisive), INDENT)
    causes = [cause for cause in finding.causes if not cause.other_wording]
    for i, cause in enumerate(causes, 1):
        yield Entry(_cause(i, cause, lang), Item("cause", cause.text, decisive), INDENT)
    if finding.checks:
        text = word("checks_open", lang, names=", ".join(finding.checks))
        yield Entry(Content.styled(text, "bold"), Item("text", text), INDENT)
    if finding.fixes:
        yield Entry(Content(word("fixes_head", lang)))
    numbers = {cause.id: i for i, cause in enumerate(causes, 1)}
    for i, fix in enumerate(finding.fixes, 1):
        copy = "\n".join(text for _, text in pasted(fix)) or fix.text
        yield Entry(_fix(i, fix, numbers, lang), Item("fix", copy, decisive), INDENT)
    if finding.summary and finding.summary != finding.cause:
        yield Entry(Content(word("summary_head", lang)))
        yield Entry(Content(finding.summary), Item("text", finding.summary, decisive), INDENT)
    yield Entry(Content(word("evidence_head", lang)))
    for one in finding.evidence:
        yield _line(one, shown)
    yield Entry(Content(word("more_head", lang)))
    if finding.workers:
        workers = ", ".join(finding.workers)
        text = f"{label('worker', lang)}: {workers}"
        yield Entry(Content(text), Item("text", workers, decisive), INDENT)
    if shown.recorded and not (finding.history is not None and finding.history.times):
        text = word("first_time", lang)
        yield Entry(Content(text), Item("text", text), INDENT)
    why = word("place_held", lang, why=finding.why)
    yield Entry(Content(why), Item("text", why, decisive), INDENT)
    for url in finding.references:
        yield Entry(Content(url), Item("text", url), INDENT)
    yield from _notes(shown)


def _of_log(shown: Shown) -> Iterator[Entry[Item]]:
    report, lang = shown.report, shown.lang
    where = label(f"phase_{report.phase.name}", lang)
    key = "unknown_tail" if report.verdict == "unknown" else "healthy_tail"
    text = label(key, lang, where=where)
    yield Entry(Content(text), Item("title", text), INDENT)
    last = report.phase.last_text
    if last:
        path = report.sources[-1].path if report.sources else ""
        yield Entry(Content(last), Item("text", last, (path, report.phase.last_line)), INDENT)
    if report.unexplained:
        yield Entry(Content(word("unexplained_head", lang)))
        for one in report.unexplained:
            yield _line(one, shown)
    yield from _notes(shown)


def _history(shown: Shown) -> Iterator[Entry[Item]]:
    assert shown.finding is not None
    for text in remembered(shown.finding, shown.lang):
        yield Entry(Content.styled(text, "bold"), Item("text", text), INDENT)


def _cause(number: int, cause: CauseState, lang: Lang) -> Content:
    state = word(f"state_{cause.state}", lang)
    if cause.state == "possible":  # the log says neither yes nor no: how likely it is stays
        state = label(f"likely_{cause.likelihood}", lang)
    because = f"\n  ({'; '.join(cause.because)})" if cause.because else ""
    style = "dim" if cause.state == "ruled_out" else ""
    return Content.assemble(
        (f"{STATES[cause.state]} {number} ", "bold"),
        (f"[{state}] ", "bold" if cause.state in ("confirmed", "supported") else "dim"),
        (cause.text, style),
        (because, "dim"),
    )


def _fix(number: int, fix: FixText, causes: dict[str, int], lang: Lang) -> Content:
    against = f" ({label('why', lang)} {causes[fix.cause]})" if fix.cause in causes else ""
    remarks = f" {label('worked', lang)}" if fix.worked else ""
    if fix.risk in ("medium", "high"):
        remarks += " " + label("risk", lang, how=label(f"risk_{fix.risk}", lang))
    parts: list[tuple[str, str]] = [
        (f"{label('fix', lang)} {number}{against} ", "bold"),
        (fix.text + remarks, ""),
    ]
    for sign, text in pasted(fix):
        body = text.rstrip().replace("\n", "\n    ")
        parts.append((f"\n  {sign} {body}", "$text-success"))
    if fix.verify:
        parts.append((f"\n{label('verify', lang)} {fix.verify}", "dim"))
    return Content.assemble(*parts)


def _line(one: Evidence, shown: Shown) -> Entry[Item]:
    where = label("line", shown.lang, n=one.line)
    if shown.names:
        where = f"{shown.names.get(one.path, one.path)}:{one.line}"
    content = Content.assemble((f"{where}  ", "bold"), one.text)
    return Entry(content, Item("evidence", one.text, _place(one)), INDENT)


def _notes(shown: Shown) -> Iterator[Entry[Item]]:
    report, lang = shown.report, shown.lang
    notes = list(report.notes)
    hidden = [label(f"hidden_{key}", lang, n=n) for key, n in report.hidden.items() if n]
    if hidden:
        notes.append(f"{label('hidden', lang)} {', '.join(hidden)}")
    if notes:
        yield Entry(Content(word("notes_head", lang)))
    for note in notes:
        yield Entry(Content(note), Item("text", note), INDENT)


def _place(one: Evidence) -> tuple[str, int]:
    return one.path, one.line
