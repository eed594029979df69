"""Tracebacks that a log repeats: told by bytes, they come to the same as when each is read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verl_doctor.diagnose.collect import Collector
from verl_doctor.diagnose.incidents import Incident
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.logs.items import Again, Done, Item
from verl_doctor.logs.reader import Reader
from verl_doctor.logs.storm import Storm
from verl_doctor.scan.database import Scanner

Shipped = tuple[RuleBase, Scanner]
FRAMES = (
    'File "/opt/app/rewards.py", line 12, in score',
    "    return judge(answer)",
    '  File "/opt/app/rewards.py", line 31, in judge',
    "    return table[key]",
)
ENDINGS = (
    "KeyError: 'responses'",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.11 GiB of which 1.02 GiB is free.",
    "mypkg.Oops: no verdict\n  for this sample",
)
WORKERS = tuple(f"\x1b[36m(WorkerDict pid={pid})\x1b[0m " for pid in (71, 72, 73))
CHAIN = "The above exception was the direct cause of the following exception:"


def printed(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.split("\n"))


def traceback(prefix: str, ending: str, chained: bool = False) -> str:
    one = "\n".join(("Traceback (most recent call last):", f"  {FRAMES[0]}", *FRAMES[1:], ending))
    text = f"{one}\n\n{CHAIN}\n\n{one.replace('KeyError', 'LookupError')}" if chained else one
    return printed(prefix, text)


def chatter(prefix: str, lines: int) -> str:
    return "".join(f"{prefix}micro batch {i}: {'token ' * 20}\n" for i in range(lines))


TRACEBACKS = st.builds(
    traceback, st.sampled_from(WORKERS), st.sampled_from(ENDINGS), chained=st.booleans()
)
PIECES = st.one_of(
    TRACEBACKS,
    TRACEBACKS,
    TRACEBACKS,
    st.builds(chatter, st.sampled_from(("(TaskRunner pid=9) ", "")), st.sampled_from((1, 3, 90))),
    st.sampled_from(
        (
            printed("(TaskRunner pid=9) ", "step:3 - actor/entropy:0.31 - timing_s/step:61.2"),
            printed(WORKERS[0], "[prompt] write a traceback"),
            printed(WORKERS[0], "[score] 0.0"),
            printed(WORKERS[1], "Exception ignored in: <function Pool.__del__ at 0x7f>"),
            printed(WORKERS[2], "RuntimeError: Rank 3 has no gradient hook"),
        )
    ),
)


def items(shipped: Shipped, log: str, storm: Storm | None) -> list[Item]:
    return list(Reader(shipped[1], "train.log", 0, storm).read([log.encode()]))


def told(shipped: Shipped, log: str, storm: Storm | None) -> list[tuple[object, ...]]:
    """What every incident of the log comes to."""
    collector = Collector(shipped[0])
    for item in items(shipped, log, storm):
        collector.add(item)
    collector.end_source("train.log", log.count("\n"))

    def facts(one: Incident) -> tuple[object, ...]:
        where = one.first.line, one.last_line, one.first.block and one.first.block.first_line
        shown = len(one.evidence)  # which of many printings are kept depends on who ends first
        return one.key, one.count, *where, one.workers, one.also, shown, one.first.phase

    closed = collector.closed()
    lives = [(life.worker, life.last_line, life.fault_line) for life in collector.lives.all()]
    return [
        *map(facts, closed.incidents.by_key.values()),
        (closed.quoted, collector.ignored, lives),
    ]


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=4), st.lists(st.integers(0, 3), max_size=40))
def test_repeats_come_to_the_same_as_if_each_were_read(
    shipped: Shipped, pieces: Sequence[str], order: Sequence[int]
) -> None:
    log = "".join(pieces[i % len(pieces)] for i in order)
    counted = shipped[0].counted
    assert told(shipped, log, Storm(counted)) == told(shipped, log, None)


@pytest.mark.parametrize("chained", [False, True])
def test_from_the_fourth_printing_on_no_line_is_read(shipped: Shipped, chained: bool) -> None:
    log = "".join(traceback(worker, ENDINGS[1], chained) for worker in WORKERS) * 50
    found = items(shipped, log, Storm())
    again = [item for item in found if isinstance(item, Again)]
    read = [item for item in found if isinstance(item, Done)]
    assert len(read) + len(again) == 150
    assert len(read) == 10  # each worker's first three, and the last, behind which nothing stands
    assert (again[-1].line, again[-1].last_line) == (
        log.count("\n") - 2 * log.count("\n") // 150 + 1,
        log.count("\n") - log.count("\n") // 150,
    )


def test_a_message_that_goes_on_is_read(shipped: Shipped) -> None:
    """The same traceback, but this time with one more line of its message."""
    whole = traceback(WORKERS[0], "ValueError: shapes differ")
    log = whole * 4 + printed(WORKERS[0], "  [3, 4] and [5, 6]")
    last = [item for item in items(shipped, log, Storm()) if isinstance(item, Done)][-1]
    assert last.block.chain[0].message == "shapes differ\n  [3, 4] and [5, 6]"


def test_what_counts_lines_sees_each(shipped: Shipped) -> None:
    """A literal of a rule over several lines within the traceback: it is read each time."""
    base = shipped[0]
    number = next(iter(base.counted))
    log = traceback(WORKERS[0], f"ValueError: {base.literals[number]}") * 5
    found = items(shipped, log, Storm(base.counted))
    assert not [item for item in found if isinstance(item, Again)]


@pytest.mark.parametrize("gap", [64, 65, 66, 400, 401, 402])
def test_a_wait_that_ends_at_the_next_printing_counts_it_once(shipped: Shipped, gap: int) -> None:
    line = printed(WORKERS[0], "NotImplementedError: Rank 1 has no gradient hook")
    log = line + chatter(WORKERS[1], gap - 1) + line
    done = [item for item in items(shipped, log, None) if isinstance(item, Done)]
    assert [item.block.first_line for item in done] == [1, gap + 1]


def test_lines_of_others_are_passed_over_and_counted(shipped: Shipped) -> None:
    """A traceback torn apart by a long stretch of other workers' lines is one, in its place."""
    head, _, tail = traceback(WORKERS[0], ENDINGS[0]).partition("    return judge(answer)\n")
    log = (
        head
        + "    return judge(answer)\n"
        + chatter(WORKERS[1], 300)
        + tail.replace("KeyError", f"{'x' * 5}.KeyError", 1)
    )
    done = [item for item in items(shipped, log, None) if isinstance(item, Done)]
    assert [len(item.block.chain[0].frames) for item in done] == [2]
    assert done[0].block.last_line == log.count("\n")
