"""A rule, as read from its file. docs/rules.md says what each key means."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from .. import lazy
from .words import Lang, Level, Role, Severity

_GROUP = lazy.compile(r"\(\?P<(\w+)>")


class Text(NamedTuple):
    """The same words in English and Chinese."""

    en: str
    zh: str = ""

    def get(self, lang: Lang) -> str:
        """The text in `lang`, or English where there is no Chinese."""
        return self.zh if lang == "zh" and self.zh else self.en


class Fix(NamedTuple):
    """Something to do: words, and where it can be pasted a command (`run`), a Hydra override
    (`set`) or Python for one's own code (`code`)."""

    text: Text
    run: str = ""
    set: str = ""
    code: str = ""
    risk: str = "low"
    verify: Text | None = None


class Hint(NamedTuple):
    """What moves a cause: a capture, the phase, another rule seen, a config value, a frame, or
    what a check has found on this machine."""

    effect: Literal["confirms", "supports", "weakens", "rules_out"]
    capture: str = ""
    config: str = ""
    matches: str = ""
    above: float | None = None
    below: float | None = None
    more_than: str = ""
    """Another capture, whose number the one of `capture` exceeds."""
    phase: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    frame: str = ""
    absent: bool = False
    """Holds where the message has no such capture, or no frame of the traceback is one."""
    check: str = ""
    state: str = "fault"
    """Of `check`: `fault`, or `ok` (all that it looked at was in order)."""


class Cause(NamedTuple):
    """One possible reason, its likelihood before the evidence, and its fixes, best first."""

    id: str
    text: Text
    likelihood: Level = "medium"
    evidence: tuple[Hint, ...] = ()
    fixes: tuple[Fix, ...] = ()


class Pattern(NamedTuple):
    """One alternative of a rule's `match`; which fields count depends on the rule's kind."""

    contains: tuple[str, ...] = ()
    regex: str = ""
    unless: tuple[str, ...] = ()
    where: str = "text"
    exception: tuple[str, ...] = ()
    message: str = ""
    frame: str = ""
    innermost: str = ""
    needs: str = ""
    """What every text holds in which `message` is found, as far as it can be told."""


class MatchSpec(NamedTuple):
    """How a rule recognises its fault."""

    kind: str
    patterns: tuple[Pattern, ...] = ()
    within_lines: int = 0
    same_worker: bool = True
    at_least: int = 1
    options: Mapping[str, Any] = MappingProxyType({})
    """Settings of `metric`, `silence`, `event`, `config` and `absent`."""

    def names(self) -> list[str]:
        """Names of all captures of all patterns."""
        texts = [
            text
            for one in self.patterns
            for text in (one.regex, one.message, one.frame, one.innermost)
        ]
        return _GROUP.findall("\n".join(texts))


class Reference(NamedTuple):
    url: str
    kind: str
    versions: str = ""
    checked: str = ""
    note: str = ""


class Example(NamedTuple):
    """Lines that a rule must match (`expect`: captures) or must not (`because`)."""

    log: str = ""
    file: str = ""
    origin: str = "synthetic"
    expect: Mapping[str, str] = MappingProxyType({})
    because: str = ""
    facts: Mapping[str, str] = MappingProxyType({})
    """Fields of an event of the rule's kind that comes from outside the log."""


class Rule(NamedTuple):
    """One piece of knowledge: signature -> causes -> fixes. See docs/rules.md for every key."""

    id: str
    slug: str
    status: str
    severity: Severity
    role: Role
    layer: str
    title: Text
    match: MatchSpec
    summary: Text
    causes: tuple[Cause, ...]
    impact: Text | None = None
    phase: tuple[str, ...] = ()
    scope: str = "exact"
    """`exact`, `family` (a whole class of messages) or `generic`: the more exact rule wins."""
    applies_to: Mapping[str, str] = MappingProxyType({})
    fingerprint: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    see_also: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    emitted_by: tuple[str, ...] = ()
    false_positives: tuple[Text, ...] = ()
    examples_match: tuple[Example, ...] = ()
    examples_no_match: tuple[Example, ...] = ()
    renamed_from: tuple[str, ...] = ()
    outcome: str = ""
    """What a run with this root has come to, where it is not `failed`."""
    path: str = ""
