"""Lines, exceptions and events against the rules that the scan proposes for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from ..knowledge.base import RuleBase
from ..model import Block, Event, Line, Match, Pattern, Worker
from .confirm import MAX_TEXT, Confirmer

MAX_KNOWN = 1_000
MAX_PARTS = 2_000
"""Lines kept for the rules that need several: enough to join them, flat in memory."""

SEARCHED_BEFORE = 2_000
"""Characters before a text that proposes a rule in which the rule's other texts may stand; of a
line longer than MAX_TEXT the rest is not searched."""
MAX_SHOWN = 600
"""Characters of a line that a match keeps, as many as its evidence shows."""
SHOWN_BEFORE = 60
"""Those before the text that proposed the rule, if the line is longer: a title shows it."""


class Matcher:
    """Holds what wider patterns (sequence, count, absent) have seen so far."""

    def __init__(self, base: RuleBase) -> None:
        self._base = base
        self._confirm = Confirmer()
        self._parts: dict[str, list[tuple[int, Match]]] = defaultdict(list)
        self._known: dict[tuple[object, ...], list[tuple[str, int, dict[str, str]]]] = {}
        """What held on exceptions seen before: a storm repeats a few of them."""
        self._last: dict[str, int] = {}
        """Last line of each text that an `absent` rule waits for."""

    @property
    def slow(self) -> set[str]:
        """Patterns that were stopped by their time limit."""
        return self._confirm.slow

    @property
    def fits(self) -> Callable[..., bool]:
        """See `Confirmer.fits`."""
        return self._confirm.fits

    def line(self, line: Line, literals: Iterable[int], in_source: bool = False) -> list[Match]:
        """Matches of the rules that these literals (indexes into `base.literals`) propose.

        `in_source`: the line is a traceback's frame or source line, where only patterns with
        `where: source` look.
        """
        found: list[Match] = []
        for literal in literals:
            proposed = self._base.literals[literal]
            if literal in self._base.awaited:
                self._last[proposed] = line.number
            for rule_id, index in self._base.uses[literal]:
                spec = self._base.spec(rule_id)
                pattern = spec.patterns[index]
                if in_source and pattern.where != "source":
                    continue
                text = _around(line.text, proposed, SEARCHED_BEFORE, MAX_TEXT)
                captures = self._holds(pattern, text)
                if captures is None:
                    continue
                match = Match(
                    rule_id,
                    line.path,
                    line.number,
                    _around(line.text, proposed, SHOWN_BEFORE, MAX_SHOWN),
                    captures,
                    line.worker,
                    repeated=line.repeated,
                    time=line.time,
                    pattern=index,
                )
                if spec.kind == "line":
                    found.append(match)
                elif len(self._parts[rule_id]) < MAX_PARTS:
                    self._parts[rule_id].append((index, match))
        return found

    def _holds(self, pattern: Pattern, text: str) -> dict[str, str] | None:
        if not all(part in text for part in pattern.contains):
            return None
        if any(part in text for part in pattern.unless):
            return None
        return self._confirm.search(pattern.regex, text) if pattern.regex else {}

    def exception(self, block: Block, index: int) -> list[Match]:
        """Matches of traceback rules on one exception of a block's chain."""
        exc = block.chain[index]
        name = exc.name
        inner = ""
        if name.startswith("RayTaskError(") and name.endswith(")"):
            inner = name[13:-1].rpartition(".")[2]
            name = "RayTaskError"
        names = (name, inner, "*") if inner else (name, "*")
        frames = tuple((frame.file, frame.function, frame.source) for frame in exc.frames)
        key = (exc.type, exc.message, frames)
        held = self._known.get(key)
        if held is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            held = self._known[key] = self._holding(names, block, index)
        return [at_exception(block, index, *one) for one in held]

    def _holding(
        self, names: tuple[str, ...], block: Block, index: int
    ) -> list[tuple[str, int, dict[str, str]]]:
        """(rule, alternative, captures) of the traceback rules that hold on an exception."""
        held: dict[str, tuple[str, int, dict[str, str]]] = {}
        for name in names:
            for rule_id, number in self._base.by_exception.get(name, ()):
                if rule_id in held:
                    continue
                pattern = self._base.spec(rule_id).patterns[number]
                captures = self._fits(pattern, block, index)
                if captures is not None:
                    held[rule_id] = rule_id, number, captures
        return list(held.values())

    def _fits(self, pattern: Pattern, block: Block, index: int) -> dict[str, str] | None:
        exc = block.chain[index]
        captures: dict[str, str] = {}
        if pattern.needs not in exc.message:
            return None
        if any(part in exc.message for part in pattern.unless):
            return None
        if pattern.message:
            found = self._confirm.search(pattern.message, exc.message)
            if found is None:
                return None
            captures.update(found)
        if pattern.frame:
            frames = "\n".join(f"{frame.file}:{frame.function}" for frame in exc.frames)
            found = self._confirm.search(pattern.frame, frames)
            if found is None:
                return None
            captures.update(found)
        if pattern.innermost:
            last = exc.frames[-1] if exc.frames else None
            text = f"{last.file}:{last.function} {last.source}" if last else ""
            found = self._confirm.search(pattern.innermost, text)
            if found is None:
                return None
            captures.update(found)
        return captures

    def event(self, event: Event) -> list[Match]:
        """Matches of event rules; the event's fields are the captures."""
        found = []
        for rule_id in self._base.by_kind.get("event", ()):
            options = self._base.spec(rule_id).options
            if options["kind"] != event.kind:
                continue
            where = options.get("where", {})
            if all(
                self._confirm.search(pattern, event.fields.get(name, "")) is not None
                for name, pattern in where.items()
            ):
                found.append(
                    Match(
                        rule_id,
                        event.path,
                        event.line,
                        event.text,
                        dict(event.fields),
                        event.worker,
                        lines=event.lines,
                    )
                )
        return found

    def finish(self) -> list[Match]:
        """Matches of the rules that need several lines, now that the log has ended."""
        found: list[Match] = []
        for rule_id, parts in self._parts.items():
            spec = self._base.spec(rule_id)
            if spec.kind == "count":
                found += _count([match for _, match in parts], spec.at_least, spec.same_worker)
            elif spec.kind == "absent":
                last = parts[-1][1]
                texts = spec.options["missing"]
                if all(self._last.get(text, 0) <= last.line for text in texts):
                    found.append(last)
            elif spec.kind == "sequence":
                found += _sequence(parts, len(spec.patterns), spec.within_lines, spec.same_worker)
        return found


