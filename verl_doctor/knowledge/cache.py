"""Files that verl-doctor keeps for itself: whole or not at all, for their owner alone, never
pickled, and never where somebody else could have put them.

Writing is best effort: without a cache everything works, only slower.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/verl-doctor`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "verl-doctor"


def _ours(found: os.stat_result) -> bool:
    """Whether only this user could have written there."""
    return not found.st_mode & 0o022 and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _is_private(folder: Path) -> bool:
    """Whether a cache folder is a real folder of ours that others can't write; a link to one is
    refused, since it may lead to files that are no cache."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _ours(found)


def read_private(path: Path) -> bytes | None:
    """The bytes of a cache file, only if it is a plain file of ours that others can't write, in
    such a folder; else None."""
    if not _is_private(path.parent):
        return None
    try:
        handle = os.open(path, os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        return file.read() if stat.S_ISREG(found.st_mode) and _ours(found) else None


def write_private(path: Path, data: bytes) -> bool:
    """Writes a cache file whole or not at all, with mode 0600, and makes a missing folder.

    Returns whether it was written: a folder that isn't ours, a full disk, a read-only home are no
    errors.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_private(path.parent):
            return False
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        return True
    return False
