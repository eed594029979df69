"""One rule file -> checked plain data, which is what the cache keeps as JSON."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from .nodes import MAX_BYTES, Problem, Walker, compose, too_large
from .shape import RULE


def read_rule(text: str, path: str) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Checks the text of one rule file.

    Takes its text and the path that problems should name. Returns the rule as plain data (None if
    it can't be used) and every problem, with line and column.
    """
    node, problems = compose(text, path)
    if node is None:
        return None, problems
    walker = Walker(path)
    plain = walker.read(node, RULE)
    if plain is not None and not walker.problems:
        _check_whole(plain, walker)
    if walker.problems:
        return None, walker.problems
    plain["path"] = path
    return plain, []


def read_rule_file(path: Path) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Checks one rule file: `read_rule` with what can go wrong before it.

    Takes its path. Only a regular file is opened (a FIFO would wait, a device never ends), and no
    more of it is read than shows that it is too large.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None, [Problem(str(path), 1, 1, "cannot read: not a regular file")]
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            return None, [too_large(str(path))]
        text = data.decode("utf-8")
    except (OSError, ValueError) as error:
        return None, [Problem(str(path), 1, 1, f"cannot read: {error}")]
    return read_rule(text, str(path))


def _check_whole(plain: dict[str, Any], walker: Walker) -> None:
    """What one key alone can't tell: cause ids unique, an example has lines or a file."""

    def fault(at: tuple[str | int, ...], message: str) -> None:
        line, column = walker.marks.get(at, (1, 1))
        walker.problems.append(Problem(walker.path, line, column, message))

    seen: set[str] = set()
    for i, cause in enumerate(plain["causes"]):
        if cause["id"] in seen:
            fault(("causes", i), f"cause id {cause['id']!r} is used twice")
        seen.add(cause["id"])
    for side in ("match", "no_match"):
        for i, example in enumerate(plain["examples"].get(side, [])):
            if ("log" in example) == ("file" in example):
                fault(("examples", side, i), "an example has either `log` or `file`")
    kind = next(iter(plain["match"]))
    if kind == "absent" and "missing" not in plain:
        fault(("match",), "`absent` needs `missing`: the texts that should have followed")
