"""Matches folded into incidents: the same fault on 64 ranks, printed four times each, is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from .. import lazy
from ..model import Block, Evidence, Exc, Frame, Match, Rule

MAX_WORKERS = 512
MAX_EVIDENCE = 6

_VARIABLE = lazy.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{16,}\b|\d+(?:\.\d+)*")


def template(text: str, limit: int) -> str:
    """The text with numbers, addresses and hashes taken out: what two printings share.

    Takes the greatest length of what is returned, in characters; only so much of a long text is
    looked at as that may need.
    """
    return _VARIABLE.sub("#", text[: 8 * limit])[:limit]


def weight(role: str, scope: str) -> int:
    """How much a rule's match says about a cause, 0 the most.

    A general rule with role root (any `KeyError`) tells less than an exact symptom, and more than
    a cascade; an exception without a rule stands between (`UNKNOWN_WEIGHT`).
    """
    if role == "root":
        return {"exact": 0, "family": 1, "generic": 4}[scope]
    if role == "symptom":
        return {"exact": 2, "family": 3, "generic": 4}[scope]
    if role == "advice":
        return 6
    return {"cascade": 7, "teardown": 8, "context": 9}[role]


UNKNOWN_WEIGHT = 5


@dataclass(slots=True)
class Incident:
    """One fault, however often it was printed."""

    key: str
    rule: Rule | None
    first: Match
    count: int = 0
    workers: dict[str, int] = field(default_factory=dict)
    """Label -> first line."""
    last_line: int = 0
    last_path: str = ""
    last_time: float | None = None
    evidence: list[Evidence] = field(default_factory=list)
    uncaught: bool = False
    last_uncaught: bool = False
    """Its last printing was that of a process that ended with it."""
    also: set[str] = field(default_factory=set)
    """Other rules that held in the same tracebacks."""
    # set by the diagnosis
    role: str = ""
    severity: str = ""
    recovered: bool = False
    explained_by: str = ""
    why: str = ""

    @property
    def weight(self) -> int:
        """See `weight`."""
        if self.rule is None:
            return UNKNOWN_WEIGHT
        return weight(self.rule.role, self.rule.scope)

    @property
    def rule_id(self) -> str:
        return self.rule.id if self.rule else ""

    @property
    def block(self) -> Block | None:
        return self.first.block

    def add(self, match: Match, also: set[str]) -> None:
        """Folds one more printing in; blocks of slow workers may close after later ones."""
        if match.line < self.first.line:
            self.first = match
        self.also |= also
        self.again(match, match.line, match.time)
        label = match.worker.label
        if label in self.workers:
            self.workers[label] = min(self.workers[label], match.line)
        elif len(self.workers) < MAX_WORKERS:
            self.workers[label] = match.line
        if match.block is not None and match.block.uncaught:
            self.uncaught = True
        if len(self.evidence) < MAX_EVIDENCE:
            self.evidence.append(Evidence(match.path, match.line, match.text))
            self.evidence += [Evidence(match.path, line, "") for line in match.lines]

    def again(self, match: Match, line: int, time: float | None) -> None:
        """Counts one more printing, on that line and at that time, of a match that it has."""
        self.count += match.repeated
        if line >= self.last_line:
            self.last_line, self.last_path = line, match.path
            self.last_uncaught = match.block is not None and match.block.uncaught
        if time is not None:
            self.last_time = time

    def copy(self) -> Incident:
        """An incident of its own that further printings don't reach."""
        return replace(
            self, workers=dict(self.workers), evidence=list(self.evidence), also=set(self.also)
        )


class Incidents:
    """The growing set; memory is bound by the number of different faults, not by their count."""

    MAX = 5_000

    def __init__(self) -> None:
        self.by_key: dict[str, Incident] = {}

    def copy(self) -> Incidents:
        """A set of its own, for a report while the log still grows."""
        other = Incidents()
        other.by_key = {key: incident.copy() for key, incident in self.by_key.items()}
        return other

    def add(
        self, match: Match, rule: Rule | None, also: set[str], phase: Callable[[Match], str]
    ) -> None:
        """Folds a match into its incident. `phase` is asked only for the match that stands for
        the incident: to know it takes longer than to count a match."""
        key = incident_key(match, rule)
        incident = self.by_key.get(key)
        if incident is None or match.line < incident.first.line:
            match = match._replace(phase=phase(match))
        if incident is None:
            if len(self.by_key) >= self.MAX:
                return
            incident = self.by_key[key] = Incident(key, rule, match)
        incident.add(match, also)

    def again(self, key: str, match: Match, line: int, time: float | None) -> bool:
        """Counts one more printing of a match; says whether its incident had all else of it."""
        incident = self.by_key.get(key)
        if incident is None or len(incident.evidence) < MAX_EVIDENCE:
            return False
        incident.again(match, line, time)
        return True


def incident_key(match: Match, rule: Rule | None) -> str:
    """What identifies a fault: rule and its fingerprint captures, never rank, pid, port or time."""
    if rule is not None:
        parts = [match.captures.get(name, "") for name in rule.fingerprint]
        return "|".join((rule.id, *parts))
    if match.block is not None and match.exc is not None:
        exc = match.block.chain[match.exc]
        where = exc.frames[-1].function if exc.frames else ""
        return "|".join(("", exc.name, template(exc.message.partition("\n")[0], 200), where))
    return "|".join(("", template(match.text, 200)))


def defaults(match: Match) -> Mapping[str, str]:
    """Captures that every text may use beside the rule's own."""
    values = {"line": str(match.line), "worker": match.worker.label or "driver"}
    values["phase"] = match.phase
    if match.block is not None and match.exc is not None:
        exc = match.block.chain[match.exc]
        values["exception"] = exc.name
        values["message"] = exc.message.partition("\n")[0][:200]
        deepest = match.block.chain[0]
        values["inner"] = f"{deepest.name}: {deepest.message.partition(chr(10))[0][:200]}"
        frames = [frame for part in match.block.chain for frame in part.frames if frame.user]
        own = [frame for frame in exc.frames if frame.user]
        frame = (own or frames or list(exc.frames))[-1:] or None
        if frame:
            values["frame"] = f"{frame[0].file}:{frame[0].line} in {frame[0].function}"
            values["raised"] = _raised(exc, frame[0]) or values["frame"]
    else:
        values["message"] = match.text[:200]
    values.setdefault("frame", "")
    values.setdefault("raised", "")
    values.setdefault("inner", "")
    values.setdefault("exception", "")
    return values


def _raised(exc: Exc, caller: Frame) -> str:
    """The innermost frame outside Python's own library, and the user's code that led there.

    An error that a package raises is not to be sought in the line that called the package.
    """
    places = [frame for frame in exc.frames if not frame.library]
    if not places or places[-1].user:
        return ""
    return places[-1].place + (f" (via {caller.place})" if caller.user else "")
