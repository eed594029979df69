"""The frozen types that every stage shares. Types only: no I/O, no matching, no rendering.

Line numbers are 1-based and count `\n`. Times are seconds since the epoch, or None where the log
gives none: order is always by line, a clock is never needed.
"""

from __future__ import annotations

from .findings import (
    CauseState,
    Checkpoint,
    Curve,
    Evidence,
    Finding,
    FixText,
    Match,
    Moment,
    Phase,
    Report,
    SourceInfo,
    Story,
)
from .logs import NOBODY, Block, Event, Exc, Frame, Line, Worker
from .rules import Cause, Example, Fix, Hint, MatchSpec, Pattern, Reference, Rule, Text
from .words import PHASES, SEVERITIES, Lang, Level, Role, Severity, Verdict, severity_rank

__all__ = [
    "NOBODY",
    "PHASES",
    "SEVERITIES",
    "Block",
    "Cause",
    "CauseState",
    "Checkpoint",
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
    "Moment",
    "Pattern",
    "Phase",
    "Reference",
    "Report",
    "Role",
    "Rule",
    "Severity",
    "SourceInfo",
    "Story",
    "Text",
    "Verdict",
    "Worker",
    "severity_rank",
]
