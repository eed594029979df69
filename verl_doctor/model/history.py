"""What is remembered of a fault from other runs."""

from typing import Literal, NamedTuple

State = Literal["new", "acknowledged", "resolved", "regressed"]
STATES: tuple[State, ...] = ("new", "acknowledged", "resolved", "regressed")
"""`regressed`: seen in a run that ended after somebody had resolved it."""


class Muted(NamedTuple):
    """A config file wants a fault left out of reports."""

    reason: str
    by: str
    """The name of the file."""


class Seen(NamedTuple):
    """What is known of one fault."""

    fingerprint: str
    number: int
    """Short name for people: `incidents show 3`. Never given twice."""
    times: int
    """Runs that showed it; 0 where the present run, which does not count, is the only one."""
    occurrences: int
    """How often it was printed, all runs together."""
    state: State
    fix: str
    """What resolved it the last time, as it was written down; empty if nothing was."""
    first_seen_at: float
    last_seen_at: float
    last_run: str
    """Name of the run that showed it last."""
    muted: bool = False
    mute_reason: str = ""
    worked: tuple[str, ...] = ()
    """Every fix that has resolved it, the last one first."""
