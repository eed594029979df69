"""What was found: matches, and the report that a user reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .history import Seen
from .logs import NOBODY, Block, Worker
from .words import Level, Role, Severity, Verdict


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
    cause: str = ""
    """Id of the cause that it is against."""
    worked: bool = False
    """Whether it has resolved the same fault before, on this machine."""


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
    captures: Mapping[str, str] = field(default_factory=dict)
    """What the rule's title was filled with: it can be said again in another language."""
    history: Seen | None = None
    """What the incident store knows of it; None if it was not asked or knows nothing."""


@dataclass(frozen=True, slots=True)
class Message:
    """A kind of warning or error that the log prints."""

    template: str
    """The text without its numbers and addresses: the same in every run."""
    level: Literal["error", "warning"]
    first: Evidence
    count: int = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a run prints that the last good one did not."""

    run: str
    """Name of the good run."""
    ended_at: float
    new: tuple[Message, ...]


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
    started: float | None = None
    command: str = ""
    """`python -m verl.…`, without the overrides."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Package -> version, as far as the log tells them."""
    hardware: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    """Warnings and errors that the log prints, each kind once."""
    compared: Comparison | None = None
    """Against the last good run that the incident store knows; None if there is none."""
