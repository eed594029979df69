"""Finds rule folders, reads them through the cache, and compiles the scanner once.

The cache holds JSON and hyperscan's own serialised form, never pickle; it is keyed by the rule
files' names, sizes and times, and any doubt about it means reading the rules again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import RuleError
from ..scan.anchors import ANCHORS
from .base import RuleBase

if TYPE_CHECKING:
    from ..model import Rule
    from ..scan.database import Scanner
    from .nodes import Problem

FORMAT = "3"
"""Raised when the plain data changes its meaning."""


def shipped_rules() -> Path:
    """The folder of the shipped rules: inside the wheel, or beside the package."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "rules"
    return inside if inside.is_dir() else package.parent / "rules"


def user_rules() -> Path:
    """Where a user's own rules are looked for: `$XDG_CONFIG_HOME/verl-doctor/rules`."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(config) / "verl-doctor" / "rules"


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/verl-doctor`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "verl-doctor"


def rule_folders(extra: Sequence[str] = ()) -> list[Path]:
    """Folders in order of strength, weakest first: shipped, user's, `$VERL_DOCTOR_RULES`, `extra`.

    Errors: RuleError where a folder that was asked for is not there.
    """
    folders = [shipped_rules()]
    if user_rules().is_dir():
        folders.append(user_rules())
    asked = [part for part in os.environ.get("VERL_DOCTOR_RULES", "").split(os.pathsep) if part]
    for name in (*asked, *extra):
        folder = Path(name)
        if not folder.is_dir():
            raise RuleError(f"rule folder {name} does not exist or is no folder")
        folders.append(folder)
    return folders


def rule_files(folder: Path) -> list[Path]:
    """The rule files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.y*ml") if path.suffix in (".yaml", ".yml"))


def read_rules(folders: Sequence[Path]) -> tuple[list[dict[str, Any]], list[Problem], list[str]]:
    """Reads every rule file.

    Takes the folders, weakest first. Returns the plain rules (a later folder's rule replaces one
    of the same id), all problems, and notes on what was replaced.
    """
    from .nodes import Problem
    from .read import read_rule  # PyYAML costs 14 ms, and a cached start needs none of it

    rules: dict[str, dict[str, Any]] = {}
    origin: dict[str, Path] = {}
    problems: list[Problem] = []
    notes: list[str] = []
    for folder in folders:
        for path in rule_files(folder):
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                problems.append(Problem(str(path), 1, 1, f"cannot read: {error}"))
                continue
            plain, found = read_rule(text, str(path))
            problems += found
            if plain is None:
                continue
            rule_id = plain["id"]
            if rule_id in rules:
                if origin[rule_id] == folder:
                    problems.append(
                        Problem(
                            str(path), 1, 1, f"id {rule_id} is also in {rules[rule_id]['path']}"
                        )
                    )
                    continue
                notes.append(f"rule {rule_id} of {rules[rule_id]['path']} is replaced by {path}")
            rules[rule_id] = plain
            origin[rule_id] = folder
    return list(rules.values()), problems, notes


def read_named(ids: Collection[str], folders: Sequence[Path]) -> dict[str, Rule]:
    """A few rules by their ids, without reading the others.

    Takes the ids and the folders, weakest first. A rule is found by its file's name,
    `<ID>-<slug>.yaml`; one that isn't there, or is broken, is left out.
    """
    from .build import build_rule
    from .read import read_rule

    found = {}
    for path in (path for folder in folders for path in rule_files(folder)):
        if path.stem.partition("-")[0] not in ids:
            continue
        with contextlib.suppress(OSError, UnicodeDecodeError):
            plain, _ = read_rule(path.read_text(encoding="utf-8"), str(path))
            if plain is not None:
                found[plain["id"]] = build_rule(plain)
    return found


def _fingerprint(folders: Sequence[Path]) -> str:
    digest = hashlib.sha256(f"{FORMAT} {__version__} {sys.byteorder} {ANCHORS}".encode())
    for folder in folders:
        digest.update(f"\n{folder}".encode())
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith((".yaml", ".yml")):
                    found = os.stat(os.path.join(root, name))
                    digest.update(f"{name} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


def _read_private(path: Path) -> bytes | None:
    """The bytes of a cache file, only if it is a plain file of ours that others can't write."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o022:
            return None
        if hasattr(os, "getuid") and found.st_uid != os.getuid():
            return None
        return file.read()


def write_private(path: Path, data: bytes) -> bool:
    """Writes a cache file whole or not at all, for its owner alone; returns whether it was
    written: a cache that can't be is no error."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        return True
    return False


def load(extra: Sequence[str] = (), *, cache: bool = True) -> tuple[RuleBase, Scanner]:
    """The rule base and its scanner, from the cache where it is fresh.

    Takes further rule folders. A broken rule is left out with a note. Errors: RuleError where a
    folder does not exist.
    """
    from ..scan.database import Scanner

    folders = rule_folders(extra)
    if not folders[0].is_dir():
        raise RuleError(f"the shipped rules are missing at {folders[0]}: reinstall verl-doctor")
    key = _fingerprint(folders)
    store = cache_folder()
    if cache:
        text, compiled = _read_private(store / f"{key}.json"), _read_private(store / f"{key}.hs")
        if text and compiled:
            with contextlib.suppress(Exception):  # any doubt: read the rules again
                data = json.loads(text)
                return RuleBase(data["rules"], data["notes"]), Scanner.load(compiled)
    rules, problems, notes = read_rules(folders)
    notes += [f"rule left out: {problem}" for problem in problems]
    base = RuleBase(rules, notes)
    scanner = Scanner.compile(base.literals)
    if cache:
        for old in list(store.glob("*.json")) + list(store.glob("*.hs")):
            with contextlib.suppress(OSError):
                old.unlink()
        write_private(store / f"{key}.json", json.dumps({"rules": rules, "notes": notes}).encode())
        write_private(store / f"{key}.hs", scanner.dump())
    return base, scanner
