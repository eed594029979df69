"""What a rule file may hold, said once: the reader, the JSON Schema and the docs all use it.

Shapes are data. They check nothing themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model import PHASES, SEVERITIES


@dataclass(frozen=True, slots=True)
class Str:
    """A text. `choices` closes the vocabulary, `pattern` is a full-match regex."""

    choices: tuple[str, ...] = ()
    pattern: str = ""
    regex: bool = False
    """The text is itself a regular expression and has to compile."""
    longest: int = 0
    """Characters it may have; 0 for any number."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Number:
    integer: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bool:
    note: str = ""


@dataclass(frozen=True, slots=True)
class Seq:
    """A list; a single item may stand without brackets where `scalar` is set."""

    item: Shape
    scalar: bool = False
    at_least: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """A mapping with known keys, or (`values`) any keys with values of one shape."""

    fields: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    one_of: bool = False
    """Exactly one of the keys."""
    values: Shape | None = None
    note: str = ""


Shape = Str | Number | Bool | Seq | Map

TEXT = Map({"en": Str(), "zh": Str()}, required=("en",), note="English and Chinese")
WORDS = Seq(Str(), scalar=True)
REGEX = Str(regex=True)
LITERAL = Str(longest=1_000)
"""A text for the scanner, whose compiler takes no long ones."""
RULE_ID = Str(pattern=r"[A-Z]{2,5}\d{3}")
PHASE = Seq(Str(choices=PHASES), scalar=True)

FIX = Map(
    {
        "text": TEXT,
        "run": Str(note="a shell command to paste"),
        "code": Str(note="Python for one's own code"),
        "set": Str(note="a Hydra override to paste, today's key name"),
        "risk": Str(choices=("none", "low", "medium", "high")),
        "verify": TEXT,
    },
    required=("text",),
)

HINT = Map(
    {
        "effect": Str(choices=("confirms", "supports", "weakens", "rules_out")),
        "capture": Str(note="name of a capture of the match"),
        "config": Str(note="key of an override or of the dumped config"),
        "matches": REGEX,
        "above": Number(),
        "below": Number(),
        "more_than": Str(note="name of another capture, whose number that of `capture` exceeds"),
        "phase": PHASE,
        "seen": Seq(RULE_ID, scalar=True, note="another rule that matched in the same log"),
        "frame": Str(regex=True, note="searched in `path:function` of the traceback's frames"),
        "absent": Bool(note="with `capture` or `frame`: there is none"),
        "check": Str(
            pattern=r"(?:env|config|data|model)\.[a-z_]+",
            note="a check that found a fault on this machine (--probe); `matches` in its words",
        ),
        "state": Str(choices=("fault", "ok"), note="of `check`: what it must have come to"),
    },
    required=("effect",),
)

CAUSE = Map(
    {
        "id": Str(pattern=r"[a-z0-9-]+"),
        "text": TEXT,
        "likelihood": Str(choices=("high", "medium", "low")),
        "evidence": Seq(HINT),
        "fixes": Seq(FIX),
    },
    required=("id", "text", "likelihood"),
)

