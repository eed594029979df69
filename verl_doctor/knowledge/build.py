"""Plain data of a rule -> the frozen `Rule`. Needs no YAML: a cached start gets by with this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Cause, Example, Fix, Hint, MatchSpec, Pattern, Reference, Rule, Text
from .literals import required

PATTERN_KINDS = ("line", "traceback", "sequence", "count", "absent")


def _text(value: Any) -> Text:
    return Text(value["en"], value.get("zh", ""))


def _pattern(value: Mapping[str, Any]) -> Pattern:
    message = value.get("message", "")
    return Pattern(
        contains=tuple(value.get("contains", ())),
        regex=value.get("regex", ""),
        unless=tuple(value.get("unless", ())),
        where=value.get("where", "text"),
        exception=tuple(value.get("exception", ())),
        message=message,
        frame=value.get("frame", ""),
        innermost=value.get("innermost", ""),
        needs=value["needs"] if "needs" in value else required(message),
    )


def build_match(plain: Mapping[str, Any]) -> MatchSpec:
    """The `match` part of a rule's plain data as a MatchSpec."""
    kind, value = next(iter(plain["match"].items()))
    options: dict[str, Any] = {} if kind in PATTERN_KINDS else dict(value)
    if "missing" in plain:
        options["missing"] = tuple(plain["missing"])
    return MatchSpec(
        kind=kind,
        patterns=tuple(_pattern(item) for item in value) if kind in PATTERN_KINDS else (),
        within_lines=int(plain.get("within", {}).get("lines", 0)),
        same_worker=plain.get("same", "worker") == "worker",
        at_least=int(plain.get("at_least", 1)),
        options=options,
    )


def _fix(value: Mapping[str, Any]) -> Fix:
    return Fix(
        text=_text(value["text"]),
        run=value.get("run", ""),
        set=value.get("set", ""),
        code=value.get("code", ""),
        risk=value.get("risk", "low"),
        verify=_text(value["verify"]) if "verify" in value else None,
    )


def _hint(value: Mapping[str, Any]) -> Hint:
    return Hint(
        effect=value["effect"],
        capture=value.get("capture", ""),
        config=value.get("config", ""),
        matches=value.get("matches", ""),
        above=value.get("above"),
        below=value.get("below"),
        more_than=value.get("more_than", ""),
        phase=tuple(value.get("phase", ())),
        seen=tuple(value.get("seen", ())),
        frame=value.get("frame", ""),
        absent=value.get("absent", False),
        check=value.get("check", ""),
        state=value.get("state", "fault"),
    )


def _cause(value: Mapping[str, Any]) -> Cause:
    return Cause(
        id=value["id"],
        text=_text(value["text"]),
        likelihood=value["likelihood"],
        evidence=tuple(_hint(item) for item in value.get("evidence", ())),
        fixes=tuple(_fix(item) for item in value.get("fixes", ())),
    )


def _example(value: Mapping[str, Any]) -> Example:
    return Example(
        log=value.get("log", ""),
        file=value.get("file", ""),
        origin=value["origin"],
        expect=value.get("expect", {}),
        because=value.get("because", ""),
        facts=value.get("facts", {}),
    )


def build_rule(plain: Mapping[str, Any]) -> Rule:
    """The frozen Rule of plain data that `read_rule` has accepted."""
    relations = plain.get("relations", {})
    examples = plain["examples"]
    return Rule(
        id=plain["id"],
        slug=plain["slug"],
        status=plain["status"],
        severity=plain["severity"],
        role=plain["role"],
        layer=plain["layer"],
        title=_text(plain["title"]),
        match=build_match(plain),
        summary=_text(plain["summary"]),
        causes=tuple(_cause(item) for item in plain["causes"]),
        impact=_text(plain["impact"]) if "impact" in plain else None,
        phase=tuple(plain.get("phase", ())),
        scope=plain.get("scope", "exact"),
        applies_to=plain.get("applies_to", {}),
        fingerprint=tuple(plain.get("fingerprint", ())),
        explains=tuple(relations.get("explains", ())),
        supersedes=tuple(relations.get("supersedes", ())),
        see_also=tuple(relations.get("see_also", ())),
        references=tuple(
            Reference(
                url=item["url"],
                kind=item["kind"],
                versions=item.get("versions", ""),
                checked=item["checked"],
                note=item.get("note", ""),
            )
            for item in plain["references"]
        ),
        emitted_by=tuple(plain.get("emitted_by", ())),
        false_positives=tuple(_text(item) for item in plain.get("false_positives", ())),
        examples_match=tuple(_example(item) for item in examples.get("match", ())),
        examples_no_match=tuple(_example(item) for item in examples.get("no_match", ())),
        renamed_from=tuple(plain.get("renamed_from", ())),
        outcome=plain.get("outcome", ""),
        path=plain.get("path", ""),
    )
