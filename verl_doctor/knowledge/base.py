"""The rule base as the engine uses it: texts to scan for, indexes, and rules built on demand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..model import MatchSpec, Rule
from .build import PATTERN_KINDS, build_match, build_rule

HEAD = ("match", "missing", "within", "same", "at_least")
"""The keys of a rule that say how it matches: what `build_match` looks at."""


class RuleBase:
    """Rules as plain data (`read_rule`), indexed for matching.

    Building a Rule costs more than reading its `match`, and a log meets a handful of rules: a
    Rule is built when it is first asked for.
    """

    def __init__(
        self,
        plains: Mapping[str, Mapping[str, Any]],
        notes: Sequence[str] = (),
        heads: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Takes the rules by id, notes, and the HEAD of each rule where `plains` would have to
        parse a whole rule to tell it."""
        self.plains = plains
        self._heads = plains if heads is None else heads
        self.notes = tuple(notes)
        """What a user should know of the rules: which shipped ones a folder of theirs replaced."""
        self._rules: dict[str, Rule] = {}
        self._specs: dict[str, MatchSpec] = {}
        self.literals: list[str] = []
        self.uses: list[list[tuple[str, int]]] = []
        """For each literal, the (rule id, pattern index) that it proposes."""
        self.awaited: set[int] = set()
        """Literals whose absence an `absent` rule looks for."""
        self.counted: set[int] = set()
        """Literals of which every hit counts: those of rules over several lines."""
        self.by_exception: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self.by_kind: dict[str, list[str]] = defaultdict(list)
        self._explains: dict[str, frozenset[str]] = {}
        self._index()

    def _index(self) -> None:
        numbers: dict[str, int] = {}
        for rule_id, plain in self._heads.items():
            kind, value = next(iter(plain["match"].items()))
            self.by_kind[kind].append(rule_id)
            if kind not in PATTERN_KINDS:
                continue
            for i, pattern in enumerate(value):
                if kind == "traceback":
                    for name in pattern["exception"]:
                        self.by_exception[name].append((rule_id, i))
                    continue
                literal = self._number(max(pattern["contains"], key=len), numbers)
                self.uses[literal].append((rule_id, i))
                if kind != "line":
                    self.counted.add(literal)
            self.awaited.update(self._number(text, numbers) for text in plain.get("missing", ()))
        self.counted |= self.awaited

    def _number(self, literal: str, numbers: dict[str, int]) -> int:
        number = numbers.get(literal)
        if number is None:
            number = numbers[literal] = len(self.literals)
            self.literals.append(literal)
            self.uses.append([])
        return number

    def __len__(self) -> int:
        return len(self.plains)

    def __contains__(self, rule_id: str) -> bool:
        return rule_id in self.plains

    def rule(self, rule_id: str) -> Rule:
        """The rule of that id. Errors: KeyError."""
        rule = self._rules.get(rule_id)
        if rule is None:
            rule = self._rules[rule_id] = build_rule(self.plains[rule_id])
        return rule

    def spec(self, rule_id: str) -> MatchSpec:
        """How the rule matches, without building its texts. Errors: KeyError."""
        spec = self._specs.get(rule_id)
        if spec is None:
            spec = self._specs[rule_id] = build_match(self._heads[rule_id])
        return spec

    def find(self, word: str) -> Rule | None:
        """The rule with this id, slug or former name (ids in any case); None if there is none."""
        wanted = word.strip()
        if wanted.upper() in self.plains:
            return self.rule(wanted.upper())
        for rule_id, plain in self.plains.items():
            if plain["slug"] == wanted.lower() or wanted in plain.get("renamed_from", ()):
                return self.rule(rule_id)
        return None

    def explained_by(self, rule_id: str) -> frozenset[str]:
        """Every rule that this one says it causes, directly or through another."""
        known = self._explains.get(rule_id)
        if known is None:
            seen: set[str] = set()
            todo = [rule_id]
            while todo:
                plain = self.plains.get(todo.pop(), {})
                for other in plain.get("relations", {}).get("explains", ()):
                    if other not in seen and other != rule_id:
                        seen.add(other)
                        todo.append(other)
            known = self._explains[rule_id] = frozenset(seen)
        return known


def by_id(plains: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Plain rules under their ids, as `RuleBase` takes them."""
    return {plain["id"]: plain for plain in plains}
