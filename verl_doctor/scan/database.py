"""The compiled scanner: one hyperscan database over the engine's anchors and the rules' texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import hyperscan

from .anchors import ANCHORS, FIRST_RULE


def expressions(
    literals: Sequence[str], extra: dict[int, str] | None = None
) -> list[tuple[int, str]]:
    """(id, expression) of everything to look for: anchors first, then each literal in order."""
    found = [(number, text) for number, text in {**ANCHORS, **(extra or {})}.items()]
    found += [(FIRST_RULE + i, re.escape(text)) for i, text in enumerate(literals)]
    return found


class Scanner:
    """Runs the database over chunks. One Scanner serves one thread: it owns its scratch space."""

    def __init__(self, database: Any) -> None:
        self._database = database

    @classmethod
    def compile(cls, literals: Sequence[str], extra: dict[int, str] | None = None) -> Scanner:
        """Compiles a scanner; about 20 ms for 250 rules, so the result is worth caching."""
        wanted = expressions(literals, extra)
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        database.compile(
            expressions=[text.encode() for _, text in wanted],
            ids=[number for number, _ in wanted],
            elements=len(wanted),
            flags=hyperscan.HS_FLAG_MULTILINE,
        )
        return cls(database)

    @classmethod
    def load(cls, data: bytes) -> Scanner:
        """A scanner from `dump`'s bytes. Errors: hyperscan.error for bytes of another version."""
        database = hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK)
        database.scratch = hyperscan.Scratch(database)
        return cls(database)

    def dump(self) -> bytes:
        """The compiled database as bytes, for the cache."""
        return bytes(hyperscan.dumpb(self._database))

    def scan(self, chunk: bytes) -> list[tuple[int, int]]:
        """Every hit in the chunk as (end offset, id), in order of end offset."""
        hits: list[tuple[int, int]] = []
        append = hits.append

        def on_match(number: int, start: int, end: int, flags: int, context: Any) -> None:
            append((end, number))

        self._database.scan(chunk, match_event_handler=on_match)
        return hits
