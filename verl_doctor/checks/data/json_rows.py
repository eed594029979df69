"""The first rows of a file of JSON lines, as Arrow reads them, and no more than memory holds.

Arrow's parser calls itself for each level of a value, so some ten thousand levels end the process,
and so does a file whose rows are all `null` (seen with Arrow 26). Both are looked for before Arrow
sees a byte.
"""

from __future__ import annotations

import io
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

MAX_BYTES = 64 << 20
"""Bytes of the rows that are parsed, one row alone among them."""
MAX_DEPTH = 100
"""Lists and objects within each other; a row of messages with tool calls has about ten."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.S)
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHERS = bytes(set(range(256)) - _STEPS.keys())


def opened(path: Path, most: int = MAX_BYTES) -> Any:
    """Arrow's reader over the whole rows in the first `most` bytes, at least one.

    Raises ValueError (Arrow's errors are among those) for what can't be rows of JSON, OSError.
    """
    from pyarrow import json

    with path.open("rb") as file:
        data = file.read(most)
        if len(data) == most:
            end = data.rfind(b"\n") + 1
            data = data[:end] if end else data + file.readline(MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise ValueError(f"a row is longer than {MAX_BYTES >> 20} MiB")
    if data.strip() and not data.lstrip().startswith(b"{"):
        raise ValueError("its first row is no JSON object")
    if depth(data) > MAX_DEPTH:
        raise ValueError(f"a row is nested deeper than {MAX_DEPTH} levels")
    return json.open_json(io.BytesIO(data), json.ReadOptions(block_size=max(1, len(data))))


def depth(data: bytes) -> int:
    """How many lists and objects stand within each other at most."""
    brackets = _STRING.sub(b"", data).translate(None, _OTHERS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
