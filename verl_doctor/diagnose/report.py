"""The whole answer for a run: chosen incidents, verdict, phase, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..logs.mask import mask
from ..logs.text import visible
from ..model import (
    Evidence,
    Finding,
    Lang,
    Match,
    Observation,
    Phase,
    Report,
    SourceInfo,
    Verdict,
    severity_rank,
)
from .choose import choose
from .collect import Closed, Collector
from .explain import Explainer
from .incidents import Incident
from .last_word import last_word
from .story import story
from .words import say

MAX_FINDINGS = 100
"""Findings in a report; a storm of errors that differ in their values says no more with more."""
INTERRUPTS = ("SIGTERM", "SIGINT", "SIGHUP")


def report(
    collector: Collector,
    sources: Sequence[SourceInfo],
    offsets: Mapping[str, int],
    tail: str,
    notes: Sequence[str],
    lang: Lang,
    clock: tuple[float | None, float | None] = (None, None),
    observed: Sequence[Observation] = (),
) -> Report:
    """Builds the report once everything has been collected.

    Takes the finished collector, the sources as read, the number of lines before each, the last
    text of the log, notes of the reading, the language, the first and last time in the log, and
    what checks found on this machine.
    """
    closed = collector.closed()
    order, root = _order(collector, closed, lang)
    if root is None and not collector.progress.finished:
        for match in filter(None, _last_signs(collector, tail)):
            rule = collector.base.rule(match.rule) if match.rule else None
            closed.incidents.add(match, rule, set(), collector.phase)
            order, root = _order(collector, closed, lang)
            if root is not None:
                break
    explainer = Explainer(closed.seen_rules, collector.settings, offsets, lang, observed)
    findings = tuple(explainer.finding(one) for one in order[:MAX_FINDINGS])
    shown = tuple(one for one in findings if one.role != "teardown" or one is findings[0])
    phase_name, phase_line = collector.progress.phase_at(collector.total_lines)
    phase = Phase(
        root.first.phase if root else phase_name,
        max(0, phase_line - offsets.get(collector.last_path, 0)),
        collector.progress.last_step,
        sources[-1].lines if sources else 0,
        _last_line(tail),
        *clock,
    )
    return Report(
        verdict=_verdict(root, order, collector),
        sources=tuple(sources),
        phase=phase,
        findings=shown,
        unexplained=_unexplained(collector, findings, offsets),
        hidden={
            "folded": collector.folded,
            "quoted": closed.quoted,
            "context": collector.context,
            "more": max(0, len(order) - MAX_FINDINGS),
            "teardown": len(findings) - len(shown) + collector.ignored,
        },
        notes=tuple(map(visible, _notes(collector, root, notes, offsets, lang))),
        overrides=tuple(visible(mask(item)) for item in collector.settings.overrides),
        rules_version=f"{len(collector.base)} rules",
        command=collector.settings.command,
        versions=dict(collector.stated.versions),
        hardware=collector.stated.hardware,
        messages=collector.messages.told(offsets),
        story=story(order[:MAX_FINDINGS], collector, offsets),
    )


def _order(
    collector: Collector, closed: Closed, lang: Lang
) -> tuple[list[Incident], Incident | None]:
    """The incidents, most important first, and the root, if there is one."""
    order = choose(collector, list(closed.incidents.by_key.values()), lang)
    return order, order[0] if order and order[0].role == "root" else None


def _verdict(root: Incident | None, order: Sequence[Incident], collector: Collector) -> Verdict:
    if root is not None and _interrupted(root):
        return "interrupted"
    grave = root is not None and severity_rank(root.severity) <= severity_rank("high")
    quiet = root is not None and root.first.curve is not None
    if root is None or not (grave or (quiet and root.severity == "medium")):
        return "healthy" if collector.progress.finished else "unknown"
    rule = root.rule
    if rule is not None and rule.outcome:
        return rule.outcome  # type: ignore[return-value]
    died = any(one.uncaught for one in order if not one.recovered)
    return "degraded" if quiet and not died else "failed"


def _interrupted(root: Incident) -> bool:
    """Whether the run was stopped from outside: a signal, Ctrl-C, a scheduler."""
    if root.rule is not None and root.rule.outcome:
        return root.rule.outcome == "interrupted"
    names = (root.first.captures.get("signal"), root.first.captures.get("what"))
    block = root.block
    stopped = block is not None and any(exc.name == "KeyboardInterrupt" for exc in block.chain)
    return stopped or any(name in INTERRUPTS for name in names)


def _last_signs(collector: Collector, tail: str) -> Iterator[Match | None]:
    """What a log without a root still shows, the more telling first."""
    yield last_word(collector, _last_line(tail))
    if not collector.exited:
        yield silence(collector, tail)


def silence(collector: Collector, tail: str) -> Match | None:
    """The most exact silence rule for the place at which the log stops: one that knows its last
    line, else one that knows its phase, else one that asks for neither.

    Takes the collector and the last text of the log; returns the match, None without such a rule.
    """
    last_text = _last_line(tail)
    base = collector.base
    phase, _ = collector.progress.phase_at(collector.total_lines)
    found = []
    for rule_id in base.by_kind.get("silence", ()):
        options = base.spec(rule_id).options
        phases, last = options.get("phase", ()), options.get("last", "")
        if (not phases or phase in phases) and collector.matcher.fits(last_text, last):
            found.append((bool(last), bool(phases), rule_id))
    if not found or not last_text:
        return None
    best = max(found)[-1]
    step = collector.progress.last_step
    captures = {
        "phase": phase,
        "step": "none" if step is None else str(step),
        "last": last_text[:200],
    }
    return Match(best, collector.last_path, collector.total_lines, last_text, captures, phase=phase)


def _unexplained(
    collector: Collector, findings: Sequence[Finding], offsets: Mapping[str, int]
) -> tuple[Evidence, ...]:
    known = {(one.path, one.line) for finding in findings for one in finding.evidence}
    lines = [
        Evidence(
            one.path,
            one.line - offsets.get(one.path, 0),
            visible(one.text, 300) + (f"  ({count}x)" if count > 1 else ""),
        )
        for one, count in collector.error_lines
    ]
    return tuple(line for line in lines if (line.path, line.line) not in known)[-5:]


def _notes(
    collector: Collector,
    root: Incident | None,
    notes: Sequence[str],
    offsets: Mapping[str, int],
    lang: Lang,
) -> list[str]:
    told = [*collector.base.notes, *notes]
    if root is not None and collector.folded and root.weight >= 2:
        told.append(say("folded", lang, n=collector.folded))
    if root is not None and root.rule is not None and root.rule.layer == "ray":
        pid = root.first.captures.get("pid") or root.first.worker.pid
        if root.rule.role == "symptom":
            told.append(say("fetch_worker", lang, pid=pid or ""))
    if collector.metrics.rewinds:
        back = collector.metrics.rewinds[-1]
        line = back.line - offsets.get(collector.path_of(back.line), 0)
        told.append(say("rewound", lang, line=line, last=back.last, step=back.step))
    if collector.matcher.slow:
        told.append(say("slow_rule", lang, n=len(collector.matcher.slow)))
    return told


def _last_line(tail: str) -> str:
    for line in reversed(tail.replace("\r", "\n").split("\n")):
        if line.strip():
            return visible(line.strip(), 240)
    return ""
