"""Where a line of text may be broken: at spaces, and between Chinese characters.

rich and Textual break at spaces alone, so a Chinese sentence, which has none, begins on a line of
its own and leaves the one before it half empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, chop_cells
from rich.text import Text

from .. import lazy

_WIDE = (
    "\u2e80-\u303f\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
)
_CLOSES = "、。，．：；？！）］｝〉》」』】〕”’…"
_OPENS = "（［｛〈《「『【〔“‘"
_TOKEN = lazy.compile(
    rf"[{_OPENS}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENS}{_CLOSES}]+)[{_CLOSES}]*\s*|[{_OPENS}{_CLOSES}]+\s*|\s+"
)
"""What stays together: a word or a wide character, with what opens and closes it."""
_WORD = lazy.compile(r"\S+\s*|\s+")
"""The same for ASCII; the other pattern takes 4 ms to compile."""


def breaks(text: str, width: int) -> list[int]:
    """The places at which a line has to be broken so that no part is wider than `width` cells.

    Takes a text without newlines. Spaces at an end of a part do not count.
    """
    places: list[int] = []
    used = 0
    for start, token in _tokens(text):
        word = token.rstrip()
        room = cell_len(word)
        if used and used + room > width:
            places.append(start)
            used = 0
        if room > width:
            for piece in chop_cells(word, max(2, width))[:-1]:
                start += len(piece)
                token = token[len(piece) :]
                places.append(start)
        used += cell_len(token)
    return places


def wrapped(text: Text, width: int) -> list[Text]:
    """The text in lines that are no wider than `width` cells, without spaces at their ends."""
    lines = [
        part for line in text.split("\n", allow_blank=True)
        for part in line.divide(breaks(line.plain, width))
    ]  # fmt: skip
    for line in lines:
        line.rstrip()
    return lines


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    tokens = _WORD if text.isascii() else _TOKEN
    return ((found.start(), found[0]) for found in tokens.finditer(text))
