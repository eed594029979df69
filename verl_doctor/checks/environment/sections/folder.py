"""One folder that a run writes to. Looks, and writes nothing; a dead mount can hang it."""

from __future__ import annotations

import os
from typing import Any


def folder(path: str) -> dict[str, Any]:
    """Room, inodes and rights of a folder, or of the nearest one above it that exists."""
    path = os.path.abspath(os.path.expanduser(path))
    nearest = path
    while not os.path.exists(nearest) and os.path.dirname(nearest) != nearest:
        nearest = os.path.dirname(nearest)
    system = os.statvfs(nearest)
    return {
        "path": path,
        "nearest": nearest,
        "directory": os.path.isdir(nearest),
        "writable": os.access(nearest, os.W_OK | os.X_OK),
        "total": system.f_frsize * system.f_blocks,
        "free": system.f_frsize * system.f_bavail,
        "inodes": system.f_files,
        "inodes_free": system.f_favail,
        "type": _type(os.path.realpath(nearest)),
    }


def _type(path: str) -> str:
    """File system type of the mount that holds a path, "" where the kernel doesn't list it."""
    best, found = "", ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                point, kind = line.split()[1:3]
                inside = path == point or path.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= len(best):
                    best, found = point, kind
    except OSError:
        pass
    return found


PARTS = (folder,)
