"""Two looks at a run that stands still: does it move, and if not, who waits for whom."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..detect.progress import phase_of_frames
from ..live import News
from ..model import Event
from .stacks import Snapshot, Stack, snapshot

BETWEEN_S = 5.0
"""Seconds between the two looks at most, and where no usual step is known."""
SHARE = 0.1
"""Of a usual step: both looks lie within the time in which a hang has to be told."""
LEAST_BETWEEN_S = 0.3
NEAR = 6
"""Innermost frames in which a wait shows itself."""
SHOWN_PIDS = 8

_WAITS = (
    (
        "collective",
        re.compile(r"torch/distributed/(?:distributed_c10d|_functional_collectives)\.py"),
    ),
    ("dataloader", re.compile(r"torch/utils/data/dataloader\.py:\S*_get_data$", re.M)),
    ("idle", re.compile(r"resource_tracker\.py:\S*main|forkserver\.py:\S*main|compile_worker/")),
    ("idle", re.compile(r"elastic/agent/server/api\.py:|/subprocess\.py:\S*wait$", re.M)),
    ("ray", re.compile(r"ray/_private/worker\.py:\S*(?:get|wait|get_objects|main_loop)$", re.M)),
    (
        "join",
        re.compile(r"multiprocessing/(?:popen_\w+|process|spawn)\.py:\S*(?:wait|poll|join)$", re.M),
    ),
)
"""Places where a process waits for another one: the one waited for is more telling."""
_ORDER = ("", "collective", "dataloader", "ray", "join", "idle")


@dataclass(frozen=True, slots=True)
class Held:
    """What two looks have shown."""

    snapshot: Snapshot
    """The last one that shows any."""
    still: bool
    """All stacks were the same in both."""
    seconds: float
    """Time between the two."""


def look_twice(root: int, usual_s: float) -> Held:
    """Looks at a process and its descendants twice. Takes the root's id and the usual length of
    a step in seconds (0: unknown), from which the time between the looks follows."""
    first = snapshot(root)
    pause = min(BETWEEN_S, max(LEAST_BETWEEN_S, SHARE * usual_s)) if usual_s else BETWEEN_S
    if first.obstacle:
        return Held(first, False, 0.0)
    time.sleep(pause)
    second = snapshot(root)
    # a process may end between the looks: what the first has shown is worth telling
    latest = second if second.stacks else first
    return Held(latest, first.stacks == second.stacks, pause)


def waits_for(stack: Stack) -> str:
    """What kind of waiting a stack shows: `collective`, `dataloader`, `ray`, `join`, `idle` (a
    helper without work), or '' where it stands somewhere else."""
    near = "\n".join(f"{frame.file}:{frame.function}" for frame in stack.frames[:NEAR])
    return next((kind for kind, pattern in _WAITS if pattern.search(near)), "")


def telling(stacks: Sequence[Stack]) -> list[Stack]:
    """The most telling first: those that others wait for, of them the one with fewest processes."""
    return sorted(stacks, key=lambda one: (_ORDER.index(waits_for(one)), len(one.pids)))


def hang_event(held: Held, news: News, path: str, line: int) -> Event | None:
    """What the looks prove: a hang, if output has stopped and nothing has moved between them.

    Takes them, the news that called for them, the log and its last line. The stack that is told
    is that of the processes that others wait for.
    """
    if not held.still or news.kind != "stopped":
        return None
    stacks = telling(held.snapshot.stacks)
    culprit = stacks[0]
    frames = culprit.frames
    place = next((frame for frame in frames if frame.user), frames[0])
    functions = "\n".join(f"{frame.function} {frame.file}" for frame in reversed(frames))
    kinds = {waits_for(one) for one in stacks}
    fields = {
        "frame": f"{frames[0].file}:{frames[0].line} in {frames[0].function}",
        "caller": f"{place.file}:{place.line} in {place.function}",
        "pid": str(culprit.pids[0]),
        "pids": ", ".join(map(str, culprit.pids[:SHOWN_PIDS])),
        "processes": str(len({pid for one in stacks for pid in one.pids})),
        "waits": " ".join(sorted(kinds - {"", "idle"})) or "nothing",
        "quiet": f"{news.seconds:.0f}",
        "usual": f"{news.usual:.0f}" if news.usual >= 1 else f"{news.usual:.1f}",
        "step": "none" if news.step is None else str(news.step),
        "phase": phase_of_frames(functions) or ("data" if "dataloader" in kinds else news.phase),
    }
    return Event("hang", line, fields["frame"], fields, path)
