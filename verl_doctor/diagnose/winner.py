"""Which rule speaks for a line or a traceback, where several hold."""

from __future__ import annotations

from collections.abc import Iterable

from ..knowledge.base import RuleBase
from ..match.matcher import Matcher, at_exception
from ..model import Block, Match
from .incidents import UNKNOWN_WEIGHT, weight

LOOKUPS = ("KeyError", "AttributeError", "IndexError", "StopIteration", "LookupError")
"""Exceptions that Python programs catch as a way of asking."""


class Winner:
    """Weighs rules by role and scope, after what replaces what has been settled."""

    def __init__(self, base: RuleBase, matcher: Matcher) -> None:
        self._base = base
        self._matcher = matcher

    def of_line(self, matches: list[Match]) -> tuple[Match, set[str]]:
        """The match that speaks for a line, and the other rules that hold on it."""
        rules = {match.rule for match in matches}
        left = [match for match in matches if match.rule not in self._replaced(rules)]
        best = min(left or matches, key=self._weight)
        return best, rules - {best.rule}

    def of_block(self, block: Block, within: list[Match]) -> tuple[Match, set[str], list[Match]]:
        """What a traceback is about: the most telling rule, the earliest exception on a tie.

        Takes the traceback and the matches of line rules within its lines. Returns the match
        (of no rule if an exception that none knows tells most), the other rules that hold in it,
        and every match.
        """
        placed = self._placed(block, within)
        every: list[Match] = []
        held: list[tuple[int, Match]] = []
        for i in range(len(block.chain)):
            lines = [match for match in placed if match.exc == i]
            known = {match.rule for match in lines}
            found = lines + [
                match for match in self._matcher.exception(block, i) if match.rule not in known
            ]
            every += found
            held += [(i, match) for match in found] or [(i, at_exception(block, i))]
        rules = {match.rule for match in every}
        replaced = self._replaced(rules)
        left = [one for one in held if one[1].rule not in replaced] or held
        _, best = min(left, key=lambda one: (self._weight(one[1]) + _asked(block, one[0]), one[0]))
        return _first_printing(best, block), rules - {best.rule} - replaced, every

    def _placed(self, block: Block, within: list[Match]) -> list[Match]:
        """The matches of line rules at the exception whose message they lie in; beside the
        messages only rules that look at source lines count."""
        placed = []
        for match in within:
            for i, exc in enumerate(block.chain):
                if exc.line <= match.line <= exc.last_line:
                    placed.append(match._replace(block=block, exc=i))
                    break
            else:
                if any(one.where == "source" for one in self._base.spec(match.rule).patterns):
                    placed.append(match._replace(block=block, exc=len(block.chain) - 1))
        return placed

    def _weight(self, match: Match) -> float:
        if not match.rule:
            return UNKNOWN_WEIGHT
        rule = self._base.rule(match.rule)
        return weight(rule.role, rule.scope)

    def _replaced(self, rules: Iterable[str]) -> set[str]:
        """Those of the rules that another of them says it replaces."""
        ids = set(rules)
        return {other for rule in ids for other in self._base.rule(rule).supersedes if other in ids}


def _asked(block: Block, index: int) -> float:
    """A failed look-up in whose handler another error was raised was only a question."""
    nexts = block.chain[index + 1 : index + 2]
    name = block.chain[index].name
    handled = bool(nexts) and nexts[0].in_handler and nexts[0].name != name
    return 1.5 if handled and name in LOOKUPS else 0.0


def _first_printing(match: Match, block: Block) -> Match:
    """The match, moved to an earlier exception of the chain that says the same in fewer words.

    `KeyError: 'prompts'` and, raised from it, `KeyError: key "prompts" not found in TensorDict…`.
    """
    if match.exc is None:
        return match
    own = block.chain[match.exc]
    for exc in block.chain[: match.exc]:
        said = exc.message.strip("'\" \n")
        if exc.name == own.name and said and said in own.message:
            return match._replace(line=exc.line)
    return match
