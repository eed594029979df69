"""A rule on its own examples, through the real pipeline: what `rules test` and the tests run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..diagnose.collect import Collector
from ..diagnose.report import silence
from ..knowledge.base import RuleBase
from ..knowledge.load import shipped_rules
from ..logs.reader import Reader
from ..model import Event, Example, Match, Rule
from ..scan.database import Scanner


@dataclass(frozen=True, slots=True)
class Outcome:
    """One example that did not behave."""

    rule: str
    path: str
    example: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.rule} {self.example}: {self.message}"


def fixtures() -> Path:
    """The folder of genuine logs, beside the rules in a checkout."""
    return shipped_rules().parent / "fixtures_logs"


def example_bytes(example: Example) -> bytes | None:
    """The log of an example, None if its file is not there (a wheel carries no fixtures)."""
    if example.log:
        return example.log.encode()
    path = fixtures() / example.file
    try:
        return path.read_bytes()
    except OSError:
        return None


def _fact(rule: Rule, example: Example) -> Event | None:
    """The event that an example brings along, None if it has none."""
    if not example.facts:
        return None
    kind = rule.match.options["kind"]
    return Event(kind, 1, example.facts.get("frame", ""), example.facts, "example")


class Prover:
    """Runs logs through scanner, reader and collector and keeps every match of every rule."""

    def __init__(self, base: RuleBase, scanner: Scanner | None = None) -> None:
        self._base = base
        self._scanner = scanner or Scanner.compile(base.literals)

    def matches(self, log: bytes, fact: Event | None = None) -> list[Match]:
        """Every match of every rule, before anything is chosen, folded or demoted.

        Takes a log, and an event that came from elsewhere, if there is one.
        """
        found: list[Match] = []

        class Spy(Collector):
            def matched(self, match: Match) -> None:
                found.append(match)

        collector = Spy(self._base)
        reader = Reader(self._scanner, "example")
        if fact is not None:
            collector.facts["example"] = fact
        collector.read(reader, [log])
        collector.closed()
        quiet = silence(collector, reader.tail.decode("utf-8", "replace"))
        if quiet is not None and not collector.progress.finished:
            found.append(quiet)
        return found

    def prove(self, rule: Rule) -> list[Outcome]:
        """What is wrong with the rule's examples; an empty list is good."""
        wrong = []
        for i, example in enumerate(rule.examples_match, 1):
            wrong += self._positive(rule, example, f"match example {i}")
        for i, example in enumerate(rule.examples_no_match, 1):
            log = example_bytes(example)
            if log is None:
                continue
            matches = self.matches(log, _fact(rule, example))
            hits = [match for match in matches if match.rule == rule.id]
            if hits:
                where = f"line {hits[0].line}: {hits[0].text[:120]!r}"
                wrong.append(
                    Outcome(rule.id, rule.path, f"no_match example {i}", f"matches at {where}")
                )
        return wrong

    def _positive(self, rule: Rule, example: Example, name: str) -> list[Outcome]:
        log = example_bytes(example)
        if log is None:
            return [Outcome(rule.id, rule.path, name, f"file {example.file} is not there")]
        matches = self.matches(log, _fact(rule, example))
        hits = [match for match in matches if match.rule == rule.id]
        if not hits:
            return [Outcome(rule.id, rule.path, name, self._why_not(rule, log, matches))]
        wrong = []
        for key, want in example.expect.items():
            values = [match.captures.get(key) for match in hits]
            if not any(value is not None and want in value for value in values):
                wrong.append(
                    Outcome(
                        rule.id,
                        rule.path,
                        name,
                        f"capture {key} is {values[0]!r}, without {want!r}",
                    )
                )
        return wrong

    def _why_not(self, rule: Rule, log: bytes, matches: Iterable[Match]) -> str:
        """Why the rule did not fire, as far as it can be told."""
        text = log.decode("utf-8", "replace")
        spec = rule.match
        for pattern in spec.patterns:
            missing = [part for part in pattern.contains if part not in text]
            if missing:
                return f"the text {missing[0]!r} is not in the example"
            vetoes = [part for part in pattern.unless if part in text]
            if vetoes:
                return f"`unless` text {vetoes[0]!r} is in the example"
            if pattern.exception and not any(
                name == "*" or name in text for name in pattern.exception
            ):
                return f"no exception {'/'.join(pattern.exception)} in the example"
            if pattern.contains and pattern.regex:
                return f"the regex does not fit the line (prefixes are peeled): {pattern.regex}"
            if pattern.message:
                return f"the regex does not fit the exception's message: {pattern.message}"
        others = sorted({match.rule for match in matches})
        return f"nothing fits; other rules that matched: {', '.join(others) or 'none'}"


def prove_all(base: RuleBase, rules: Sequence[Rule]) -> list[Outcome]:
    """Every failing example of these rules."""
    prover = Prover(base)
    return [outcome for rule in rules for outcome in prover.prove(rule)]
