"""The configuration of verl releases: keys and defaults, kept as data.

`scripts/refresh_verl_config.py` writes the data from the releases' own wheels.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .. import lazy

DATA = Path(__file__).resolve().parent.parent / "data" / "verl_config"
SCORERS = DATA.parent / "verl_scorers.json"
_ITEM = lazy.compile(r"(?:^|\s)(?P<mark>\+{0,2}|~)(?P<key>[a-z_][\w.]*)=")


@cache
def names() -> tuple[str, ...]:
    """The releases whose configuration is known, oldest first."""
    found = (path.stem for path in DATA.glob("*.json"))
    return tuple(sorted(found, key=lambda name: [int(part) for part in name.split(".")]))


@cache
def configs(release: str) -> dict[str, Any]:
    """The composed configs of a release, by name (`ppo_trainer`, `ppo_megatron_trainer`, …).

    Takes one of `names()`. Interpolations (`${data.max_prompt_length}`) stand as they are written.
    """
    read: dict[str, Any] = json.loads((DATA / f"{release}.json").read_text(encoding="utf-8"))
    return read


@cache
def releases() -> dict[str, frozenset[str]]:
    """Release -> the keys of all its configs, inner ones too, oldest release first: an override
    may replace a whole mapping."""
    return {
        name: frozenset(key for config in configs(name).values() for key in dotted(config))
        for name in names()
    }


def dotted(config: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The dotted names of all nodes of a config."""
    for name, value in config.items():
        yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from dotted(value, f"{prefix}{name}.")


@cache
def _scorers() -> dict[str, dict[str, list[str]]]:
    read: dict[str, dict[str, list[str]]] = json.loads(SCORERS.read_text(encoding="utf-8"))
    return read


def scores(release: str, source: str) -> bool:
    """Whether the release's own reward function has a scorer for a `data_source`."""
    known = _scorers()[release]
    return source in known["equal"] or source.startswith(tuple(known["startswith"]))


def newest() -> str:
    """The newest release whose keys are known."""
    return names()[-1]


def unknown_overrides(text: str) -> list[str]:
    """What is wrong with the overrides in a text, a message each.

    Takes Hydra overrides as they are pasted, separated by blanks. A key must exist in the newest
    release; with `+` it must not exist there, and what it is added to must.
    """
    keys = releases()[newest()]
    wrong = []
    for found in _ITEM.finditer(text):
        mark, key = found["mark"], found["key"]
        if mark == "+":
            if key in keys:
                wrong.append(f"+{key} is a key of verl {newest()}: without the +")
            elif not _has_place(key, keys):
                wrong.append(f"+{key} is added to nothing that verl {newest()} has")
            continue
        if key not in keys and mark != "++":
            since = [name for name, known in releases().items() if key in known]
            close = difflib.get_close_matches(key, keys, n=1, cutoff=0.8)
            hint = f"; only in {', '.join(since)}" if since else ""
            hint += f"; did you mean {close[0]}?" if close else ""
            wrong.append(f"{key} is no key of verl {newest()}{hint}")
    return wrong


def refused_by(overrides: str) -> list[str]:
    """The releases in which Hydra refuses one of these overrides, oldest first.

    A plain key must exist there, one with `+` must not (what it is added to must); `++` is taken
    by all.
    """
    return [name for name, keys in releases().items() if not _taken(overrides, keys)]


def _taken(overrides: str, keys: frozenset[str]) -> bool:
    for found in _ITEM.finditer(overrides):
        mark, key = found["mark"], found["key"]
        added = key not in keys and _has_place(key, keys)
        if mark != "++" and not (added if mark == "+" else key in keys):
            return False
    return True


def _has_place(key: str, keys: frozenset[str]) -> bool:
    """Whether a mapping is among the keys that a dotted key can be added to."""
    return any(key[: i.start()] in keys for i in re.finditer(r"\.", key))
