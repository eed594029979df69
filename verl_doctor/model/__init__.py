"""The frozen types that every stage shares. Types only: no I/O, no matching, no rendering.

Line numbers are 1-based and count `\n`. Times are seconds since the epoch, or None where the log
gives none: order is always by line, a clock is never needed.
"""

from __future__ import annotations

from .findings import (
    CauseState,
    Comparison,
    Evidence,
    Finding,
    FixText,
    Match,
    Message,
    Phase,
    Report,
    SourceInfo,
)
from .history import STATES, Seen, State
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
    "Comparison",
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
    "Text",
    "Verdict",
    "Worker",
    "severity_rank",
]
