"""The processes of a run, and what this user may see of them. Reads only."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections import defaultdict

_SYS_PTRACE = 19
"""Bit of CAP_SYS_PTRACE in a capability mask (capability.h)."""


def tree(root: int) -> list[int]:
    """Process ids of a process and all its descendants, parents first; empty if it is gone.

    A process that was handed to init (a daemon) is not among them: Ray's workers are children of
    their raylet, which a local `ray.init` starts as its own child.
    """
    children: defaultdict[int, list[int]] = defaultdict(list)
    alive = set()
    for pid, parent in _parents():
        alive.add(pid)
        children[parent].append(pid)
    found = [root] if root in alive else []
    for pid in found:
        found.extend(children[pid])
    return found


def _parents() -> list[tuple[int, int]]:
    """(process, its parent) of every process; empty where neither /proc nor `ps` tells."""
    if not os.path.isdir("/proc/self"):
        return _parents_by_ps()
    pairs = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    # the command in brackets may hold blanks and brackets itself
                    state, parent = file.read().rpartition(")")[2].split()[:2]
                if state != "Z":
                    pairs.append((int(name), int(parent)))
    return pairs


def _parents_by_ps() -> list[tuple[int, int]]:
    try:
        told = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [(int(pid), int(parent)) for pid, parent in map(str.split, told.splitlines())]


def missing_right() -> str:
    """Which right this process lacks to look into others, as a key: `ptrace_scope` (Yama lets only
    parents), `capability` (root in a container without CAP_SYS_PTRACE), or `user` (the processes
    belong to someone else)."""
    if os.geteuid() == 0:
        return "user" if _capable() else "capability"
    with (
        contextlib.suppress(OSError, ValueError),
        open("/proc/sys/kernel/yama/ptrace_scope") as file,
    ):
        if int(file.read()) > 0:
            return "ptrace_scope"
    return "user"


def _capable() -> bool:
    """Whether this process has CAP_SYS_PTRACE."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("CapEff:"):
                return bool(int(line.split()[1], 16) >> _SYS_PTRACE & 1)
    return False
