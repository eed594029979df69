"""What the rules do not cover: no genuine example, patterns without an example, unknown errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..diagnose.collect import Collector
from ..diagnose.incidents import template
from ..knowledge.base import RuleBase
from ..logs.reader import Reader
from ..logs.text import visible
from ..model import Rule
from ..scan.database import Scanner
from ..sources import Source, chunks
from .proof import Prover, example_bytes


@dataclass(frozen=True, slots=True)
class Unknown:
    """A group of error lines of the same shape that no rule explains."""

    template: str
    count: int
    path: str
    line: int
    text: str


def without_genuine(rules: Iterable[Rule]) -> list[Rule]:
    """Rules with no match example out of a genuine log."""
    return [
        rule
        for rule in rules
        if not any(example.origin == "genuine" for example in rule.examples_match)
    ]


def unused_patterns(base: RuleBase, rules: Iterable[Rule]) -> list[tuple[Rule, int]]:
    """Alternatives of a rule's match, by index, that none of its examples needs."""
    prover = Prover(base)
    unused = []
    for rule in rules:
        if len(rule.match.patterns) < 2 or rule.match.kind not in ("line", "traceback"):
            continue
        used: set[int] = set()
        for example in rule.examples_match:
            log = example_bytes(example)
            if log is not None:
                used |= {one.pattern for one in prover.matches(log) if one.rule == rule.id}
        unused += [(rule, i) for i in range(len(rule.match.patterns)) if i not in used]
    return unused


def unknown_errors(
    sources: Sequence[Source], base: RuleBase, scanner: Scanner
) -> tuple[list[Unknown], int]:
    """Errors in logs that no rule explains, most frequent shape first, and how many logs were read.

    Takes sources as `sources.expand` gives them; each is diagnosed as a run of its own.
    """
    counts: Counter[str] = Counter()
    first: dict[str, Unknown] = {}

    def add(path: str, line: int, text: str, times: int) -> None:
        head = text.partition("\n")[0]
        shape = template(head, 160)
        counts[shape] += times
        first.setdefault(shape, Unknown(shape, 0, path, line, visible(head, 160)))

    for source in sources:
        collector = Collector(base)
        reader = Reader(scanner, source.path)
        collector.read(reader, chunks(source))
        for incident in collector.closed().incidents.by_key.values():
            if incident.rule is None:
                one = incident.first
                add(one.path, one.line, one.text, incident.count)
        for line, times in collector.error_lines:
            add(line.path, line.line, line.text, times)
    groups = [
        Unknown(shape, count, first[shape].path, first[shape].line, first[shape].text)
        for shape, count in counts.most_common()
    ]
    return groups, len(sources)
