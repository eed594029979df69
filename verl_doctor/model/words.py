"""The closed vocabularies: severities, roles, phases, verdicts."""

from __future__ import annotations

from typing import Literal

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
