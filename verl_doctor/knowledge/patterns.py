"""Whether a rule's regular expression can be compiled at a bearable price.

Searches have a time limit of their own; compiling has none, and `(?:a{1000}){1000}` takes the
`regex` library gigabytes before it sees a single line.
"""

from __future__ import annotations

import re

MAX_LENGTH = 4_000
"""Characters; the longest shipped pattern has 600."""
MAX_COPIES = 20_000
"""How long a pattern may get when its counted repeats are written out."""

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,\d*)?\}|.", re.DOTALL)


def written_out(pattern: str) -> int:
    """The pieces that a pattern has once each `{n}` and `{n,m}` stands n times in full.

    Takes any text, well-formed or not.
    """
    groups: list[list[int]] = [[]]
    for piece in _PIECE.finditer(pattern):
        if piece[0] == "(":
            groups.append([])
        elif piece[0] == ")" and len(groups) > 1:
            inner = groups.pop()
            groups[-1].append(sum(inner))
        elif piece[1] and groups[-1]:
            groups[-1][-1] *= int(piece[1][:12])
        else:
            groups[-1].append(1)
    return sum(map(sum, groups))


def fault_of(pattern: str) -> str | None:
    """What is wrong with a regular expression, in a few words; None if it can be used."""
    if len(pattern) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters"
    if written_out(pattern) > MAX_COPIES:
        return f"its counted repeats come to more than {MAX_COPIES} pieces"
    import regex  # 13 ms, and only a fresh rule gets here

    try:
        regex.compile(pattern)
    except RecursionError:
        return "too many groups inside each other"
    except regex.error as error:
        return str(error)
    return None
