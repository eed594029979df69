"""Python stacks of a run's processes through py-spy, merged where they are identical."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..model import Frame
from .processes import missing_right, tree

MAX_PROCESSES = 64
"""Processes of one node that are looked at: a node has 8 GPUs and a few helpers for each."""
AT_ONCE = 4
DUMP_S = 20.0
"""Seconds that py-spy may take for a process; it stops the process while it reads."""

Thread = tuple[Frame, ...]
"""Frames, innermost first."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One stack, and the processes that stand in it."""

    frames: Thread
    pids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All processes at one moment."""

    stacks: tuple[Stack, ...] = ()
    """Main threads, and others that are at work; the stack with most processes first."""
    obstacle: str = ""
    """Why there are none: `no_pyspy`, `gone`, `no_python`, or a key of `missing_right`."""
    unseen: int = 0
    """Processes that are no Python, or could not be looked at."""


def snapshot(root: int) -> Snapshot:
    """The stacks of a process and all its descendants. Never raises: see `Snapshot.obstacle`."""
    spy = _py_spy()
    if spy is None:
        return Snapshot(obstacle="no_pyspy")
    pids = tree(root)[:MAX_PROCESSES]
    if not pids:
        return Snapshot(obstacle="gone")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        dumps = list(pool.map(lambda pid: _dump(spy, pid), pids))
    stacks = merged(
        (pid, threads) for pid, (threads, _) in zip(pids, dumps, strict=True) if threads
    )
    unseen = sum(not threads for threads, _ in dumps)
    if stacks:
        return Snapshot(stacks, unseen=unseen)
    denied = any("ermission" in error or "ptrace" in error for _, error in dumps)
    return Snapshot(obstacle=missing_right() if denied else "no_python", unseen=unseen)


def merged(processes: Iterable[tuple[int, Sequence[Thread]]]) -> tuple[Stack, ...]:
    """Identical stacks as one, with all processes that have it; most processes first."""
    by_frames: defaultdict[Thread, list[int]] = defaultdict(list)
    for pid, threads in processes:
        for thread in threads:
            if pid not in by_frames[thread]:
                by_frames[thread].append(pid)
    stacks = [Stack(frames, tuple(pids)) for frames, pids in by_frames.items()]
    return tuple(sorted(stacks, key=lambda stack: (-len(stack.pids), stack.pids)))


def _py_spy() -> str | None:
    """Path of py-spy: beside this interpreter (the extra `stacks`), else on the PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    return beside if os.access(beside, os.X_OK) else shutil.which("py-spy")


def _dump(spy: str, pid: int) -> tuple[list[Thread], str]:
    """Threads of one process that are worth seeing, or py-spy's words on why there are none."""
    try:
        done = subprocess.run(
            [spy, "dump", "--json", "--pid", str(pid)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=DUMP_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [], str(error)
    if done.returncode:
        return [], done.stderr.decode("utf-8", "replace")
    try:
        return threads_of(json.loads(done.stdout)), ""
    except (ValueError, KeyError, TypeError) as error:
        return [], f"py-spy printed something else than expected: {error!r}"


def threads_of(dump: Sequence[dict[str, object]]) -> list[Thread]:
    """Takes what `py-spy dump --json` prints for a process; returns the main thread and those
    that hold the lock or are at work. Errors: KeyError, TypeError for another structure."""
    found = []
    for thread in dump:
        main = thread["os_thread_id"] == thread["pid"] or thread["thread_name"] == "MainThread"
        if not (main or thread["owns_gil"] or thread["active"]):
            continue
        frames = tuple(
            Frame(one["filename"], one["line"], one["name"])
            for one in thread["frames"]  # type: ignore[attr-defined]
        )
        if frames:
            found.append(frames)
    return found
