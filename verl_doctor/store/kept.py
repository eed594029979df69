"""Text in the form in which it is kept: masked, of limited length, valid Unicode."""

from __future__ import annotations

from ..logs.mask import mask

MAX_TEXT = 4000
"""Characters kept of one text; a cut keeps head and tail, the cause may stand at either end."""


def utf8(text: str) -> str:
    """Text that SQLite takes: what stood for undecodable bytes becomes a visible escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def kept(text: str) -> str:
    """Masked, then cut: the other way round, a cut could hide a secret from the masker."""
    text = utf8(mask(text))
    if len(text) <= MAX_TEXT:
        return text
    tail = MAX_TEXT // 3
    return f"{text[: MAX_TEXT - tail - 3]} … {text[-tail:]}"
