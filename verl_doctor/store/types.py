"""What goes in and out of the store. Times are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..model import STATES, Evidence, Seen, State

__all__ = [
    "LATEST",
    "STATES",
    "WAKE_OCCURRENCES",
    "WAKE_RUNS",
    "Incident",
    "Listing",
    "Note",
    "Occurrence",
    "Recorded",
    "Seen",
    "Similar",
    "State",
]

WAKE_RUNS = 3
"""A mute ends when the incident has been seen in more than this many times the runs it had then."""
LATEST = 250_000_000_000.0
"""The last time that is kept, in the year 9892: beyond 9999 no calendar can show it."""
WAKE_OCCURRENCES = 10
"""The same for how often it was printed, which varies more from run to run."""


class Recorded(NamedTuple):
    """What `record` did."""

    path: Path
    """The database file."""
    run: int
    """The id of the run in the store."""
    new: int
    """Incidents that no other run had shown."""
    seen_before: int
    """Incidents that another run had shown."""
    created: bool
    """The file was created by this call."""
    updated: bool
    """The run was known already: the same log, or the same log having grown."""


class Incident(NamedTuple):
    """One fault as it is listed; `runs` and `occurrences` count over all its runs."""

    number: int
    fingerprint: str
    rule: str | None
    slug: str
    title: str
    severity: str
    state: State
    fix: str
    resolved_at: float | None
    first_seen_at: float
    last_seen_at: float
    runs: int
    occurrences: int
    muted: bool = False
    """Left out of reports now: neither has the mute ended nor has the incident outgrown it."""
    muted_until: float | None = None
    mute_reason: str = ""
    """Why it was muted, also after the mute has ended by itself."""
    tags: tuple[str, ...] = ()
    captures: Mapping[str, str] = MappingProxyType({})
    """What the rule's title was filled with."""


class Note(NamedTuple):
    """What a person wrote about an incident."""

    id: int
    fingerprint: str
    text: str
    written_at: float


class Similar(NamedTuple):
    """An incident that is like another one."""

    incident: Incident
    same_rule: bool
    score: float
    """Share of the words that both have, of their titles and decisive lines; 0 to 1."""


class Listing(NamedTuple):
    """Incidents, the one seen last first, and how many there are without the limit."""

    path: Path
    total: int
    incidents: tuple[Incident, ...]


class Occurrence(NamedTuple):
    """An incident in one run."""

    run: int
    name: str
    logs: tuple[str, ...]
    host: str
    """The machine on which the log was diagnosed."""
    verdict: str
    run_phase: str
    """Where the run was when its log ended."""
    step: int | None
    command: str
    """`python -m verl.…`, without the overrides."""
    overrides: tuple[str, ...]
    versions: Mapping[str, str]
    """Package -> version, as far as the log told them."""
    started_at: float | None
    rules_version: str
    recorded_at: float
    role: str
    severity: str
    confidence: str
    cause: str
    phase: str
    count: int  # type: ignore[assignment]
    workers: tuple[str, ...]
    first_line: int
    last_line: int
    last_seen_at: float
    evidence: tuple[Evidence, ...]
