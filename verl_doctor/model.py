"""The frozen types that every stage shares. Types only: no I/O, no matching, no rendering.

Line numbers are 1-based and count `\\n`. Times are seconds since the epoch, or None where the log
gives none: order is always by line, a clock is never needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Severity = Literal["critical", "high", "medium", "low", "info"]
Role = Literal["root", "symptom", "cascade", "teardown", "context", "advice"]
Level = Literal["high", "medium", "low"]
Verdict = Literal["failed", "hung", "degraded", "interrupted", "healthy", "unknown"]
Lang = Literal["en", "zh"]

SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low", "info")
PHASES = (
    "unknown",
    "launch",
    "config",
    "data",
    "model_load",
    "engine_init",
    "rollout",
    "reward",
    "log_prob",
    "update",
    "weight_sync",
    "checkpoint",
    "validation",
    "training",
    "shutdown",
)


def severity_rank(severity: str) -> int:
    """Position of a severity word, 0 the worst. Takes one of SEVERITIES, returns its index."""
    return SEVERITIES.index(severity)


# --- what stands in a log -------------------------------------------------------------------


class Worker(NamedTuple):
    """Who printed a line, as far as its prefixes say; the empty worker is the driver or unknown.

    A named tuple, for its hash: the worker is the key by which interleaved lines are sorted out.
    """

    node: str = ""
    """Host name or IP."""
    actor: str = ""
    """Ray actor or task name, `raylet`, an engine process such as `EngineCore_DP0`."""
    pid: str = ""
    rank: str = ""

    @property
    def label(self) -> str:
        """Words for a person: `rank 3`, `WorkerDict pid=41 ip=10.0.0.2`; empty for the driver."""
        parts = []
        if self.rank:
            parts.append(f"rank {self.rank}")
        if self.actor:
            parts.append(self.actor)
        if self.pid:
            parts.append(f"pid={self.pid}")
        if self.node:
            parts.append(f"ip={self.node}")
        return " ".join(parts)


NOBODY = Worker()


@dataclass(frozen=True, slots=True)
class Line:
    """One log line without its prefixes: what was said, by whom, where."""

    text: str
    number: int
    path: str = ""
    worker: Worker = NOBODY
    level: str = ""
    """Upper-case level word of a prefix (`ERROR`, `WARNING`, …) or empty."""
    time: float | None = None
    repeated: int = 1
    """How many times Ray says it folded this line, itself included."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One `File "…", line N, in f` entry of a Python traceback and its source line."""

    file: str
    line: int
    function: str
    source: str = ""
    at: int = 0
    """Line of the log that names the frame."""

    @property
    def user(self) -> bool:
        """Whether the frame lies outside installed packages and the standard library."""
        return not any(
            part in self.file
            for part in ("site-packages", "dist-packages", "/lib/python", "/bin/", "<frozen")
        ) and not self.file.endswith((".pyx", ".pxi"))


@dataclass(frozen=True, slots=True)
class Exc:
    """One exception of a traceback chain."""

    type: str
    """Dotted name as printed, e.g. `torch.OutOfMemoryError`."""
    message: str
    """The whole message, its continuation lines joined by `\\n`."""
    line: int
    """Line of the log that holds the exception's name."""
    last_line: int
    frames: tuple[Frame, ...] = ()

    @property
    def name(self) -> str:
        """Last component of the type: `OutOfMemoryError`."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Block:
    """A traceback put together again for one worker; `chain` is in printed order, cause first."""

    worker: Worker
    path: str
    first_line: int
    last_line: int
    chain: tuple[Exc, ...]
    quoted: bool = False
    """Printed as part of text that a model generated: data, never evidence."""
    uncaught: bool = False
    """The outermost frame is the module: the process ended with it."""
    time: float | None = None
    repeated: int = 1


@dataclass(frozen=True, slots=True)
class Event:
    """A fact that a detector put together from several lines, matched by rules of kind `event`."""

    kind: str
    line: int
    text: str
    fields: Mapping[str, str]
    path: str = ""
    worker: Worker = NOBODY
    lines: tuple[int, ...] = ()
    """Further lines that show it."""


# --- rules ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """The same words in English and Chinese."""

    en: str
    zh: str = ""

    def get(self, lang: Lang) -> str:
        """The text in `lang`, or English where there is no Chinese."""
        return self.zh if lang == "zh" and self.zh else self.en


@dataclass(frozen=True, slots=True)
class Fix:
    """Something to do: words, and where it can be pasted a command (`run`), a Hydra override
    (`set`) or Python for one's own code (`code`)."""

    text: Text
    run: str = ""
    set: str = ""
    code: str = ""
    risk: str = "low"
    verify: Text | None = None


