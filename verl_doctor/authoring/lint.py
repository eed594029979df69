"""What is wrong with rules that are well formed: checks over the whole rule base as data."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from ..checks.names import SUBJECTS
from ..knowledge.build import build_match
from ..knowledge.nodes import Problem
from ..knowledge.verl_config import refused_by, unknown_overrides
from .backtracking import too_slow

_RELEASE = re.compile(r"\bverl\b.{0,20}\d|\bv?0\.\d")
MIN_ANCHOR = 5
STALE_DAYS = 730
"""A reference checked longer ago than this has to be looked at again."""
_URL = re.compile(r"https://[^\s<>\"]+\.[^\s<>\"]+")
_CUT = re.compile(r"^\s*(?:- )?(?:en|zh|because|run|set|code|regex|message): [^'\"|>{\[].*?( #)")
_HOLE = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
BUILT_IN = {"exception", "inner", "message", "frame", "raised", "worker", "phase", "line"}
EVENT_FIELDS = {
    "elastic_failure": "rank local_rank exitcode signal host time first_observed",
    "process_killed": "signal command pid rank",
    "repeated_text": "unit repeated samples",
    "nccl_timeout": "op seq numel waited_s limit_s since ranks missing differs",
    "hang": "frame caller pid pids processes waits quiet usual step phase",
    "flight_recorder": "shows op seq group sizes state since frame ranks missing last last_frame "
    "other dumps",
    "pause": "step lasted usual times while since",
}
KIND_CAPTURES = {
    "metric": {
        *("key", "value", "step", "last", "last_step"),
        *("bad_steps", "steps", "early", "healthy"),
    },
    "silence": {"step", "last"},
    "config": {"key", "value"},
}


def lint(plains: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Problems of rules that `read_rule` accepted.

    Takes all rules as plain data; each problem points at its file.
    """
    ids = {plain["id"] for plain in plains}
    problems: list[Problem] = []
    slugs: dict[str, str] = {}
    for plain in plains:
        path = plain["path"]
        checks = (_names, _match, _texts, _evidence, _proof, _overrides, _dates)
        for message in (text for check in checks for text in check(plain)):
            problems.append(Problem(path, 1, 1, f"{plain['id']}: {message}"))
        problems += _cut_texts(path)
        for kind, others in plain.get("relations", {}).items():
            for other in others:
                if other not in ids:
                    problems.append(Problem(path, 1, 1, f"relations.{kind}: no rule {other}"))
        if plain["slug"] in slugs:
            problems.append(Problem(path, 1, 1, f"slug is also that of {slugs[plain['slug']]}"))
        slugs[plain["slug"]] = plain["id"]
    return problems


def _cut_texts(path: str) -> list[Problem]:
    """Texts that YAML cuts off without a word: ` #` begins a comment in a text without quotes."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except OSError:
        return []
    return [
        Problem(path, number, found.start(1) + 1, "` #` ends this text: put it in quotes")
        for number, line in enumerate(lines, 1)
        if (found := _CUT.match(line))
    ]


def captures_of(plain: Mapping[str, Any]) -> set[str]:
    """Names that the rule's texts may use."""
    names = set(BUILT_IN)
    kind, value = next(iter(plain["match"].items()))
    names |= KIND_CAPTURES.get(kind, set())
    if kind == "event":
        names |= set(EVENT_FIELDS.get(value["kind"], "").split())
    return names | set(build_match(plain).names())


def _names(plain: Mapping[str, Any]) -> Iterator[str]:
    if not plain["path"].rpartition("/")[2].startswith(f"{plain['id']}-"):
        yield f"the file's name should begin with {plain['id']}-"


def _evidence(plain: Mapping[str, Any]) -> Iterator[str]:
    allowed = captures_of(plain)
    for cause in plain["causes"]:
        for hint in cause.get("evidence", ()):
            for key in ("capture", "more_than"):
                if key in hint and hint[key] not in allowed:
                    yield f"evidence of {cause['id']}: nothing captures {hint[key]!r}"
            if "absent" in hint and not {"capture", "frame"} & set(hint):
                yield f"evidence of {cause['id']}: `absent` goes with `capture` or `frame`"
            check = hint.get("check")
            if check and check not in SUBJECTS:
                near = difflib.get_close_matches(check, SUBJECTS, n=1)
                yield f"no check is called {check!r}" + (f", but {near[0]!r} is" if near else "")


