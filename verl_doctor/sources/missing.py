"""Words for a path that cannot be opened: what stands in its way, and what to type next."""

from __future__ import annotations

import errno
import os
import re
import stat
from itertools import islice

from verl_doctor.sources.types import shown, typed

_LISTED = 5000


def missing(path: str, error: Exception) -> str:
    """A sentence for a path whose `stat` or `open` failed with `error`."""
    name = shown(path)
    if not path:
        return "an empty file name was given (an unset shell variable?). Type: verl-doctor run.log"
    if isinstance(error, PermissionError):
        return denied(path, error)
    if re.match(r"https?://", path):
        return f"{name}: is an address, not a file. Type: curl -fsSL {typed(path)} | verl-doctor -"
    if re.match(r"[a-z][a-z0-9]*://", path):
        return f"{name}: is not on this machine. Copy it here, or pipe it into: verl-doctor -"
    if os.path.islink(path):
        target = shown(os.readlink(path))
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            return f"{name}: is a link that leads back to itself. Give the file it should lead to."
        return (
            f"{name}: is a link to {target}, which does not exist on this machine. "
            "Give the file where it is now."
        )
    if isinstance(error, NotADirectoryError):
        return f"{name}: part of this path is a file, not a folder.{_nearest(path)}"
    if not isinstance(error, FileNotFoundError):
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return f"{name[:300]}: cannot be opened ({reason}). Type: ls -l to see what is there."
    if remote := re.match(r"([\w.@-]+):(/.*)", path):
        host, there = remote[1], typed(remote[2])
        return f"{name}: is on another machine. Type: ssh {host} cat {there} | verl-doctor -"
    return f"{name}: there is no such file or folder.{_nearest(path)}"


def denied(path: str, error: OSError) -> str:
    """A sentence for a path that this user may not read."""
    name = shown(path)
    try:
        mode = f", mode {stat.S_IMODE(os.stat(path).st_mode):04o}"
    except OSError:
        mode = ""
    reason = error.strerror or str(error)
    return (
        f"{name}: cannot be read ({reason}{mode}). Read it as a user who may: "
        f"sudo cat {typed(path)} | verl-doctor -"
        if not os.path.isdir(path)
        else f"{name}: cannot be listed ({reason}{mode}). Run verl-doctor as a user who may, "
        "or have the logs copied to a folder of your own."
    )


def _nearest(path: str) -> str:
    """The existing name that was probably meant, as a command; else where to look."""
    import difflib

    path = path.rstrip("/" + os.sep) or path
    parent, name = os.path.split(path)
    if os.path.isfile(path):
        return f" Type: verl-doctor {typed(path)}"
    while parent and not os.path.isdir(parent):
        parent, name = os.path.split(parent)
    try:
        with os.scandir(parent or ".") as listing:
            names = sorted(entry.name for entry in islice(listing, _LISTED))
    except OSError:
        return " Type: ls to see which files there are."
    folded = {other.casefold(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if not close:
        close = [other for other in folded if other.startswith(name.casefold() + ".")][:1]
    if not close:
        return f" Type: ls {typed(parent or '.')} to see which files there are."
    nearest = os.path.join(parent, folded[close[0]])
    return f" Did you mean {shown(nearest)}? Type: verl-doctor {typed(nearest)}"