@dataclass(frozen=True, slots=True)
class Hint:
    """What moves a cause: a capture, the phase, another rule seen, a config value or a version."""

    effect: Literal["confirms", "supports", "weakens", "rules_out"]
    capture: str = ""
    matches: str = ""
    above: float | None = None
    below: float | None = None
    phase: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    frame: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """One possible reason, its likelihood before the evidence, and its fixes, best first."""

    id: str
    text: Text
    likelihood: Level = "medium"
    evidence: tuple[Hint, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """One alternative of a rule's `match`; which fields count depends on the rule's kind."""

    contains: tuple[str, ...] = ()
    regex: str = ""
    unless: tuple[str, ...] = ()
    where: str = "text"
    exception: tuple[str, ...] = ()
    message: str = ""
    frame: str = ""
    innermost: str = ""


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """How a rule recognises its fault."""

    kind: str
    patterns: tuple[Pattern, ...] = ()
    within_lines: int = 0
    same_worker: bool = True
    at_least: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `metric`, `silence`, `event`, `config` and `absent`."""


@dataclass(frozen=True, slots=True)
class Reference:
    url: str
    kind: str
    versions: str = ""
    checked: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """Lines that a rule must match (`expect`: captures) or must not (`because`)."""

    log: str = ""
    file: str = ""
    origin: str = "synthetic"
    expect: Mapping[str, str] = field(default_factory=dict)
    because: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One piece of knowledge: signature -> causes -> fixes. See docs/rules.md for every key."""

    id: str
    slug: str
    status: str
    severity: Severity
    role: Role
    layer: str
    title: Text
    match: MatchSpec
    summary: Text
    causes: tuple[Cause, ...]
    impact: Text | None = None
    phase: tuple[str, ...] = ()
    scope: str = "exact"
    """`exact`, `family` (a whole class of messages) or `generic`: the more exact rule wins."""
    applies_to: Mapping[str, str] = field(default_factory=dict)
    fingerprint: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    see_also: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    emitted_by: tuple[str, ...] = ()
    false_positives: tuple[Text, ...] = ()
    examples_match: tuple[Example, ...] = ()
    examples_no_match: tuple[Example, ...] = ()
    renamed_from: tuple[str, ...] = ()
    outcome: str = ""
    """What a run with this root has come to, where it is not `failed`."""
    path: str = ""


# --- what was found -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Match:
    """A rule's pattern held here."""

    rule: str
    path: str
    line: int
    text: str
    captures: Mapping[str, str]
    worker: Worker = NOBODY
    block: Block | None = None
    exc: int | None = None
    """Index into the block's chain, where the match lies in a traceback."""
    repeated: int = 1
    time: float | None = None
    lines: tuple[int, ...] = ()
    phase: str = ""
    pattern: int = 0
    """Which alternative of the rule's match held."""


class Evidence(NamedTuple):
    """One line of the log, as it is shown to a person."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CauseState:
    id: str
    text: str
    likelihood: Level
    state: Literal["possible", "supported", "confirmed", "ruled_out"]
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixText:
    text: str
    run: str = ""
    set: str = ""
    code: str = ""
    risk: str = ""
    verify: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One incident, explained: what a user reads. See the JSON report in docs/report.md."""

    rule: str | None
    slug: str
    title: str
    role: Role
    severity: Severity
    confidence: Level
    cause: str
    causes: tuple[CauseState, ...]
    fixes: tuple[FixText, ...]
    evidence: tuple[Evidence, ...]
    workers: tuple[str, ...]
    count: int
    first_line: int
    last_line: int
    fingerprint: str
    summary: str = ""
    first_seen: float | None = None
    last_seen: float | None = None
    phase: str = ""
    references: tuple[str, ...] = ()
    why: str = ""
    """Why it holds its place: root, demoted by what, recovered."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    path: str
    lines: int
    bytes: int
    truncated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Phase:
    """Where the run was when the log ends."""

    name: str
    line: int = 0
    step: int | None = None
    last_line: int = 0
    last_text: str = ""
    last_time: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer for one run, ready to be rendered or stored."""

    verdict: Verdict
    sources: tuple[SourceInfo, ...]
    phase: Phase
    findings: tuple[Finding, ...]
    unexplained: tuple[Evidence, ...] = ()
    hidden: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Things a reader should know: folded lines, a source cut short, which file to fetch."""
    overrides: tuple[str, ...] = ()
    rules_version: str = ""
