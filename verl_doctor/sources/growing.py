"""Which inputs can be followed while they grow, and a sentence for those that can't."""

from __future__ import annotations

import os
from typing import BinaryIO

from verl_doctor.sources.expand import expand
from verl_doctor.sources.sniff import HEAD, utf16
from verl_doctor.sources.types import Failure, shown, typed


def unfollowable(path: str, stdin: BinaryIO | None) -> Failure | None:
    """Why an input can't be followed, or None if it can.

    Takes the argument as typed (`-`: `stdin`). A file that does not exist yet can be followed,
    and so can an empty one; a device, a socket, what is compressed or no text can't.
    """
    if path and path != "-" and awaited(path) and not _pattern(path):
        return None
    sources, failures = expand((path,), stdin=stdin)
    fatal = next((failure for failure in failures if failure.fatal), None)
    if fatal is not None or not sources:
        return fatal
    kind = sources[0].kind
    if kind not in ("file", "stdin"):
        return _instead(path, f"is compressed ({kind})")
    if _pattern(path) and awaited(path):
        return _instead(path, "stands for several files, and --follow takes one")
    if os.path.isfile(path) and _is_utf16(path):
        return _instead(path, "is UTF-16, and only UTF-8 can be followed")
    return None


def awaited(path: str) -> bool:
    """Whether nothing is at the path yet (a link may already be)."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _pattern(path: str) -> bool:
    return "://" in path or any(sign in path for sign in "*?[")


def _is_utf16(path: str) -> bool:
    with open(path, "rb") as file:
        return utf16(file.read(HEAD)) is not None


def _instead(path: str, why: str) -> Failure:
    return Failure(path, f"{shown(path)}: {why}. Type: verl-doctor {typed(path)}", True)
