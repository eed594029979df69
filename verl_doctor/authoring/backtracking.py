"""Finds regular expressions that can take very long on a hostile line.

No proof: each pattern runs over long texts made of its own literals, under a time limit. What
survives these has, so far, survived every log.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from ..match.confirm import compiled

LENGTH = 20_000
LIMIT_S = 0.25
_LITERAL = re.compile(r"[A-Za-z0-9 _/:'.,=-]{3,}")


def hostile_texts(pattern: str) -> Iterator[str]:
    """Long texts that a pattern of nested or adjacent repeats would stumble over."""
    plain = re.sub(r"\\(.)", lambda found: found[1] if not found[1].isalnum() else " ", pattern)
    pieces = sorted(_LITERAL.findall(plain), key=len, reverse=True)[:3]
    letters = list(dict.fromkeys(re.findall(r"[A-Za-z0-9]", plain)))[:4]
    for unit in (*letters, "a", " ", "0", "x=", "a.b/", "'a' ", "\n", "[({", *pieces):
        yield (unit * (LENGTH // len(unit) + 1))[:LENGTH]
    for piece in pieces:
        for filler in ("a", " ", "1", "'", ".a"):
            yield (piece + filler * (LENGTH // len(filler)))[:LENGTH]


def too_slow(pattern: str) -> float | None:
    """Seconds that the pattern needs on the worst text if that exceeds the limit, else None."""
    regex = compiled(pattern)
    for text in hostile_texts(pattern):
        start = time.perf_counter()
        try:
            regex.search(text, timeout=LIMIT_S)
        except TimeoutError:
            return time.perf_counter() - start
    return None
