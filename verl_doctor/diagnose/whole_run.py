"""Matches that no line shows: of rules that look at the metrics or the settings of a run."""

from __future__ import annotations

from collections.abc import Callable

from ..detect.config import Settings
from ..detect.metrics.columns import Columns
from ..detect.metrics.judge import judge
from ..knowledge.base import RuleBase
from ..model import Match


def metric_matches(base: RuleBase, metrics: Columns, path_of: Callable[[int], str]) -> list[Match]:
    """Matches of the metric rules. Takes the run's metrics, and what names the source of a line."""
    found = []
    for rule_id in base.by_kind.get("metric", ()):
        bad = judge(base.spec(rule_id).options, metrics)
        if bad is not None:
            text = f"step {bad.captures['step']}: {bad.captures['key']} {bad.captures['value']}"
            found.append(
                Match(
                    rule_id,
                    path_of(bad.line),
                    bad.line,
                    text,
                    bad.captures,
                    lines=bad.lines,
                    curve=bad.curve,
                )
            )
    return found


def config_matches(
    base: RuleBase, settings: Settings, fits: Callable[..., bool], path: str
) -> list[Match]:
    """Matches of the rules on settings.

    Takes the run's settings, what compares one with a rule's bounds (`Confirmer.fits`), and the
    source that they are shown of.
    """
    found = []
    for rule_id in base.by_kind.get("config", ()):
        bounds = dict(base.spec(rule_id).options)
        for key in bounds.pop("key"):
            value = settings.get(key)
            if value is not None and fits(str(value), **bounds):
                captures = {"key": key, "value": str(value)}
                found.append(Match(rule_id, path, 1, f"{key}={value}", captures))
                break
    return found
