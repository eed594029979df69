"""The frozen types that every stage shares. Types only: no I/O, no matching, no rendering.

They are named tuples, since every start makes all of these classes: a frozen dataclass takes five
times as long to make. Their modules don't postpone annotations: a named tuple would compile each.

Line numbers are 1-based and count `\n`. Times are seconds since the epoch, or None where the log
gives none: order is always by line, a clock is never needed.
"""

from __future__ import annotations

from .findings import (
    CauseState,
    Checkpoint,
    Comparison,
    Curve,
    Evidence,
    Finding,
    FixText,
    Match,
    Message,
    Moment,
    Observation,
    Phase,
    Report,
    SourceInfo,
    Story,
)
from .history import STATES, Muted, Seen, State
from .logs import NOBODY, Block, Event, Exc, Frame, Line, Worker
from .rules import Cause, Example, Fix, Hint, MatchSpec, Pattern, Reference, Rule, Text
from .words import PHASES, SEVERITIES, Lang, Level, Role, Severity, Verdict, severity_rank

__all__ = [
    "NOBODY",
    "PHASES",
    "SEVERITIES",
    "STATES",
    "Block",
    "Cause",
    "CauseState",
    "Checkpoint",
    "Comparison",
    "Curve",
    "Event",
    "Evidence",
    "Example",
    "Exc",
    "Finding",
    "Fix",
    "FixText",
    "Frame",
    "Hint",
    "Lang",
    "Level",
    "Line",
    "Match",
    "MatchSpec",
    "Message",
    "Moment",
    "Muted",
    "Observation",
    "Pattern",
    "Phase",
    "Reference",
    "Report",
    "Role",
    "Rule",
    "Seen",
    "Severity",
    "SourceInfo",
    "State",
    "Story",
    "Text",
    "Verdict",
    "Worker",
    "severity_rank",
]
