"""One run's log, item by item: asks matcher and detectors, keeps incidents. Decides nothing yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from ..detect.checkpoints import Checkpoints
from ..detect.collectives import Collectives
from ..detect.config import Settings
from ..detect.facts import Facts
from ..detect.metrics.columns import Columns
from ..detect.metrics.judge import wanted_keys
from ..detect.metrics.lines import Reading, read_dict_line, read_json_line, read_step_line
from ..detect.pauses import Pauses
from ..detect.processes import Elastic, Shell
from ..detect.progress import Progress, phase_of_frames
from ..detect.samples import Samples
from ..knowledge.base import RuleBase
from ..logs.blocks import Part
from ..logs.items import Again, Done, Dump, Item, Seen
from ..logs.reader import Reader
from ..match.matcher import Matcher
from ..model import Block, Event, Evidence, Line, Match
from ..scan import anchors
from .incidents import Incidents, incident_key, template
from .lives import Lives
from .messages import Messages
from .whole_run import config_matches, metric_matches
from .winner import Winner

MAX_ERROR_SHAPES = 50
MAX_HELD = 1_000
"""Matches inside of samples that are kept: all but the last ones will prove to be quoted."""


class Closed(NamedTuple):
    """What a log comes to if it ends here."""

    incidents: Incidents
    seen_rules: set[str]
    quoted: int


class Told(NamedTuple):
    """What a traceback is about."""

    block: Block
    best: Match
    also: set[str]
    """The other rules that hold in it."""
    key: str
    """That of its incident."""


class Collector:
    """Feed it every item of every source in order; `closed` may be asked at any time."""

    def __init__(self, base: RuleBase) -> None:
        self.base = base
        self.matcher = Matcher(base)
        self._winner = Winner(base, self.matcher)
        self.incidents = Incidents()
        self.samples = Samples()
        self.progress = Progress()
        self.settings = Settings()
        self.stated = Facts()
        self.messages = Messages()
        self.checkpoints = Checkpoints()
        self.metrics = Columns(
            key for rule in base.by_kind.get("metric", ()) for key in self._keys(rule)
        )
        self.seen_rules: set[str] = set()
        self.folded = 0
        self.context = 0
        self.ignored = 0
        self._errors: dict[str, tuple[Evidence, int]] = {}
        self.ranks: set[str] = set()
        self.lives = Lives()
        self.total_lines = 0
        self.last_path = ""
        self._ends: dict[str, int] = {}
        self._shell = Shell()
        self._elastic = Elastic()
        self._collectives = Collectives()
        self._pauses = Pauses()
        self.facts: dict[str, Event] = {}
        """Events from outside the log, by a name of the caller's; without a line they stand at
        the log's end."""
        self.exited = False
        """The run is known to have ended: a log that stops is no silence."""
        self._pending: dict[int, list[Match]] = defaultdict(list)
        self._regions: dict[int, int] = {}
        self._told: dict[int, Told] = {}
        """By token, what the tracebacks came to that may come again."""
        self._held: list[tuple[int, Match, set[str], int]] = []
        """(sample, match, other rules, last line of it) of what lies in a model's text."""
        self._quoted = 0
        """What was held, and let go since it is surely quoted."""

    def _keys(self, rule_id: str) -> list[str]:
        return wanted_keys(self.base.spec(rule_id).options)

    # --- items ------------------------------------------------------------------------------

    def add(self, item: Item) -> None:
        """Takes the next item of the log."""
        if isinstance(item, Seen):
            self._seen(item)
        elif isinstance(item, Done):
            self._done(item)
        elif isinstance(item, Again):
            self._again(item)
        elif isinstance(item, Dump):
            self.settings.dump(item.text)
            self.progress.enter(item.line.number, "config")

    def read(self, reader: Reader, chunks: Iterable[bytes]) -> None:
        """Takes a whole source."""
        for item in reader.read(chunks):
            self.add(item)
        self.end_source(reader.path, reader.lines)

    def end_source(self, path: str, lines: int) -> None:
        """The source has been read; the next one's lines are numbered from here on."""
        self.total_lines += lines
        self._told.clear()
        self._ends[path] = self.total_lines

    def end_of(self, path: str) -> int:
        """Number of the last line of a source."""
        return self._ends.get(path, self.total_lines)

    def _seen(self, seen: Seen) -> None:
        line, found = seen.line, seen.anchors
        self.lives.seen(line.worker, line.number, line.time)
        if line.worker.rank:
            self.ranks.add(line.worker.rank)
        if line.repeated > 1:
            self.folded += line.repeated
        if anchors.SAMPLE in found:
            self.samples.mark(line)
        region = self.samples.region(line.worker, line.number)
        if seen.part is not None:
            if seen.token not in self._regions:
                self._regions[seen.token] = region
            if seen.literals:
                in_source = seen.part is Part.FRAME
                self._pending[seen.token] += self.matcher.line(line, seen.literals, in_source)
            if found and seen.part is Part.TEXT:
                self._anchored(seen, region)
            return
        if found:
            self._anchored(seen, region)
        matches = self.matcher.line(line, seen.literals) if seen.literals else []
        if matches:
            self._line(matches, region)
        if region:
            return
        is_error = anchors.ERROR_LINE in found
        if is_error or anchors.WARNING in found:
            self.messages.add(line, is_error)
        if is_error and not matches:
            self._error_line(line)

    def _anchored(self, seen: Seen, region: int) -> None:
        line, found = seen.line, seen.anchors
        if anchors.STEP in found and not line.text.startswith(("[", "'")):
            reading = read_step_line(line.text)
            self._metrics_line(line, reading)
            if reading is not None and reading.step is not None:
                self._pauses.step(line, reading.step, seen.stamp)
        elif anchors.METRICS in found and not region:  # a model may write dicts and JSON, too
            self._metrics_line(line, read_json_line(line.text) or read_dict_line(line.text))
        if region:
            return
        if anchors.PHASE in found:
            self.progress.phase_text(line.number, seen.raw)
            self._pauses.phase(self.progress.phase, seen.stamp)
        if anchors.DONE in found:
            self.progress.done(line)
        if anchors.FACT in found:
            self.stated.line(line.text)
        if anchors.CHECKPOINT in found:
            self.checkpoints.feed(line)
        if anchors.OVERRIDES in found:
            self.settings.overrides_line(line.text)
        if anchors.ELASTIC in found:
            self._elastic.feed(line)
        if anchors.SIGNAL in found:
            self._shell.feed(line)
        if anchors.NCCL in found:
            self._collectives.feed(line, seen.raw)

    def _metrics_line(self, line: Line, reading: Reading | None) -> None:
        if reading is None:
            return
        step = self.metrics.add(reading, line)
        self.progress.reach(step, line, counted=reading.step is None)
        self.samples.record(line)

    def _error_line(self, line: Line) -> None:
        shape = template(line.text, 160)
        known = self._errors.pop(shape, None)
        if known is None and len(self._errors) >= MAX_ERROR_SHAPES:
            del self._errors[next(iter(self._errors))]
        count = (known[1] if known else 0) + line.repeated
        self._errors[shape] = Evidence(line.path, line.number, line.text), count

    @property
    def error_lines(self) -> list[tuple[Evidence, int]]:
        """Lines of level ERROR that no rule knows: the last of each shape and how many there
        were, in the order of the log."""
        return list(self._errors.values())

    # --- tracebacks -------------------------------------------------------------------------

    def _done(self, done: Done) -> None:
        block = done.block
        pending = self._pending.pop(done.token, [])
        region = self._regions.pop(done.token, 0)
        if block.ignored:
            self.ignored += 1
            return
        best, also, every = self._winner.of_block(block, pending)
        if done.kept:
            rule = self.base.rule(best.rule) if best.rule else None
            self._told[done.token] = Told(block, best, also, incident_key(best, rule))
        for match in every:
            self.matched(match)
        self._record(best, also, region, block.last_line)

    def _again(self, again: Again) -> None:
        block, best, also, key = self._told[again.token]
        self.lives.seen(block.worker, again.last_line, again.time)
        lines = again.line - block.first_line
        region = self.samples.region(block.worker, again.line)
        if not region and self.incidents.again(key, best, best.line + lines, again.time):
            return
        match = best._replace(line=best.line + lines, time=again.time)
        if region:  # it may prove to be what ended the run; elsewhere it only counts
            match = match._replace(block=block.moved(lines, again.time))
        self._record(match, also, region, again.last_line)

    def _line(self, matches: list[Match], region: int) -> None:
        for match in matches:
            self.matched(match)
        best, also = self._winner.of_line(matches)
        self._record(best, also, region, best.line)

    # --- incidents --------------------------------------------------------------------------

    def matched(self, match: Match) -> None:
        """Called for every match, before anything is chosen; the proofs of rules listen here.
        Of a traceback that comes `Again` it has been called before."""

    def _record(self, match: Match, also: set[str], region: int, last_line: int) -> None:
        if match.rule:
            self.seen_rules.add(match.rule)
        self.seen_rules |= also
        if region:
            if len(self._held) >= MAX_HELD:
                self._quoted += MAX_HELD // 2
                del self._held[: MAX_HELD // 2]
            self._held.append((region, match, also, last_line))
        elif (role := self.base.rule(match.rule).role if match.rule else "") == "context":
            self.context += match.repeated
        else:
            if role != "cascade":  # what others made a worker say is no fault of its own
                self.lives.fault(match)
            self._fold(match, also, self.incidents)

    def _fold(self, match: Match, also: set[str], incidents: Incidents) -> None:
        rule = self.base.rule(match.rule) if match.rule else None
        if rule is not None and rule.role == "context":
            return
        incidents.add(match, rule, also, self.phase)

    def phase(self, match: Match) -> str:
        """The phase that the run was in when a match was printed."""
        phase = ""
        if match.block is not None:
            frames = [frame for exc in match.block.chain for frame in exc.frames]
            phase = phase_of_frames("\n".join(f"{one.function} {one.file}" for one in frames))
        # stacks of a hang tell the phase better than the last banner
        return phase or match.captures.get("phase", "") or self.progress.phase_at(match.line)[0]

    def closed(self) -> Closed:
        """Everything as if the log ended here: patterns over several lines, detectors, metrics,
        held samples. The collector itself stays as it is, so a growing log can be asked often."""
        events: list[Event] = [*self._elastic.finish(), *self._shell.finish()]
        events += self._collectives.finish(self.ranks)
        events += self._pauses.finish()
        end = max(1, self.total_lines)
        for fact in self.facts.values():
            place = (fact.line or end, fact.path or self.last_path)
            events.append(fact._replace(line=place[0], path=place[1]))
        events += self.samples.finish()
        matches = [match for event in events for match in self.matcher.event(event)]
        matches += self.matcher.finish()
        matches += metric_matches(self.base, self.metrics, self.path_of)
        matches += config_matches(self.base, self.settings, self.matcher.fits, self.last_path)
        incidents = self.incidents.copy()
        seen = self.seen_rules | {match.rule for match in matches}
        for match in sorted(matches, key=lambda match: match.line):
            self.matched(match)
            self._fold(match, set(), incidents)
        quoted = self._quoted
        for region, match, also, last_line in self._held:
            if region in self.samples.closed or last_line < self.end_of(match.path) - 3:
                quoted += 1
            else:
                # the sample never ended, and the log ends with this: the run died here
                self._fold(match, also, incidents)
        return Closed(incidents, seen, quoted)

    def path_of(self, number: int) -> str:
        """The source that holds a line."""
        return next((path for path, end in self._ends.items() if number <= end), self.last_path)
