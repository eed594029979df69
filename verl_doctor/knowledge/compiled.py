"""The rules and their scanner as one file of the cache, laid out so that a start reads little.

    what it was made from, a blank line
    a line of JSON: how every rule matches, and where in the file its text and the scanner are
    the rules, each a compressed JSON of its own, then hyperscan's serialised form

A log meets a handful of the rules: the others, 3 MB of text, are never unpacked.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from .base import HEAD, RuleBase
from .literals import required

if TYPE_CHECKING:
    from ..scan.database import Scanner


class Shelf(Mapping[str, Mapping[str, Any]]):
    """Plain rules by id, each unpacked when it is first asked for."""

    def __init__(self, data: bytes, places: Mapping[str, tuple[int, int]]) -> None:
        """Takes the bytes and where in them each rule begins and ends."""
        self._data = data
        self._places = places
        self._parsed: dict[str, Mapping[str, Any]] = {}

    def __getitem__(self, rule_id: str) -> Mapping[str, Any]:
        plain = self._parsed.get(rule_id)
        if plain is None:
            start, end = self._places[rule_id]
            plain = self._parsed[rule_id] = json.loads(zlib.decompress(self._data[start:end]))
        return plain

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _head(plain: Mapping[str, Any]) -> dict[str, Any]:
    """How a rule matches; with what its messages need, which takes long to tell."""
    head = {key: plain[key] for key in HEAD if key in plain}
    if patterns := head["match"].get("traceback"):
        needs = [{**one, "needs": required(one.get("message", ""))} for one in patterns]
        head["match"] = {"traceback": needs}
    return head


def dump(stamp: bytes, base: RuleBase, scanner: Scanner) -> bytes:
    """The bytes of the file. Takes what it is made from, in lines, and the rules."""
    bodies = [zlib.compress(json.dumps(plain).encode()) for plain in base.plains.values()]
    head = {
        "rules": {rule_id: _head(plain) for rule_id, plain in base.plains.items()},
        "ends": list(accumulate(map(len, bodies), initial=0)),
        "sum": zlib.adler32(b"".join(bodies)),
        "notes": base.notes,
    }
    return b"".join((stamp, b"\n", json.dumps(head).encode(), b"\n", *bodies, scanner.dump()))


def parse(data: bytes, stamp: bytes) -> tuple[RuleBase, Scanner] | None:
    """What `dump` has made bytes of; None where they were made from something else or have been
    spoilt.

    Errors: any, for bytes that it has not made.
    """
    from ..scan.database import Scanner

    begin = len(stamp) + 1
    if not data.startswith(stamp + b"\n"):
        return None
    body = data.index(b"\n", begin) + 1
    head = json.loads(data[begin:body])
    ends = [body + end for end in head["ends"]]
    if zlib.adler32(memoryview(data)[body : ends[-1]]) != head["sum"]:
        return None
    shelf = Shelf(data, dict(zip(head["rules"], pairwise(ends), strict=True)))
    return RuleBase(shelf, head["notes"], head["rules"]), Scanner.load(data[ends[-1] :])
