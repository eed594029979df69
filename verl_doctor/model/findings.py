"""What was found: matches, and the report that a user reads."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from .history import Muted, Seen
from .logs import NOBODY, Block, Worker
from .words import Level, Role, Severity, Verdict


class Curve(NamedTuple):
    """A metric over the steps of a run, as far as a report shows it."""

    key: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    """A value for each step; NaN and infinite ones stand as they are."""
    first_bad: int
    """The first step at which the rule holds."""
    healthy: str = ""
    """The range that the rule calls healthy, in signs."""


class Match(NamedTuple):
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
    curve: Curve | None = None
    """The series in which a metric rule holds."""


class Observation(NamedTuple):
    """What a check has found on a machine: evidence that is not in the log."""

    check: str
    """`env.gpus`; see `verl_doctor.checks`."""
    state: Literal["ok", "fault", "unknown"]
    text: str
    """In the language of the report."""
    words: str
    """What a rule's `matches` is searched in: the English text and what was seen."""
    where: str = ""
    """Host and time, where it was not this machine, now."""


class Evidence(NamedTuple):
    """One line of the log, as it is shown to a person."""

    path: str
    line: int
    text: str


class CauseState(NamedTuple):
    id: str
    text: str
    likelihood: Level
    state: Literal["possible", "supported", "confirmed", "ruled_out"]
    because: tuple[str, ...] = ()
    other_wording: bool = False
    """Ruled out by the message's own words alone: it is the cause of another message that the
    rule knows, and says nothing to who reads this one."""


class FixText(NamedTuple):
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


class Finding(NamedTuple):
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
    count: int  # type: ignore[assignment]
    first_line: int
    last_line: int
    fingerprint: str
    summary: str = ""
    first_seen: float | None = None
    last_seen: float | None = None
    phase: str = ""
    references: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    """Checks that would tell its causes apart and were not run (`env.gpus`)."""
    why: str = ""
    """Why it holds its place: root, demoted by what, recovered."""
    captures: Mapping[str, str] = MappingProxyType({})
    """What the rule's title was filled with: it can be said again in another language."""
    history: Seen | None = None
    """What the incident store knows of it; None if it was not asked or knows nothing."""
    muted: Muted | None = None
    """The mute of a config file that it falls under; those of the store are in `history`."""
    curve: Curve | None = None
    """The metric that gave it away, where it was one."""


class Message(NamedTuple):
    """A kind of warning or error that the log prints."""

    template: str
    """The text without its numbers and addresses: the same in every run."""
    level: Literal["error", "warning"]
    first: Evidence
    count: int = 1  # type: ignore[assignment]


class Comparison(NamedTuple):
    """What a run prints that the last good one did not."""

    run: str
    """Name of the good run."""
    ended_at: float
    new: tuple[Message, ...]


class SourceInfo(NamedTuple):
    path: str
    lines: int
    bytes: int
    truncated: tuple[str, ...] = ()


class Phase(NamedTuple):
    """Where the run was when the log ends."""

    name: str
    line: int = 0
    step: int | None = None
    last_line: int = 0
    last_text: str = ""
    first_time: float | None = None
    """When the first line was printed, seconds since the epoch."""
    last_time: float | None = None
    """When the last one was."""


class Moment(NamedTuple):
    """One turn of a run, dated: a metric that went bad, or a fault in the log."""

    step: int | None
    """The training step, where the log tells one."""
    path: str
    line: int
    """1-based, within its file."""
    rule: str | None
    text: str
    """What is seen there: a key and its value, or the decisive line."""


class Checkpoint(NamedTuple):
    """A checkpoint that the log says was saved or loaded."""

    step: int
    name: str
    """Its folder's name, `global_step_30`."""
    path: str
    line: int
    """1-based, within its file."""


class Story(NamedTuple):
    """How a run went wrong, in the order in which it did."""

    moments: tuple[Moment, ...]
    first_bad_step: int | None = None
    checkpoint: Checkpoint | None = None
    """The last one from before the first moment."""


class Report(NamedTuple):
    """The whole answer for one run, ready to be rendered or stored."""

    verdict: Verdict
    sources: tuple[SourceInfo, ...]
    phase: Phase
    findings: tuple[Finding, ...]
    unexplained: tuple[Evidence, ...] = ()
    hidden: Mapping[str, int] = MappingProxyType({})
    notes: tuple[str, ...] = ()
    """Things a reader should know: folded lines, a source cut short, which file to fetch."""
    overrides: tuple[str, ...] = ()
    rules_version: str = ""
    command: str = ""
    """`python -m verl.…`, without the overrides."""
    versions: Mapping[str, str] = MappingProxyType({})
    """Package -> version, as far as the log tells them."""
    hardware: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    """Warnings and errors that the log prints, each kind once."""
    compared: Comparison | None = None
    """Against the last good run that the incident store knows; None if there is none."""
    story: Story | None = None
    """None where no metric went bad and no checkpoint could help."""
