"""An incident in words: title, causes by likelihood, fixes, how sure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .. import lazy
from ..detect.config import Settings
from ..logs.text import visible
from ..model import (
    Cause,
    CauseState,
    Evidence,
    Finding,
    Fix,
    FixText,
    Hint,
    Lang,
    Level,
    Match,
    Observation,
    Rule,
    Text,
)
from .hints import Hints
from .incidents import Incident, defaults
from .words import PHASES, say

MAX_FIXES = 10
MAX_TEXT = 600
_HOLE = lazy.compile(r"\{([a-z_][a-z0-9_]*)\}")
_PLAIN = lazy.compile(r"(?!-\D)[A-Za-z0-9_./:,@%+=-]{1,300}")
_PID = lazy.compile(r"pid=\d+")
_BASE = {"high": 3.0, "medium": 2.0, "low": 1.0}
_TELLING = {
    "possible": (),
    "supported": ("supports",),
    "confirmed": ("supports", "confirms"),
    "ruled_out": ("rules_out",),
}
"""By the state of a cause, the effects of the evidence that is told with it."""
_EFFECT = {"confirms": 10.0, "supports": 2.0, "weakens": -2.0, "rules_out": -100.0}


def fill(text: Text, captures: Mapping[str, str], lang: Lang) -> str:
    """The text with `{name}` replaced by captures; braces that name no capture stay."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in captures:
            return found[0]
        if name == "phase" and captures[name] in PHASES:
            return PHASES[captures[name]].get(lang)
        return visible(captures[name], 200)

    return " ".join(_HOLE.sub(value, text.get(lang)).split())


def places(text: Text) -> set[str]:
    """The names of the captures that a text asks for, in any language."""
    return set(_HOLE.findall(f"{text.en} {text.zh}"))


def title_in(rule: Rule, captures: Mapping[str, str], lang: Lang) -> str | None:
    """The title of a finding on record in this language; None where the rule by now asks for a
    value that was not recorded."""
    return fill(rule.title, captures, lang) if places(rule.title) <= captures.keys() else None


