"""Config keys of verl releases, kept as data (`scripts/refresh_verl_keys.py` writes them)."""

from __future__ import annotations

import difflib
import re
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data" / "verl_keys"
_ITEM = re.compile(r"(?:^|\s)(?P<mark>\+{0,2}|~)(?P<key>[a-z_][\w.]*)=")


@cache
def releases() -> dict[str, frozenset[str]]:
    """Release -> its keys, oldest release first."""

    def order(path: Path) -> list[int]:
        return [int(part) for part in path.stem.split(".")]

    return {
        path.stem: frozenset(path.read_text(encoding="utf-8").split())
        for path in sorted(DATA.glob("*.txt"), key=order)
    }


def newest() -> str:
    """The newest release whose keys are known."""
    return list(releases())[-1]


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
            elif not any(key[: i.start()] in keys for i in re.finditer(r"\.", key)):
                wrong.append(f"+{key} is added to nothing that verl {newest()} has")
            continue
        if key not in keys and mark != "++":
            since = [name for name, known in releases().items() if key in known]
            close = difflib.get_close_matches(key, keys, n=1, cutoff=0.8)
            hint = f"; only in {', '.join(since)}" if since else ""
            hint += f"; did you mean {close[0]}?" if close else ""
            wrong.append(f"{key} is no key of verl {newest()}{hint}")
    return wrong
