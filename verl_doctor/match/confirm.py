"""Regular expressions of rules, run with a time limit so that a bad one can't hang the doctor."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..knowledge.literals import required

TIME_LIMIT_S = 0.1
"""For one search in one line. A shipped pattern needs microseconds."""

MAX_TEXT = 20_000
"""Characters of a text that are searched."""


@lru_cache(maxsize=2048)
def compiled(pattern: str) -> Any:
    """The compiled pattern. Errors: regex.error (rule files are checked when read)."""
    import regex  # 13 ms, and a healthy log may hold nothing to confirm

    return regex.compile(pattern)


class Confirmer:
    """Searches, and remembers which patterns ran out of time."""

    def __init__(self) -> None:
        self.slow: set[str] = set()

    def search(self, pattern: str, text: str) -> dict[str, str] | None:
        """Named captures where the pattern is found in the text (groups that took no part are
        left out), else None. A pattern that exceeds the limit is not tried again."""
        if pattern in self.slow:
            return None
        try:
            # keeps Python's lock: it takes microseconds, to get it back from the scan far longer
            found = compiled(pattern).search(
                text[:MAX_TEXT], timeout=TIME_LIMIT_S, concurrent=False
            )
        except TimeoutError:
            self.slow.add(pattern)
            return None
        if found is None:
            return None
        return {name: value for name, value in found.groupdict().items() if value is not None}

    def fits(
        self, value: str, matches: str = "", above: float | None = None, below: float | None = None
    ) -> bool:
        """Whether a setting or capture fits a pattern and bounds (None: no bound); a text that is
        no number is within no bounds."""
        if matches and (required(matches) not in value or self.search(matches, value) is None):
            return False
        if above is None and below is None:
            return True
        try:
            number = float(value)
        except ValueError:
            return False
        return (above is None or number > above) and (below is None or number < below)
