"""How an editor is started at a line of the log that was opened; never with a path out of a log."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

_PLUS = frozenset(
    ("vi", "vim", "nvim", "view", "gvim", "nano", "emacs", "emacsclient", "kak", "micro", "joe")
)
"""Editors that take `+LINE FILE`."""
_COLON = frozenset(["hx", "helix", "subl", "zed"])
"""Editors that take `FILE:LINE`."""
_GOTO = frozenset(["code", "codium", "cursor", "code-insiders"])
"""Editors that take `--goto FILE:LINE`, and must be told to wait."""


def command(path: str, line: int | None) -> list[str] | None:
    """The arguments that open a file at a line, for no shell; None where no editor is set.

    Takes the path of the opened log and a 1-based line, if it is known. `$VISUAL` wins over
    `$EDITOR`; both may hold arguments.
    """
    asked = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(asked)
    except ValueError:
        return None
    if not words:
        return None
    target = str(Path(path).absolute())  # a name such as `-c` is no option
    name = Path(words[0]).name
    if line is None:
        return [*words, target]
    if name in _GOTO:
        return [*words, "--wait", "--goto", f"{target}:{line}"]
    if name in _COLON:
        return [*words, f"{target}:{line}"]
    if name in _PLUS:
        return [*words, f"+{line}", target]
    return [*words, target]
