"""A text that a regular expression can't match without: a cheap look before the search."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from typing import Any

_OLD = sys.version_info < (3, 11)
parser: Any = importlib.import_module("sre_parse" if _OLD else "re._parser")
constants: Any = importlib.import_module("sre_constants" if _OLD else "re._constants")


@lru_cache(maxsize=4096)
def required(pattern: str) -> str:
    """The longest plain text that every match of the pattern holds, '' where none can be told.

    Takes a pattern in Python's syntax; what only the `regex` library knows gives ''.
    """
    if pattern.startswith("(?i"):
        return ""
    try:
        runs = _runs(parser.parse(pattern))
    except Exception:  # syntax of the other library, or a parser that has changed
        return ""
    return max(runs, key=len, default="")


def _runs(parsed: Any) -> list[str]:
    """Runs of literals in the order of a concatenation; whatever may be left out ends a run."""
    runs, current = [], ""
    for kind, value in parsed:
        if kind is constants.LITERAL:
            current += chr(value)
            continue
        inner: list[str] = []
        if kind is constants.SUBPATTERN and not value[1] and not value[2]:
            inner = _runs(value[3])
            if len(inner) == 1 and all(item[0] is constants.LITERAL for item in value[3]):
                current += inner[0]
                continue
        elif kind is constants.MAX_REPEAT and value[0] >= 1:
            inner = _runs(value[2])
        runs += [current, *inner]
        current = ""
    return [run for run in (*runs, current) if run]