LINE = Map(
    {
        "contains": Seq(LITERAL, scalar=True, at_least=1, note="all of them, case as printed"),
        "regex": REGEX,
        "unless": WORDS,
        "where": Str(choices=("text", "source"), note="source: a traceback's source lines too"),
    },
    required=("contains",),
)
TRACEBACK = Map(
    {
        "exception": Seq(Str(), scalar=True, note="names without their module; `*` for any"),
        "message": Str(regex=True, note="searched in the whole message, lines joined by \\n"),
        "frame": Str(regex=True, note="searched in `path:function`, any frame"),
        "innermost": Str(regex=True, note="searched in `path:function source` of the last frame"),
        "unless": WORDS,
    },
    required=("exception",),
)
RANGE = {"above": Number(), "below": Number()}
METRIC = Map(
    {
        "key": Seq(Str(), scalar=True, note="names of the same thing; `*` stands for any text"),
        "ratio": Seq(Str(), scalar=True, note="the key is divided by this one, step by step"),
        "nan": Bool(note="true: NaN or infinite"),
        **RANGE,
        "constant": Bool(note="the same value in every step"),
        "falls_to": Number(note="share of its own early median"),
        "rises_to": Number(note="multiple of its own early median"),
        "trend": Map(
            {
                "rises_by": Number(note="share of the level at the window's begin"),
                "falls_by": Number(note="share of the level at the window's begin"),
                "window": Number(integer=True, note="points up to the last"),
            },
            note="a steady rise or fall up to the last point",
        ),
        "change": Map(
            {
                "rises_to": Number(note="multiple of the level before"),
                "falls_to": Number(note="share of the level before"),
            },
            one_of=True,
            note="a step to another level that lasts",
        ),
        "for_steps": Number(integer=True, note="bad points in a row"),
        "once_well": Number(integer=True, note="the same after ten that were well: fewer"),
        "lasting": Bool(note="true: still so at the last step; false: over by then"),
        "after_steps": Number(integer=True, note="warm-up: points up to this step don't count"),
        "before_steps": Number(integer=True, note="it has to begin at this step or earlier"),
        "min_points": Number(integer=True),
        "smooth": Number(integer=True, note="width of a running median"),
        "healthy": Map(RANGE, note="the range to hope for, shown beside the finding"),
        "while": Map({"key": WORDS, **RANGE}, required=("key",)),
    },
    required=("key",),
)
MATCH = Map(
    {
        "line": Seq(LINE, scalar=True),
        "traceback": Seq(TRACEBACK, scalar=True),
        "sequence": Seq(LINE, at_least=2),
        "count": Seq(LINE, scalar=True),
        "absent": Seq(LINE, scalar=True),
        "metric": METRIC,
        "silence": Map(
            {"phase": PHASE, "last": Str(regex=True, note="found in the last line")},
        ),
        "event": Map(
            {"kind": Str(), "where": Map(values=Str(regex=True))},
            required=("kind",),
        ),
        "config": Map(
            {"key": WORDS, "matches": REGEX, "above": Number(), "below": Number()},
            required=("key",),
        ),
    },
    one_of=True,
    note="one kind of signature",
)
EXAMPLE = Map(
    {
        "log": Str(note="lines of a log"),
        "file": Str(pattern=r"(?!.*\.\.)\w[\w./-]*", note="a file in fixtures_logs/"),
        "origin": Str(choices=("genuine", "synthetic")),
        "facts": Map(values=Str(), note="fields of an event that does not come from the log"),
        "expect": Map(values=Str(), note="captures and the text that each must hold"),
        "because": Str(),
    },
    required=("origin",),
)
REFERENCE = Map(
    {
        "url": Str(),
        "kind": Str(choices=("issue", "doc", "source", "article", "experiment")),
        "versions": Str(),
        "checked": Str(pattern=r"\d{4}-\d{2}-\d{2}"),
        "note": Str(),
    },
    required=("url", "kind", "checked"),
)
RULE = Map(
    {
        "id": RULE_ID,
        "slug": Str(pattern=r"[a-z0-9]+(-[a-z0-9]+)*"),
        "status": Str(choices=("experimental", "test", "stable", "deprecated")),
        "severity": Str(choices=SEVERITIES),
        "role": Str(choices=("root", "symptom", "cascade", "teardown", "context", "advice")),
        "scope": Str(choices=("exact", "family", "generic")),
        "layer": Str(),
        "phase": PHASE,
        "title": TEXT,
        "summary": TEXT,
        "impact": TEXT,
        "applies_to": Map(values=Str(), note="package: PEP 440 range"),
        "match": MATCH,
        "within": Map({"lines": Number(integer=True)}),
        "same": Str(choices=("worker", "run")),
        "at_least": Number(integer=True),
        "missing": Seq(LITERAL, note="`absent`: none of these follows the line"),
        "fingerprint": WORDS,
        "causes": Seq(CAUSE, at_least=1),
        "relations": Map(
            {
                "explains": Seq(RULE_ID, scalar=True),
                "supersedes": Seq(RULE_ID, scalar=True),
                "see_also": Seq(RULE_ID, scalar=True),
            }
        ),
        "references": Seq(REFERENCE),
        "emitted_by": WORDS,
        "false_positives": Seq(TEXT),
        "examples": Map({"match": Seq(EXAMPLE), "no_match": Seq(EXAMPLE)}),
        "renamed_from": WORDS,
        "outcome": Str(
            choices=("failed", "hung", "degraded", "interrupted"),
            note="what the run has come to where this is the root; `failed` if not given",
        ),
    },
    required=(
        "id",
        "slug",
        "status",
        "severity",
        "role",
        "layer",
        "title",
        "summary",
        "match",
        "causes",
        "references",
        "examples",
    ),
)