def _match(plain: Mapping[str, Any]) -> Iterator[str]:
    kind, value = next(iter(plain["match"].items()))
    if kind == "event" and value["kind"] not in EVENT_FIELDS:
        yield f"no detector makes events of kind {value['kind']!r}"
    if kind in ("line", "sequence", "count", "absent"):
        for pattern in value:
            anchor = max(pattern["contains"], key=len)
            if len(anchor) < MIN_ANCHOR:
                yield f"anchor {anchor!r} is shorter than {MIN_ANCHOR} characters"
    if kind == "metric":
        yield from _metric(value)
    allowed = captures_of(plain)
    for name in plain.get("fingerprint", ()):
        if name not in allowed:
            yield f"fingerprint names {name!r}, which no pattern captures"


def _metric(value: Mapping[str, Any]) -> Iterator[str]:
    conditions = "nan above below constant falls_to rises_to trend change"
    if not set(value) & set(conditions.split()):
        yield f"match.metric asks for nothing: give one of {conditions.replace(' ', ', ')}"
    if "trend" in value and len(set(value["trend"]) & {"rises_by", "falls_by"}) != 1:
        yield "match.metric.trend needs either rises_by or falls_by"
    if value.get("once_well", 0) > value.get("for_steps", 3):
        yield "match.metric.once_well asks for more than for_steps"


def _texts(plain: Mapping[str, Any]) -> Iterator[str]:
    allowed = captures_of(plain)
    for at, text in _walk(plain, ""):
        if "zh" not in text:
            yield f"{at} has no Chinese"
        for lang, words in text.items():
            for hole in _HOLE.findall(words):
                if hole not in allowed and f"${{{hole}}}" not in words:
                    yield f"{at}.{lang} uses {{{hole}}}, which nothing captures"
    if len(plain["title"]["en"]) > 110:
        yield "title is longer than 110 characters"
    if not plain.get("false_positives"):
        yield "no false_positives: say what else prints this, or when it does no harm"


def _walk(value: Any, at: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    if isinstance(value, Mapping):
        if set(value) <= {"en", "zh"} and "en" in value:
            yield at, value
            return
        for key, inner in value.items():
            if key not in ("examples", "match", "references"):
                yield from _walk(inner, f"{at}.{key}".strip("."))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _walk(inner, f"{at}[{i}]")


def _overrides(plain: Mapping[str, Any]) -> Iterator[str]:
    for cause in plain["causes"]:
        for fix in cause.get("fixes", ()):
            overrides = fix.get("set", "")
            yield from unknown_overrides(overrides)
            words = f"{cause['text']['en']} {fix['text']['en']}"
            if not _RELEASE.search(words) and (old := refused_by(overrides)):
                yield f"verl {', '.join(old)} refuses {overrides}: say for which releases it is"


def _dates(plain: Mapping[str, Any]) -> Iterator[str]:
    for reference in plain["references"]:
        if not _URL.fullmatch(reference["url"]):
            yield f"reference is no https link: {reference['url']}"
        try:
            age = (date.today() - date.fromisoformat(reference["checked"])).days
        except ValueError:
            yield f"{reference['checked']} is no date"
            continue
        if age > STALE_DAYS:
            yield f"{reference['url']} was last checked {age} days ago"


def slow_patterns(plains: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Patterns that take too long on a hostile line, a problem each; needs some seconds."""
    problems = []
    for plain in plains:
        _, value = next(iter(plain["match"].items()))
        for pattern in value if isinstance(value, list) else ():
            for key in ("regex", "message", "frame", "innermost"):
                if key in pattern and too_slow(pattern[key]) is not None:
                    message = f"{plain['id']}: {key} backtracks badly: {pattern[key][:80]}"
                    problems.append(Problem(plain["path"], 1, 1, message))
    return problems


def _proof(plain: Mapping[str, Any]) -> Iterator[str]:
    match = plain["examples"].get("match", [])
    no_match = plain["examples"].get("no_match", [])
    if not match or not no_match:
        yield "needs an example that matches and one that does not"
    if not plain["references"]:
        yield "needs a reference"
    if plain["status"] == "stable":
        if len(match) < 2 or len(no_match) < 2:
            yield "status stable needs two examples of each side"
        if not any(example["origin"] == "genuine" for example in match):
            yield "status stable needs a genuine example"
    for example in no_match:
        if "because" not in example:
            yield "a no_match example needs `because`"
