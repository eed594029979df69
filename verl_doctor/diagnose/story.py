"""How a run went wrong, told in its own order: metrics that turned bad, faults, and the last
checkpoint from before the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..detect.checkpoints import Saved
from ..logs.text import visible
from ..model import Checkpoint, Moment, Story, severity_rank
from .collect import Collector
from .incidents import Incident

MAX_MOMENTS = 10
MAX_TEXT = 100
SETTLED = 10
"""What advice says of a run's first steps on is how the run is, no turn in it."""
SPEED_KEYS = ("perf/", "timing")
"""Metrics whose trouble costs time and memory and leaves the weights as good as they were."""


def story(
    order: Sequence[Incident], collector: Collector, offsets: Mapping[str, int]
) -> Story | None:
    """The story of a run.

    Takes the incidents that `choose` has placed, the collector, and the number of lines before
    each source. Returns None where no metric went bad and no checkpoint could help.
    """
    turns = sorted((one for one in order if _is_turn(one)), key=lambda one: one.first.line)
    if not turns:
        return None
    spoilt = [one for one in turns if _spoils(one)]
    saved = _checkpoint(spoilt[0] if spoilt else turns[0], collector)
    bad_steps = [one.first.curve.first_bad for one in spoilt if one.first.curve is not None]
    if saved is None and not any(one.first.curve for one in turns):
        return None

    def local(path: str, line: int) -> int:
        return line - offsets.get(path, 0)

    checkpoint = None
    if saved is not None:
        line = local(saved.path, saved.line)
        checkpoint = Checkpoint(saved.step, saved.name, saved.path, line)
    first_seen: dict[tuple[str, int], Incident] = {}
    for one in turns:
        first_seen.setdefault(_seen_at(one), one)
    told = list(first_seen.values())
    if len(told) > MAX_MOMENTS:
        told = [*told[: MAX_MOMENTS - 1], told[-1]]
    moments = [
        Moment(
            _step(one, collector),
            one.first.path,
            local(one.first.path, one.first.line),
            one.rule_id or None,
            _text(one),
        )
        for one in told
    ]
    return Story(tuple(moments), min(bad_steps, default=None), checkpoint)


def _is_turn(incident: Incident) -> bool:
    """Whether an incident belongs into the story: metrics that turned, and what may have ended the
    run, but not what merely follows from an end."""
    curve = incident.first.curve
    if curve is not None:
        advice = severity_rank(incident.severity) > severity_rank("medium")
        return not advice or curve.first_bad > SETTLED
    grave = severity_rank(incident.severity) <= severity_rank("high")
    return grave and not incident.recovered and incident.role in ("root", "symptom")


def _seen_at(incident: Incident) -> tuple[str, int]:
    """What a moment shows: two rules on the same metric at the same step are one moment."""
    curve = incident.first.curve
    return (curve.key, curve.first_bad) if curve else (incident.key, incident.first.line)


def _spoils(incident: Incident) -> bool:
    """Whether the weights from here on are not to be trusted."""
    curve = incident.first.curve
    return curve is not None and not curve.key.startswith(SPEED_KEYS)


def _checkpoint(first: Incident, collector: Collector) -> Saved | None:
    """The last checkpoint from before the first turn that was surely whole by then."""
    line, curve = first.first.line, first.first.curve
    numbered = curve is not None and collector.progress.last_step is not None
    step = curve.first_bad if curve is not None and numbered else None
    saved = collector.checkpoints.before(line, step)
    while saved is not None and not saved.loaded:
        if collector.progress.reached_between(saved.line, line):
            return saved
        saved = collector.checkpoints.before(saved.line, step)
    return saved


def _step(incident: Incident, collector: Collector) -> int | None:
    curve = incident.first.curve
    return curve.first_bad if curve else collector.progress.step_at(incident.first.line)


def _text(incident: Incident) -> str:
    curve = incident.first.curve
    if curve is not None:
        return f"{curve.key} {incident.first.captures['value']}"
    return visible(incident.first.text.partition("\n")[0].strip(), MAX_TEXT)
