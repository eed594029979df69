"""Titles in the reader's language: those on record are in that of whoever diagnosed the run."""

from __future__ import annotations

from ...errors import RuleError
from ...model import Lang
from ...store import Incident


def retitled(incidents: tuple[Incident, ...], lang: Lang) -> tuple[Incident, ...]:
    """The incidents with the titles that their rules give them now.

    Takes the incidents and the language. One whose rule is gone, or asks for a value that was not
    recorded, keeps its title.
    """
    ids = {one.rule for one in incidents if one.rule}
    if not ids:
        return incidents
    from ...diagnose.explain import title_in
    from ...knowledge.load import read_named, rule_folders

    try:
        rules = read_named(ids, rule_folders())
    except RuleError:
        return incidents

    def title(one: Incident) -> str:
        rule = rules.get(one.rule or "")
        return (rule and title_in(rule, one.captures, lang)) or one.title

    return tuple(one._replace(title=title(one)) for one in incidents)
