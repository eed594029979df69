"""Limits and room of this machine, or of the container or job that the child runs in."""

from __future__ import annotations

import importlib.metadata
import os
import resource
import time
from typing import Any, Iterator

CGROUPS = "/sys/fs/cgroup"
CAP_IPC_LOCK, CAP_SYS_ADMIN, CAP_SYS_RESOURCE = 1 << 14, 1 << 21, 1 << 24


def limits(*_: str) -> dict[str, Any]:
    """Soft and hard limit of each kind, None for unlimited; `exempt`: those that the kernel does
    not hold this process to, for its user or its capabilities."""
    found: dict[str, Any] = {}
    for name in ("nofile", "nproc", "memlock"):
        pair = resource.getrlimit(getattr(resource, "RLIMIT_" + name.upper()))
        found[name] = [None if one == resource.RLIM_INFINITY else one for one in pair]
    held = 0
    for line in (_read("/proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            held = int(line.split()[1], 16)
    exempt = {
        "nproc": os.getuid() == 0 or bool(held & (CAP_SYS_ADMIN | CAP_SYS_RESOURCE)),
        "memlock": bool(held & CAP_IPC_LOCK),
    }
    found["exempt"] = [name for name, so in exempt.items() if so]
    return found


def cpus(*_: str) -> dict[str, Any]:
    """Cores of the machine, those that this process may use, and whether they are limited by what
    Ray reads as well (`_get_docker_cpus` in ray/_private/utils.py): quotas, and cpusets of cgroup
    version 1."""
    allowed = getattr(os, "sched_getaffinity", None)
    quota = (_read(os.path.join(CGROUPS, "cpu.max")) or "max").split()[0]
    quota_v1 = _read(os.path.join(CGROUPS, "cpu/cpu.cfs_quota_us")) or ""
    cpuset_v1 = os.path.join(CGROUPS, "cpuset/cpuset.cpus")
    return {
        "machine": os.cpu_count() or 0,
        "allowed": len(allowed(0)) if allowed else 0,
        "told": quota.isdigit() or quota_v1.isdigit() or os.path.exists(cpuset_v1),
    }


def shared_memory(*_: str) -> dict[str, Any]:
    """Size of /dev/shm in bytes."""
    system = os.statvfs("/dev/shm")
    return {
        "total": system.f_frsize * system.f_blocks,
        "free": system.f_frsize * system.f_bavail,
    }


def memory(*_: str) -> dict[str, Any]:
    """Bytes of main memory, and the tightest limit of a control group; None where there is none.

    A group's `used` leaves out the file cache that the kernel would give back.
    """
    with open("/proc/meminfo", encoding="ascii") as file:
        rows = dict(line.split(":", 1) for line in file)
    found: dict[str, Any] = {
        "total": int(rows["MemTotal"].split()[0]) * 1024,
        "available": int(rows["MemAvailable"].split()[0]) * 1024,
        "limit": None,
        "used": None,
    }
    names = ("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")
    limit, used, place = _tightest("memory", names)
    if limit is not None and limit < found["total"]:
        cache = 0
        for line in (_read(os.path.join(place, "memory.stat")) or "").splitlines():
            if line.split()[0] in ("inactive_file", "total_inactive_file"):
                cache = int(line.split()[1])
        found.update(limit=limit, used=max(0, (used or 0) - cache))
    return found


def processes(*_: str) -> dict[str, Any]:
    """The tightest limit of a control group on processes and threads, and how many there are."""
    limit, used, _place = _tightest("pids", (("pids.max", "pids.current"),))
    return {"limit": limit, "used": used}


def network(*_: str) -> dict[str, list[str]]:
    """Names of the network interfaces and of the InfiniBand or RoCE devices."""
    return {
        "interfaces": sorted(_names("/sys/class/net")),
        "infiniband": sorted(_names("/sys/class/infiniband")),
    }


def clock(*_: str) -> dict[str, Any]:
    """Seconds since 1970 by this machine, and the newest package's install time."""
    newest, name = 0.0, ""
    for one in importlib.metadata.distributions():
        try:
            written = os.stat(str(getattr(one, "_path", ""))).st_mtime
        except OSError:
            continue
        if written > newest:
            newest, name = written, str(one.metadata["Name"]) if one.metadata else ""
    return {"now": time.time(), "newest": newest, "package": name}


def _groups(controller: str) -> Iterator[str]:
    """Folders of this process's control groups, innermost first, of both versions."""
    for line in (_read("/proc/self/cgroup") or "").splitlines():
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        root = os.path.join(CGROUPS, controller) if names else CGROUPS
        # inside a container the path is the host's, and the root is the container's own group
        while True:
            yield os.path.join(root, path.strip("/"))
            if path in ("/", ""):
                break
            path = os.path.dirname(path)


def _tightest(
    controller: str, names: tuple[tuple[str, str], ...]
) -> tuple[int | None, int | None, str]:
    """Limit, use and folder of the group with the least left; None where none has a limit."""
    best: tuple[int | None, int | None, str] = (None, None, "")
    least: int | None = None
    for place in _groups(controller):
        for limit_name, used_name in names:
            limit = _read(os.path.join(place, limit_name)) or ""
            used = _read(os.path.join(place, used_name)) or ""
            if limit.isdigit() and used.isdigit():
                left = int(limit) - int(used)
                if least is None or left < least:
                    least, best = left, (int(limit), int(used), place)
    return best


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


PARTS = (limits, cpus, shared_memory, memory, processes, network, clock)
