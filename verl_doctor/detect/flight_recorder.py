"""Flight recorder dumps of many ranks, read together: who waits, and who never came."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model import Event
from ..sources.flight_recorder import Collective, Dump

MAX_TOLD = 16
"""Ranks that are named; the others are counted."""
PARTIAL = 0.5
"""Where more ranks than this share have left no dump, the set is incomplete: it accuses no one."""


@dataclass(frozen=True, slots=True)
class _Stall:
    """A collective that some ranks have entered and no one has finished."""

    group: str
    seq: int
    waiting: Mapping[int, Collective]

    @property
    def since_ns(self) -> int:
        return min(one.created_ns for one in self.waiting.values())


def compare(dumps: Sequence[Dump]) -> Event | None:
    """What the dumps show of the first collective that never ended; None if all have.

    The event's field `shows`: `never_came` (a rank has a dump and is not in the collective),
    `differs` (ranks called different things), `no_dump` (the ranks that are not in it have left
    no dump), `all_wait` (all that are known are in it), `not_started` (the same, but on some ranks
    the GPU has not come to it) or `partial` (too few dumps).
    """
    stalls = _stalls(dumps)
    if not stalls:
        return None
    stall = min(stalls, key=lambda one: (one.since_ns, one.seq))
    here = {
        dump.rank: one
        for dump in dumps
        for one in dump.collectives
        if (one.group, one.seq) == (stall.group, stall.seq)
    }
    expected = _expected(stall.group, dumps)
    late = _late(stall, [dump for dump in dumps if dump.rank in expected - here.keys()])
    absent = sorted(expected - {dump.rank for dump in dumps})
    ops = {one.op for one in here.values()}
    if late:
        shows, guilty = "never_came", sorted(late)
    elif len(ops) > 1 or _uneven(min(ops), {one.sizes for one in here.values()}):
        shows, guilty = "differs", _odd(here)
    elif absent:
        shows = "partial" if len(absent) > PARTIAL * len(expected) else "no_dump"
        guilty = absent
    else:
        guilty = _not_started(dumps, here)
        shows = "not_started" if guilty else "all_wait"
    last = _last(late[guilty[0]], stall.group) if late else None
    odd = here.get(guilty[0]) if guilty else None
    # what most ranks wait in: the odd one may well be rank 0
    usual = next((here[rank] for rank in sorted(here) if rank not in guilty), here[min(here)])
    since = time.strftime("%H:%M:%S", time.gmtime(stall.since_ns / 1e9)) if stall.since_ns else "?"
    fields = {
        "shows": shows,
        "op": usual.op,
        "seq": str(stall.seq),
        "group": stall.group,
        "sizes": usual.sizes,
        "state": usual.state,
        "since": since,
        "frame": usual.frame or "?",
        "ranks": _listed(sorted(stall.waiting)),
        "missing": _listed(guilty) or "?",
        "last": f"{last.op} (number {last.seq})" if last else "?",
        "last_frame": (last.frame if last else odd.frame if odd else "") or "?",
        "other": f"{odd.op} {odd.sizes}" if odd and shows == "differs" else "?",
        "dumps": str(len(dumps)),
    }
    text = f"flight recorder: {usual.op}, number {stall.seq} of group {stall.group}, never ended"
    if shows == "not_started":
        text += f", not begun by the GPU of rank {fields['missing']}"
    return Event("flight_recorder", 0, text, fields)


def _stalls(dumps: Sequence[Dump]) -> list[_Stall]:
    """For each group its first collective that is done nowhere, else the first not done everywhere.

    One that has ended on a rank has had all of them: elsewhere it is just about to end.
    """
    waiting: dict[tuple[str, int], dict[int, Collective]] = {}
    ended: set[tuple[str, int]] = set()
    for dump in dumps:
        for one in dump.collectives:
            if one.done:
                ended.add((one.group, one.seq))
            else:
                waiting.setdefault((one.group, one.seq), {})[dump.rank] = one
    first: dict[str, tuple[bool, int]] = {}
    for group, seq in waiting:
        order = (group, seq) in ended, seq
        first[group] = min(order, first.get(group, order))
    return [_Stall(group, seq, waiting[group, seq]) for group, (_, seq) in first.items()]


def _expected(group: str, dumps: Sequence[Dump]) -> set[int]:
    """The ranks that belong to a group: as a dump tells it, else those that used it.

    Gloo's recorder names the default group by nothing at all.
    """
    name = group.partition(" (")[0]
    for dump in dumps:
        for key in (name, "" if name == "0" else name):
            if dump.groups.get(key):
                return set(dump.groups[key])
    return {dump.rank for dump in dumps if any(one.group == group for one in dump.collectives)}


def _late(stall: _Stall, dumps: Sequence[Dump]) -> dict[int, Dump]:
    """The ranks that have not come to a collective, of dumps without it.

    A rank that is beyond it has been in it: the recorder keeps only the last collectives.
    """
    return {
        dump.rank: dump
        for dump in dumps
        if not any(one.group == stall.group and one.seq > stall.seq for one in dump.collectives)
    }


def _uneven(op: str, sizes: set[str]) -> bool:
    """Whether ranks gave different sizes to a collective that wants the same from all."""
    same = ("all_reduce", "broadcast", "reduce_scatter", "_all_gather_base", "reduce")
    return len(sizes) > 1 and op.startswith(same)


def _not_started(dumps: Sequence[Dump], here: Mapping[int, Collective]) -> list[int]:
    """The ranks whose GPU still works on something before it; [] if no dump can tell."""
    timed = {dump.rank for dump in dumps if any(one.timed for one in dump.collectives)}
    return sorted(rank for rank in timed & here.keys() if here[rank].state == "scheduled")


def _odd(here: Mapping[int, Collective]) -> list[int]:
    """The ranks that did something else than most."""
    shapes = [(one.op, one.sizes) for one in here.values()]
    usual = max(shapes, key=lambda shape: (shapes.count(shape), shape == shapes[0]))
    return sorted(rank for rank, one in here.items() if (one.op, one.sizes) != usual)


def _last(dump: Dump, group: str) -> Collective | None:
    """The last collective of a group that a rank has recorded, else its last of all."""
    mine = [one for one in dump.collectives if one.group == group] or list(dump.collectives)
    return max(mine, key=lambda one: (one.created_ns, one.seq), default=None)


def _listed(ranks: Sequence[int]) -> str:
    more = f" and {len(ranks) - MAX_TOLD} more" if len(ranks) > MAX_TOLD else ""
    return ", ".join(map(str, ranks[:MAX_TOLD])) + more