def _around(text: str, part: str, before: int, limit: int) -> str:
    """What stands around a part of a text that is longer than `limit` characters: no more than
    `before` of them before the part's first place."""
    if len(text) <= limit:
        return text
    start = max(0, text.find(part) - before)
    return text[start : start + limit]


def at_exception(
    block: Block,
    index: int,
    rule_id: str = "",
    pattern: int = 0,
    captures: Mapping[str, str] | None = None,
) -> Match:
    """A match at an exception of a block's chain; of no rule if none is named."""
    exc = block.chain[index]
    return Match(
        rule_id,
        block.path,
        exc.line,
        f"{exc.type}: {exc.message}" if exc.message else exc.type,
        captures or {},
        block.worker,
        block,
        index,
        repeated=block.repeated,
        time=block.time,
        pattern=pattern,
    )


def _count(matches: list[Match], at_least: int, same_worker: bool) -> list[Match]:
    """All matches, once there are enough of them: in the run, or by one worker.

    Ray folds the repeats of all workers into one line: of one worker that is one more.
    """
    if same_worker:
        enough = max(Counter(match.worker for match in matches).values()) >= at_least
    else:
        enough = sum(match.repeated for match in matches) >= at_least
    return matches if enough else []


def _sequence(
    parts: list[tuple[int, Match]], length: int, within: int, same_worker: bool
) -> list[Match]:
    """First lines of runs that hold all patterns in order, near enough, by one worker if asked."""
    found = []
    progress: dict[Worker, list[Match]] = {}
    for index, match in sorted(parts, key=lambda part: (part[1].line, part[0])):
        key = match.worker if same_worker else Worker()
        run = progress.get(key, [])
        if run and within and match.line - run[0].line > within:
            run = []
        if index == len(run):
            run = [*run, match]
        elif index == 0:
            run = [match]
        if len(run) == length:
            captures = {name: text for part in run for name, text in part.captures.items()}
            first = run[0]
            found.append(
                Match(
                    first.rule,
                    first.path,
                    first.line,
                    first.text,
                    captures,
                    first.worker,
                    repeated=first.repeated,
                    time=first.time,
                    lines=tuple(part.line for part in run[1:]),
                )
            )
            run = []
        progress[key] = run
    return found