def paste(text: str, captures: Mapping[str, str]) -> str:
    """A command with its captures put in; a value that a shell could read as more than one word
    of plain text, or a program as an option, stays out: its name stands there as `<name>`.

    A log is hostile text, and what comes back from here is made to be pasted into a shell.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in captures:
            return found[0]
        return captures[name] if _PLAIN.fullmatch(captures[name]) else f"<{name}>"

    return _HOLE.sub(value, text)


class Explainer:
    """Turns incidents into findings."""

    def __init__(
        self,
        seen_rules: set[str],
        settings: Settings,
        offsets: Mapping[str, int],
        lang: Lang,
        observed: Sequence[Observation] = (),
    ) -> None:
        self._settings = settings
        self._hints = Hints(seen_rules, settings, observed, lang)
        self._offsets = offsets
        self._lang = lang

    def finding(self, incident: Incident) -> Finding:
        """The finding of one incident that `choose` has placed."""
        match = incident.first
        common: dict[str, Any] = {
            "role": incident.role,
            "severity": incident.severity,
            "evidence": self._evidence(incident),
            "workers": _workers(incident),
            "count": incident.count,
            "first_line": self._local(match),
            "last_line": max(1, incident.last_line - self._offsets.get(match.path, 0)),
            "fingerprint": fingerprint(incident.key),
            "first_seen": match.time,
            "last_seen": incident.last_time,
            "phase": match.phase,
            "why": incident.why,
            "curve": match.curve,
        }
        if incident.rule is None:
            return self._unknown(incident, common)
        rule, lang = incident.rule, self._lang
        matched = {**defaults(match), **match.captures, "line": str(self._local(match))}
        # a group of an alternative that didn't match, or a bare line without a place
        captures = dict.fromkeys([*rule.match.names(), "frame", "raised"], "…")
        captures |= {name: value for name, value in matched.items() if value}
        states, fixes = self._causes(rule.causes, incident, matched, captures)
        summary = fill(rule.summary, captures, lang)
        if match.curve is not None and match.curve.healthy:
            summary += say("healthy_range", lang, range=match.curve.healthy)
        return Finding(
            rule=rule.id,
            slug=rule.slug,
            title=fill(rule.title, captures, lang),
            captures={name: captures[name] for name in places(rule.title) & captures.keys()},
            confidence=self._confidence(incident, states),
            cause=self._cause(states) or summary,
            causes=tuple(states),
            fixes=tuple(fixes[:MAX_FIXES]),
            summary=summary,
            checks=self._hints.unasked(rule),
            references=tuple(reference.url for reference in rule.references),
            **common,
        )

    def _unknown(self, incident: Incident, common: dict[str, Any]) -> Finding:
        lang = self._lang
        values = {name: visible(text) for name, text in defaults(incident.first).items()}
        if not incident.first.worker.label:
            values["worker"] = say("driver", lang)
        bare = "" if values["frame"] else "_bare"
        return Finding(
            rule=None,
            slug="unexplained",
            title=visible(incident.first.text.partition("\n")[0], 160),
            confidence="low",
            cause=say("unknown_cause" + bare, lang, **values),
            causes=(),
            fixes=(FixText(say("unknown_fix" + bare, lang, **values), risk="none"),),
            **common,
        )

    def _local(self, match: Match) -> int:
        """The line's number within its own file."""
        return match.line - self._offsets.get(match.path, 0)

    def _evidence(self, incident: Incident) -> tuple[Evidence, ...]:
        """The decisive line first, then the innermost frames, then further printings."""
        match = incident.first
        before = self._offsets.get(match.path, 0)
        head = match.text.partition("\n")[0]
        shown = [Evidence(match.path, match.line - before, visible(head.strip(), MAX_TEXT))]
        if match.block is not None and match.exc is not None:
            exc = match.block.chain[match.exc]
            own = [frame for frame in exc.frames if frame.user][-2:]
            for frame in dict.fromkeys([*reversed(own), *exc.frames[-1:]]):
                source = f": {frame.source}" if frame.source else ""
                words = f"at {frame.place}{source}"
                shown.append(Evidence(match.path, frame.at - before, visible(words, MAX_TEXT)))
        for other in sorted(incident.evidence, key=lambda one: one.line):
            text = visible(other.text.partition("\n")[0].strip(), MAX_TEXT)
            if not text:
                continue
            line = other.line - self._offsets.get(other.path, 0)
            shown.append(Evidence(other.path, line, text))
        return tuple(dict.fromkeys(shown))[:8]

    # --- causes -----------------------------------------------------------------------------

    def _causes(
        self,
        causes: tuple[Cause, ...],
        incident: Incident,
        matched: Mapping[str, str],
        captures: Mapping[str, str],
    ) -> tuple[list[CauseState], list[FixText]]:
        scored: list[tuple[float, int, CauseState, Cause]] = []
        for i, cause in enumerate(causes):
            score, state = _BASE[cause.likelihood], "possible"
            speaking: list[tuple[Hint, str]] = []
            for hint in cause.evidence:
                reason = self._hints.speaks(hint, incident, matched)
                if reason is None:
                    continue
                score += _EFFECT[hint.effect]
                speaking.append((hint, reason))
                if hint.effect == "confirms":
                    state = "confirmed"
                elif hint.effect == "supports" and state == "possible":
                    state = "supported"
                elif hint.effect == "rules_out":
                    state = "ruled_out"
            # what speaks against a cause that stands, or for one that doesn't, would mislead
            telling = _TELLING[state]
            because = [reason for hint, reason in speaking if hint.effect in telling]
            against = [hint for hint, _ in speaking if hint.effect == "rules_out"]
            told = CauseState(
                cause.id,
                fill(cause.text, captures, self._lang),
                cause.likelihood,
                state,  # type: ignore[arg-type]
                tuple(dict.fromkeys(because)),
                state == "ruled_out" and all(map(_is_wording, against)),
            )
            scored.append((-score, i, told, cause))
        scored.sort(key=lambda item: item[:2])
        fixes = []
        for _, _, told, cause in scored:
            if told.state != "ruled_out":
                fixes += [
                    self._fix(fix, cause.id, captures)
                    for fix in cause.fixes
                    if not self._is_set(fix.set)
                ]
        unique: dict[tuple[str, ...], FixText] = {}
        for fix in fixes:
            unique.setdefault((fix.text, fix.run, fix.set, fix.code), fix)
        return [told for _, _, told, _ in scored], list(unique.values())

    def _fix(self, fix: Fix, cause: str, captures: Mapping[str, str]) -> FixText:
        return FixText(
            fill(fix.text, captures, self._lang),
            paste(fix.run, captures),
            paste(fix.set, captures),
            paste(fix.code, captures),
            fix.risk,
            fill(fix.verify, captures, self._lang) if fix.verify else "",
            cause,
        )

    def _is_set(self, overrides: str) -> bool:
        """Whether the run already has all of these overrides: then they are no fix."""
        pairs = [item.lstrip("+").partition("=") for item in overrides.split()]
        return bool(pairs) and all(
            self._settings.get(key) is not None and str(self._settings.get(key)) == value
            for key, _, value in pairs
        )

    def _cause(self, states: list[CauseState]) -> str:
        """The likeliest cause in words; '' for a rule that knows none."""
        if not states:
            return ""
        best = states[0]
        return say("no_cause_fits", self._lang) if best.state == "ruled_out" else best.text

    def _confidence(self, incident: Incident, states: list[CauseState]) -> Level:
        rule = incident.rule
        assert rule is not None
        lesser = rule.role in ("symptom", "cascade", "teardown") or rule.severity == "info"
        if lesser or rule.scope == "generic":
            return "low"
        if states and states[0].state == "confirmed":
            return "high"
        if rule.status == "experimental" or rule.scope == "family":
            return "medium"
        if not states:
            return "medium"
        if states[0].state == "ruled_out":
            return "low"
        told = states[0].state == "supported"
        rivals = [one for one in states[1:] if one.state != "ruled_out"]
        alone = sum(one.likelihood != "low" for one in rivals) <= 1 and all(
            one.likelihood != "high" for one in rivals
        )
        sure = states[0].likelihood == "high" and (told or alone)
        return "high" if sure else "medium"


def _is_wording(hint: Hint) -> bool:
    """Whether a hint asks which of a rule's messages this is, not what the run is like."""
    return bool(hint.frame or (hint.capture and (hint.matches or hint.absent)))


def fingerprint(key: str) -> str:
    """Sixteen hex digits that identify the fault across runs."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def _workers(incident: Incident) -> tuple[str, ...]:
    """Who printed it, first first; a process under several names (its console lines and its own
    log file) once, under the longest."""
    best: dict[str, str] = {}
    for label in sorted(filter(None, incident.workers), key=lambda one: incident.workers[one]):
        found = _PID.search(label)
        key = found.group() if found else label
        if len(label) > len(best.get(key, "")):
            best[key] = label
    return tuple(visible(label, MAX_TEXT) for label in best.values())
