"""Text of a line: what Ray folded, what two ranks glued, what may be shown."""

from __future__ import annotations

from .. import lazy

MAX_NUMBER = 2**63 - 1
"""What SQLite and `array` take; a log that counts further is garbled or hostile."""
MAX_REPEATED = 1_000_000
"""Ray folds what comes within seconds: no more than this can be true, and sums stay small."""


def whole_number(digits: str) -> int:
    """Decimal digits out of a log as a number from 0 to MAX_NUMBER.

    Python's own `int` raises ValueError for more than 4300 digits.
    """
    return min(int(digits), MAX_NUMBER) if len(digits) < 20 else MAX_NUMBER


_REPEATED = lazy.compile(r"\s*\[repeated (\d+)x across (?:all nodes|cluster)\](?: \(.*)?$")


def unrepeated(text: str) -> tuple[str, int]:
    """The text without Ray's `[repeated 7x across cluster]`, and how often it was said (>= 1).

    Ray prints the line once and later once more with the number of further copies, so 7x counts 7.
    """
    if "[repeated " not in text:
        return text, 1
    found = _REPEATED.search(text)
    if found is None:
        return text, 1
    return text[: found.start()], min(max(1, whole_number(found[1])), MAX_REPEATED)


_GLUED = lazy.compile(r"^((?:[A-Za-z_]\w*\.)*([A-Z]\w*?))(?:\2)+:(?:\s*:)*")
MAX_GLUED = 512
"""Characters in which two glued names end; the pattern takes time square to what it is given."""


def unglued(text: str) -> str:
    """`RuntimeErrorRuntimeError: : x`, written by two ranks at once, as `RuntimeError: x`."""
    found = _GLUED.match(text, 0, MAX_GLUED)
    return f"{found[1]}:{text[found.end() :]}" if found else text


_SAFE = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
_SAFE[9] = "    "
_HIDDEN = {
    code: f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    for code in (
        *(0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF),
        *range(0x202A, 0x202F),  # bidirectional overrides and isolates
        *range(0x2060, 0x2070),
        *range(0xFFF9, 0xFFFC),
        *range(0xE0000, 0xE0080),  # tags: whole sentences that no one sees
    )
}
_TABLE = {**_SAFE, **_HIDDEN, 0x2028: " ", 0x2029: " "}


def visible(text: str, limit: int = 0) -> str:
    """Log text made safe to show: control, bidirectional and invisible characters become visible
    escapes.

    Takes the text and a length in characters (0: no limit); a cut keeps head and tail, since the
    cause may stand at either end.
    """
    text = text.translate(_TABLE)
    if not text.isascii():
        # halves of a pair, which no encoder takes
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if limit and len(text) > limit:
        tail = limit // 3
        text = f"{text[: limit - tail - 3]} … {text[-tail:]}"
    return text
