"""The overrides of a run, as the words of its command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_OVERRIDE = re.compile(r"(?P<mark>\+{1,2}|~)?(?P<key>[A-Za-z_][\w.@/:-]*)(?:=(?P<value>.*))?", re.S)
MODULE = re.compile(r"(?:verl|recipe)(?:\.\w+)+")
_FILE = re.compile(r"(?:^|/)(verl/(?:\w+/)*\w+)\.py$")
_VERLS_OWN = ("config", "")
"""Hydra reads `--config-path` from the folder of the entry point: this one is verl's."""
UNKNOWN = "\0"
"""Stands in a word for what only running a script would tell."""


@dataclass(frozen=True, slots=True)
class Override:
    """One Hydra override as it was given."""

    text: str
    mark: str
    """`+`, `++`, `~` or nothing."""
    key: str
    value: str | None
    """Its text behind `=`; None where only running the script would tell it."""


@dataclass(frozen=True, slots=True)
class Command:
    """A launch of verl."""

    module: str = ""
    """`verl.trainer.main_ppo`; empty where nothing names it."""
    config_name: str = ""
    own_config: bool = False
    """It brings a config folder of its own (`--config-path`)."""
    overrides: tuple[Override, ...] = ()
    unread: tuple[str, ...] = ()
    """Words of the command that only running the script would tell."""
    cut: tuple[str, ...] = ()
    """Lines of the script, with their numbers, at which the command ends too early."""


def command(words: Sequence[str]) -> Command:
    """The launch in the words of a command line: `python3 -m verl.trainer.main_ppo a.b=1 …`, or the
    overrides alone. Words that mean nothing to Hydra are left out."""
    module, name, own, start = "", "", False, 0
    found: list[Override] = []
    unread = []
    for place, word in enumerate(words):
        file = _FILE.search(word)
        if MODULE.fullmatch(word) or file:
            module, start = file[1].replace("/", ".") if file else word, place + 1
            break
    rest = iter(words[start:])
    for word in rest:
        option, _, value = word.partition("=")
        if option in ("--config-name", "-cn"):
            name = (value or next(rest, "")).removesuffix(".yaml")
        elif option in ("--config-path", "-cp", "--config-dir", "-cd"):
            own = (value or next(rest, "")).removeprefix("./").rstrip("/") not in _VERLS_OWN
        elif word.startswith("-"):
            continue
        elif (one := override(word)) is not None:
            found.append(one)
        elif UNKNOWN in word:
            unread.append(shown(word))
    return Command(module, name, own, tuple(found), tuple(unread))


def override(word: str) -> Override | None:
    """Takes one word of a command line; None if it is no override."""
    found = _OVERRIDE.fullmatch(word)
    if found is None or (found["value"] is None and found["mark"] != "~"):
        return None
    value = found["value"]
    if value is not None and UNKNOWN in value:
        value = None
    return Override(shown(word), found["mark"] or "", found["key"], value)


def shown(word: str) -> str:
    """A word as the script has it, as far as it is known."""
    return word.replace(UNKNOWN, "$")
