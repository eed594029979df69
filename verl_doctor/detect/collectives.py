"""NCCL watchdog dumps of many ranks, read together: who waited, for what, and who never came."""

from __future__ import annotations

import re
from typing import NamedTuple

from .. import lazy
from ..logs.text import MAX_NUMBER, whole_number
from ..model import Event, Line

_WORK = lazy.compile(
    r"WorkNCCL\(SeqNum=(?P<seq>\d+), OpType=(?P<op>\w+)"
    r"(?:, NumelIn=(?P<numel>\d+), NumelOut=\d+)?[^)]*?Timeout\(ms\)=(?P<limit>\d+)\)"
    r"(?:.*?ran for (?P<ran>\d+) milliseconds)?"
)
_RANK = lazy.compile(r"\[(?:PG [^\]]*?)?Rank (\d+)\]")
_STAMP = lazy.compile(r"\[[EWIF]\d{3,4} (\d\d):(\d\d):(\d\d)")
_LAST = lazy.compile(r"last enqueued work: (-?\d+), last completed work: (-?\d+)")


class _Wait(NamedTuple):
    line: Line
    rank: str
    seq: int
    op: str
    numel: str
    ran_s: float
    limit_s: float
    since: str
    whole: bool
    """The collective is that of all ranks, as far as the line tells."""


class Collectives:
    """Gathers the time-outs; `finish` compares the ranks."""

    def __init__(self) -> None:
        self._waits: dict[str, _Wait] = {}
        self._last: dict[str, tuple[int, int]] = {}

    def feed(self, line: Line, raw: str) -> None:
        """Takes a watchdog line, without and with its prefixes: the time-out, or the group's last
        enqueued and completed work."""
        rank = line.worker.rank
        if not rank:
            found = _RANK.search(line.text)
            rank = found[1] if found else "?"
        last = _LAST.search(line.text)
        if last:
            self._last.setdefault(rank, (whole_number(last[1]), whole_number(last[2])))
        if "operation timeout" not in line.text:
            return
        work = _WORK.search(line.text)
        if work and rank not in self._waits:
            self._waits[rank] = _Wait(
                line,
                rank,
                whole_number(work["seq"]),
                work["op"],
                work["numel"] or "",
                whole_number(work["ran"] or work["limit"]) / 1000,
                whole_number(work["limit"]) / 1000,
                _began(raw, whole_number(work["ran"] or "0") // 1000),
                _whole_group(raw),
            )

    def finish(self, known_ranks: set[str]) -> list[Event]:
        """One event for the whole run, if any rank timed out.

        Takes the ranks that printed anything at all: one of them that did not wait is the one
        that never entered the collective.
        """
        if not self._waits:
            return []
        waits = sorted(self._waits.values(), key=lambda wait: wait.line.number)
        first = waits[0]
        kinds = {(wait.seq, wait.op, wait.numel) for wait in waits}
        known = set(known_ranks)
        if first.whole and "?" not in self._waits:
            # ranks count from 0: gaps below the highest that waits are ranks that said nothing,
            # unless there are so many that their logs are simply not here
            highest = max(_number(rank) for rank in self._waits)
            gaps = {str(i) for i in range(highest + 1)} - set(self._waits)
            known |= gaps if len(gaps) < len(self._waits) else set()
        missing = sorted(known - set(self._waits), key=_number) if first.whole else []
        late = sorted(
            (rank for rank, (enqueued, _) in self._last.items() if enqueued < first.seq),
            key=_number,
        )
        fields = {
            "op": first.op,
            "seq": str(first.seq),
            "numel": first.numel or "?",
            "waited_s": f"{first.ran_s:.0f}",
            "limit_s": f"{first.limit_s:.0f}",
            "since": first.since,
            "ranks": ", ".join(sorted(self._waits, key=_number)[:16]),
            "missing": ", ".join((missing or late)[:16]),
            "differs": "yes" if len(kinds) > 1 else "no",
        }
        return [
            Event(
                "nccl_timeout",
                first.line.number,
                first.line.text,
                fields,
                first.line.path,
                first.line.worker,
                tuple(wait.line.number for wait in waits[1:4]),
            )
        ]


def _began(raw: str, ran_s: int) -> str:
    """The clock time at which a wait began that was reported after so many seconds, or `?`.

    c10d's stamps have no year, and a stall can't be longer than a day: the time of day is enough.
    """
    found = _STAMP.search(raw)
    if found is None or not ran_s:
        return "?"
    hours, minutes, seconds = (int(part) for part in found.groups())
    began = (hours * 3600 + minutes * 60 + seconds - ran_s) % 86_400
    return f"{began // 3600:02}:{began // 60 % 60:02}:{began % 60:02}"


def _whole_group(raw: str) -> bool:
    """Whether a watchdog line is about the default group: its name, else its number 0, else no
    group named at all (older torch)."""
    name = re.search(r"PG GUID [^\s(]*\((\w+)\)", raw)
    if name:
        return name[1] in ("default_pg", "undefined")
    number = re.search(r"\[PG (?:ID )?(\d+)", raw)
    return number is None or number[1] == "0"


def _number(rank: str) -> int:
    return whole_number(rank) if rank.isdecimal() else MAX_NUMBER
