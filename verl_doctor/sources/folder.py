"""Which files of a folder are logs: by name first, by content where the name says too little."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from verl_doctor import lazy

MAX_ENTRIES = 200_000
"""Directory entries after which a walk ends: someone gave the root of a file system."""

_PACKED = r"(?:\.(?:gz|bz2|xz|zst|zstd))?"
_LOG = lazy.compile(
    r"\.(?:log|out|err|txt|stdout|stderr)"
    r"(?:[._-](?:\d[\w.:+-]*|old|bak|prev|previous))?" + _PACKED + "$",
    re.IGNORECASE,
)
_SCHEDULER = lazy.compile(r"\.[oe]\d+(?:[.-]\d+)?" + _PACKED + "$")  # PBS, SGE: job.o1234
_BARE = lazy.compile(r"[^.]+(?:\.\d+)?" + _PACKED)
_JSON = lazy.compile(r".+\.jsonl?" + _PACKED, re.IGNORECASE)
_DUMP = lazy.compile(r"\d+\.jsonl?" + _PACKED, re.IGNORECASE)  # verl's rollouts of one step

_NOT_LOGS = lazy.compile(
    r"(?:requirements|constraints|merges|vocab|added_tokens|special_tokens|top_level|sources"
    r"|entry_points|cmakelists|license|licence|copying|notice|readme|authors|changelog|version"
    r"|latest_checkpointed_iteration|latest|makefile|dockerfile|jenkinsfile|justfile|gemfile"
    r"|procfile|vagrantfile|codeowners)(?:[-_.][\w.-]*)?|events\.out\.tfevents.*",
    re.IGNORECASE,
)
_SKIPPED = lazy.compile(
    r"\..*|__pycache__|site-packages|dist-packages|node_modules|venv|.*\.(?:egg|dist)-info"
    r"|global_step_\d+|checkpoint-\d+|iter_\d{7}|runtime_resources"
)
_RECORD = lazy.compile(
    rb'\s*\{[^\n]{0,2000}?"(?:message|msg|log|event|level|levelname|severity|asctime|timestamp)"\s*:'
)

Verdict = Literal["log", "text", "json", "no"]


def by_name(name: str) -> Verdict:
    """What the name of a file in a folder says.

    Takes a base name. Returns `log` (a log, unless its content is binary), `text` (a log if its
    content is text), `json` (a log if it holds log records), `no`.
    """
    if name.startswith(".") or _NOT_LOGS.fullmatch(name):
        return "no"
    if _LOG.search(name) or _SCHEDULER.search(name):
        return "log"
    if _BARE.fullmatch(name):
        return "text"
    return "json" if _JSON.fullmatch(name) and not _DUMP.fullmatch(name) else "no"


def by_content(verdict: Verdict, head: bytes) -> bool:
    """Whether text that `by_name` left open is a log. Takes its verdict and the first bytes."""
    if verdict == "text":
        return not head.startswith(b"#!")
    return verdict == "log" or (verdict == "json" and _RECORD.match(head) is not None)


@dataclass(slots=True)
class Found:
    """What a walk has come across."""

    files: list[tuple[int, str, Verdict]] = field(default_factory=list)
    """Modification time in ns, path, verdict of the name."""
    looked_at: int = 0
    denied: list[tuple[str, str]] = field(default_factory=list)
    """Path and reason of every folder that could not be listed."""
    cut: bool = False
    """The walk ended at MAX_ENTRIES."""


def walk(root: str) -> Found:
    """Collects the files of a folder, at any depth, whose names can be those of logs.

    Takes a folder. Links to folders are followed where they stay below it, each folder is visited
    once, hidden folders and those of checkpoints and packages are left out. Never raises: what
    cannot be listed is in `denied`, the root itself included.
    """
    found = Found()
    visited: set[tuple[int, int]] = set()
    waiting = [root]
    inside = os.path.join(os.path.realpath(root), "")
    while waiting and not found.cut:
        folder = waiting.pop()
        if folder != root and not os.path.join(os.path.realpath(folder), "").startswith(inside):
            continue  # a link that leads out of the folder that was asked for
        try:
            info = os.stat(folder)
            if info.st_ino and (info.st_dev, info.st_ino) in visited:
                continue
            visited.add((info.st_dev, info.st_ino))
            with os.scandir(folder) as listing:
                entries = _up_to(found, listing)
        except OSError as error:
            found.denied.append((folder, error.strerror or str(error)))
            continue
        waiting += _take(entries, found)
    return found


def _up_to(found: Found, listing: Iterable[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    entries = []
    for entry in listing:
        found.looked_at += 1
        if found.looked_at > MAX_ENTRIES:
            found.cut = True
            break
        entries.append(entry)
    return entries


def _take(entries: Sequence[os.DirEntry[str]], found: Found) -> list[str]:
    """Adds the files to `found`; returns the folders, the next one to visit last.

    Real folders come before links, so that a file shows under its real path.
    """
    folders: list[tuple[bool, str]] = []
    for entry in entries:
        try:
            if entry.is_dir():
                if not _SKIPPED.fullmatch(entry.name):
                    folders.append((entry.is_symlink(), entry.path))
            elif entry.is_file() and (verdict := by_name(entry.name)) != "no":
                found.files.append((entry.stat().st_mtime_ns, entry.path, verdict))
        except OSError:  # removed meanwhile, or a link in a circle
            continue
    return [path for _, path in sorted(folders, reverse=True)]
