"""Finds rule folders, reads them through the cache, and compiles the scanner once.

The cache is good for rule files of the same names, sizes and times, and any doubt about it means
reading the rules again.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import RuleError
from ..scan.anchors import ANCHORS
from .base import RuleBase, by_id
from .cache import cache_folder, read_private, write_private
from .compiled import dump, parse

if TYPE_CHECKING:
    from ..model import Rule
    from ..scan.database import Scanner
    from .nodes import Problem

FORMAT = "5"
"""Raised when the plain data or the layout of the cache changes its meaning."""


def shipped_rules() -> Path:
    """The folder of the shipped rules: inside the wheel, or beside the package."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "rules"
    return inside if inside.is_dir() else package.parent / "rules"


def user_rules() -> Path:
    """Where a user's own rules are looked for: `$XDG_CONFIG_HOME/verl-doctor/rules`."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(config) / "verl-doctor" / "rules"


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


def files_named(ids: Collection[str], folders: Sequence[Path]) -> Iterator[Path]:
    """The files of rules with these ids, by their names: `<ID>-<slug>.yaml`.

    Takes the ids and the folders; yields in the folders' order. No file is opened.
    """
    for folder in folders:
        for path in rule_files(folder):
            if path.stem.partition("-")[0] in ids:
                yield path


def read_rules(folders: Sequence[Path]) -> tuple[list[dict[str, Any]], list[Problem], list[str]]:
    """Reads every rule file.

    Takes the folders, weakest first. Returns the plain rules (a later folder's rule replaces one
    of the same id), all problems, and notes on what was replaced.
    """
    from .nodes import Problem
    from .read import read_rule_file  # PyYAML costs 14 ms, and a cached start needs none of it

    rules: dict[str, dict[str, Any]] = {}
    origin: dict[str, Path] = {}
    problems: list[Problem] = []
    notes: list[str] = []
    for folder in folders:
        for path in rule_files(folder):
            plain, found = read_rule_file(path)
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
            if folder != folders[0]:
                notes += _shadows(plain, origin, folders[0])
            rules[rule_id] = plain
            origin[rule_id] = folder
    return list(rules.values()), problems, notes


def read_named(ids: Collection[str], folders: Sequence[Path]) -> dict[str, Rule]:
    """A few rules by their ids, without reading the others.

    Takes the ids and the folders, weakest first. A rule is found by its file's name; one that
    isn't there, or is broken, is left out.
    """
    from .build import build_rule
    from .read import read_rule_file

    found = {}
    for path in files_named(ids, folders):
        plain, _ = read_rule_file(path)
        if plain is not None:
            found[plain["id"]] = build_rule(plain)
    return found


def _shadows(plain: dict[str, Any], origin: dict[str, Path], shipped: Path) -> list[str]:
    """Notes on the shipped rules that a rule of another folder keeps out of sight."""
    hidden = plain.get("relations", {}).get("supersedes", ())
    return [
        f"rule {other} is hidden by {plain['path']} where both match"
        for other in hidden
        if origin.get(other) == shipped
    ]


def _stamp(folders: Sequence[Path]) -> bytes:
    """What a cache has to be made from to be good: this program and these rule files."""
    lines = [f"{FORMAT} {__version__} {sys.byteorder} {ANCHORS}"]
    for folder in folders:
        lines.append(os.fspath(folder))
        lines += sorted(_listed(os.fspath(folder)))
    return "\n".join((*lines, "")).encode("utf-8", "surrogateescape")


def _listed(folder: str) -> Iterator[str]:
    """Path, size and time of each rule file below a folder."""
    try:
        entries = list(os.scandir(folder))
    except OSError:  # not for us to read
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _listed(entry.path)
        elif entry.name.endswith((".yaml", ".yml")):
            try:
                found = entry.stat()
            except OSError:  # a link to nowhere
                found = entry.stat(follow_symlinks=False)
            yield f"{entry.path} {found.st_size} {found.st_mtime_ns}"


def load(extra: Sequence[str] = (), *, cache: bool = True) -> tuple[RuleBase, Scanner]:
    """The rule base and its scanner, from the cache where it is fresh.

    Takes further rule folders. A broken rule is left out with a note. Errors: RuleError where a
    folder does not exist.
    """
    from ..scan.database import Scanner

    folders = rule_folders(extra)
    if not folders[0].is_dir():
        raise RuleError(f"the shipped rules are missing at {folders[0]}: reinstall verl-doctor")
    # a run with further folders does not cost the next one without them its cache
    file = cache_folder() / ("rules" if len(folders) == 1 else "rules-of-more-folders")
    stamp = _stamp(folders)
    if cache and (data := read_private(file)):
        with contextlib.suppress(Exception):  # any doubt: read the rules again
            if known := parse(data, stamp):
                return known
    rules, problems, notes = read_rules(folders)
    notes += [f"rule left out: {problem}" for problem in problems]
    base = RuleBase(by_id(rules), notes)
    scanner = Scanner.compile(base.literals)
    if cache:
        write_private(file, dump(stamp, base, scanner))
    return base, scanner
