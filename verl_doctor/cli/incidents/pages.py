"""A list of incidents, and one incident, for people."""

from __future__ import annotations

import re

from ...model import Lang
from ...quantities import day, minute
from ...render.labels import label
from ...store import Incident, Listing, Note, Occurrence, Similar
from .output import Page, padded
from .words import word

_STATE_COLOURS = {"regressed": "bold red", "new": "yellow", "resolved": "green"}
MAX_WORKERS = 8


def print_list(page: Page, listing: Listing, lang: Lang) -> None:
    """Prints a table of incidents, a line each."""
    from rich.cells import cell_len
    from rich.text import Text

    from ...render.text import COLOURS

    columns = ("number", "last seen", "state", "severity", "runs")
    rows = [[word(name, lang) for name in columns]]
    for one in listing.incidents:
        seen, state = day(one.last_seen_at), _state(one, lang)
        rows.append([str(one.number), seen, state, _severity(one, lang), str(one.runs)])
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        head = Text()
        one = listing.incidents[max(0, number - 1)]
        styles = ("", "", _STATE_COLOURS.get(one.state, ""), COLOURS.get(one.severity, ""), "")
        for place, (cell, width, style) in enumerate(zip(row, widths, styles, strict=True)):
            head.append(padded(cell, width, place in (0, 4)), style if number else "bold")
            head.append("  ")
        page.line(head, named(one) if number else word("what", lang), "" if number else "bold")


def print_incident(
    page: Page,
    one: Incident,
    runs: tuple[Occurrence, ...],
    notes: tuple[Note, ...],
    lang: Lang,
) -> None:
    """Prints all that is known of an incident: what people say of it, then its runs."""
    page.line(f"#{one.number} ", named(one), "bold", bold=True)
    counts = word("in runs", lang, runs=one.runs, count=one.occurrences)
    counts = re.sub(r"\b1 (run|time)s\b", r"1 \1", counts)
    facts = [
        (
            "state",
            word(
                "standing",
                lang,
                state=_state(one, lang),
                severity=_severity(one, lang),
                counts=counts,
            ),
        ),
        ("fix", one.fix),
        ("mute", muted_words(one, lang)),
        ("tags", ", ".join(one.tags)),
        ("first", minute(one.first_seen_at)),
        ("last seen", minute(one.last_seen_at)),
        ("fingerprint", one.fingerprint),
    ]
    _print_facts(page, facts, lang)
    print_notes(page, notes, lang)
    for run in runs:
        page.console.print()
        page.line(f"{word('run', lang)} {run.run}  ", run.name, "bold", bold=True)
        ended = word(
            "in phase",
            lang,
            verdict=label(f"verdict_{run.verdict}", lang).lower(),
            phase=label(f"phase_{run.run_phase or 'unknown'}", lang),
        )
        if run.step is not None:
            ended += word("at step", lang, step=run.step)
        workers = ", ".join(run.workers[:MAX_WORKERS])
        if len(run.workers) > MAX_WORKERS:
            workers += word("more", lang, n=len(run.workers) - MAX_WORKERS)
        facts = [("ended", ended), ("last seen", minute(run.last_seen_at)), ("cause", run.cause)]
        facts += [("sure", label(f"sure_{run.confidence}", lang)), ("workers", workers)]
        facts += [("log", log) for log in run.logs[:MAX_WORKERS]]
        facts += [("command", run.command)]
        facts += [("override", override) for override in run.overrides]
        facts += [("versions", ", ".join(f"{name} {one}" for name, one in run.versions.items()))]
        _print_facts(page, facts, lang)
        for line in run.evidence:
            page.line(f"  {word('line', lang, n=line.line)}: ", line.text)
    if one.rule:
        page.console.print()
        page.line("", word("explain", lang, rule=one.rule))


def _print_facts(page: Page, facts: list[tuple[str, str]], lang: Lang) -> None:
    for name, value in facts:
        if value:
            page.line(f"  {padded(word(name, lang), 12)} ", value)


def print_notes(page: Page, notes: tuple[Note, ...], lang: Lang) -> None:
    """Prints what people wrote, a line each."""
    for note in notes:
        page.line(f"  {padded(word('note', lang), 12)} {minute(note.written_at)}  ", note.text)


def print_similar(page: Page, found: tuple[Similar, ...], lang: Lang) -> None:
    """Prints incidents with how much each is like the one asked for, and what resolved it."""
    for one in found:
        why = word("same rule", lang) if one.same_rule else word("alike", lang)
        head = f"#{one.incident.number}  {padded(f'{why} {one.score:.0%}', 16)}  "
        page.line(head, named(one.incident))
        if one.incident.fix:
            page.line(f"  {padded(word('fix', lang), 12)} ", one.incident.fix)


def named(one: Incident) -> str:
    """The incident's rule and title."""
    return f"{one.rule} {one.title}" if one.rule else one.title


def _state(one: Incident, lang: Lang) -> str:
    state = word(one.state, lang)
    return f"{state}, {word('muted', lang)}" if one.muted else state


def _severity(one: Incident, lang: Lang) -> str:
    return label(f"severity_{one.severity}", lang)


def muted_words(one: Incident, lang: Lang) -> str:
    """Why it is or was muted, and how long; empty if it never was."""
    if not one.muted:
        return word("woken", lang, reason=one.mute_reason) if one.mute_reason else ""
    if one.muted_until is None:
        return one.mute_reason
    return word("until", lang, reason=one.mute_reason, when=minute(one.muted_until))
