"""Which incident is the root: roles, edges between rules, recovery, and only then the order.

Nothing here reads text: it weighs what the collector kept.
"""

from __future__ import annotations

from ..knowledge.base import RuleBase
from ..model import Lang, severity_rank
from .collect import Collector
from .incidents import Incident
from .words import say

QUIET_KINDS = ("metric", "config")
"""Rules of these kinds tell of trouble that does not end a process by itself."""
STEPS_TO_RECOVER = 2
MESSENGER = 6
NOISE = 8
NEAR_THE_END = 40
"""Lines: a bare `Name: message` further up, without frames, was most likely handled."""


def choose(collector: Collector, incidents: list[Incident], lang: Lang) -> list[Incident]:
    """The incidents, most important first, each with its role, severity and the reason for both.

    The first is the root if its role is `root`; a list without one means that nothing in the log
    can have ended the run.
    """
    for incident in incidents:
        _own(incident, collector, lang)
    live = [incident for incident in incidents if not incident.recovered]
    _explain(live, collector.base, lang)
    clock = len({one.first.path for one in incidents}) > 1 and all(
        one.first.time is not None for one in live if _class(one, collector.base) <= 2
    )
    order = sorted(incidents, key=lambda one: (_class(one, collector.base), *_place(one, clock)))
    classes = [_class(one, collector.base) for one in order]
    told = next((kind for kind in (MESSENGER, NOISE) if kind in classes), None)
    if classes and classes[0] > 4 and told is not None and not collector.progress.finished:
        # nothing but messengers: the first of them, and what it brought, is all that can be told
        order.insert(0, order.pop(classes.index(told)))
        _crown(order, lang)
    elif classes and classes[0] <= 4:
        _crown(order, lang)
    return order


def _own(incident: Incident, collector: Collector, lang: Lang) -> None:
    """Role and severity by the incident alone."""
    rule = incident.rule
    incident.role = rule.role if rule else "root"
    incident.severity = rule.severity if rule else "high"
    kind = collector.base.spec(rule.id).kind if rule else "traceback"
    if kind == "silence" and not (rule and rule.outcome == "failed"):
        # a log that simply stops may be cut short, or its run go on: it names no cause
        incident.role = "advice"
        incident.why = say("why_silence", lang)
        return
    if _is_quiet(incident, collector.base):
        return
    bare = rule is None and incident.block is not None and not incident.block.chain[0].frames
    if bare and collector.end_of(incident.last_path) - incident.last_line > NEAR_THE_END:
        incident.severity = "medium"
    if _recovered(incident, collector):
        incident.recovered = True
        incident.role = "advice"
        if severity_rank(incident.severity) < severity_rank("medium"):
            incident.severity = "medium"
        incident.why = say("why_recovered", lang)
    elif incident.role == "advice":
        incident.why = say("why_advice", lang)
    elif incident.role in ("cascade", "teardown"):
        incident.why = say("why_cascade", lang)


def _is_quiet(incident: Incident, base: RuleBase) -> bool:
    """Whether it is trouble with which a run goes on: further steps don't say that it is over."""
    rule = incident.rule
    return rule is not None and (
        base.spec(rule.id).kind in QUIET_KINDS or rule.outcome == "degraded"
    )


def _recovered(incident: Incident, collector: Collector) -> bool:
    """Whether the run went on after the last printing of this fault.

    A process that printed an uncaught traceback is gone: only steps of the same worker could
    speak for it, since Ray's other workers print with a delay.
    """
    progress = collector.progress
    # other files of the run have their own order: only what stands below in the same one counts
    last, end = incident.last_line, collector.end_of(incident.last_path)
    if progress.restarted_between(last, end, STEPS_TO_RECOVER):
        return True
    if not incident.last_uncaught and incident.count > 1:
        # survived before, in a run that made steps between its printings
        first = incident.first.line
        if progress.steps_between(first, last) >= STEPS_TO_RECOVER:
            return True
    if incident.uncaught:
        return progress.steps_between(last, end, incident.first.worker) >= STEPS_TO_RECOVER
    if progress.steps_between(last, end) >= STEPS_TO_RECOVER:
        # a first step line after a failure may only be late; a run needs some before it as well
        late = progress.steps_between(0, last) == 0
        return not (late and incident.block is not None)
    return progress.finished_between(last, end)


def _explain(live: list[Incident], base: RuleBase, lang: Lang) -> None:
    """Demotes what another live incident says that it causes."""
    by_rule: dict[str, Incident] = {}
    for incident in live:
        if incident.rule is not None and incident.rule.role != "teardown":
            by_rule.setdefault(incident.rule_id, incident)
    # by rule, not by incident: an error storm has thousands of incidents and a few rules
    sources: dict[str, str] = {}
    for rule_id, other in by_rule.items():
        for effect in base.explained_by(rule_id):
            if rule_id not in base.explained_by(effect):
                sources.setdefault(effect, rule_id)
        for wrapped in other.also:
            if wrapped in by_rule and by_rule[wrapped].weight > other.weight:
                sources.setdefault(wrapped, rule_id)
    for incident in live:
        source = sources.get(incident.rule_id) if incident.rule else None
        if source is None or source == incident.rule_id:
            continue
        incident.explained_by = source
        incident.why = say("why_explained", lang, other=source)
        if incident.role in ("root", "symptom"):
            incident.role = "symptom"
    # an effect of something that is itself explained points at the source
    for incident in live:
        seen = set()
        while incident.explained_by in by_rule and incident.explained_by not in seen:
            seen.add(incident.explained_by)
            further = by_rule[incident.explained_by].explained_by
            if not further:
                break
            incident.explained_by = further


def _class(incident: Incident, base: RuleBase) -> int:
    """0 a cause, 1 an exception that no exact rule knows, 2 a symptom, 3 quiet trouble, 4 a lesser
    root, 5 explained, 6 a messenger, 7 advice, 8 noise of the end."""
    rule = incident.rule
    if incident.recovered:
        return 7
    if incident.explained_by:
        return 5
    if rule is None and incident.block is None:
        return 4
    if rule is None:
        return 1 if incident.block is not None and incident.block.chain[0].frames else 3
    if rule.role in ("cascade", "teardown"):
        return MESSENGER if rule.role == "cascade" else NOISE
    if base.spec(rule.id).kind == "silence":
        return NOISE + 1
    if rule.role == "advice":
        return 7
    grave = severity_rank(rule.severity) <= severity_rank("high")
    if _is_quiet(incident, base):
        return 3 if grave else 4
    if rule.role == "symptom":
        return 2
    if rule.scope == "generic":
        return 1 if grave else 4
    return 0 if grave else 4


def _place(incident: Incident, clock: bool) -> tuple[float, int, int]:
    """Where an incident stands: by time where several files share a clock, else by line."""
    time = incident.first.time if clock else None
    return time or 0.0, incident.first.line, incident.weight


def _crown(order: list[Incident], lang: Lang) -> None:
    """Makes the first the root, gives the others their reason."""
    root = order[0]
    symptom = root.role in ("symptom", "cascade", "teardown")
    root.role = "root"
    if root.rule is None:
        root.why = say("why_unknown", lang)
    elif symptom:
        root.why = say("why_symptom", lang)
        if severity_rank(root.severity) > severity_rank("high"):
            root.severity = "high"  # the messenger is mild, what it reports ended the run
    else:
        root.why = say("why_only" if len(order) == 1 else "why_root", lang)
    for incident in order[1:]:
        if not incident.why:
            incident.why = say("why_later", lang, line=root.first.line)
            if incident.role == "root" and not incident.recovered:
                incident.role = "symptom"
