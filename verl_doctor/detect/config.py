"""The settings of the run, as far as its own log tells them: overrides and the dumped config."""

from __future__ import annotations

import ast
from typing import Any

from .. import lazy

_HYDRA = lazy.compile(r"Error executing job with overrides: (\[.*)$")
_COMMAND = lazy.compile(r"(-m verl\.[\w.]+) (.+)$")
_ITEM = lazy.compile(
    r"(?:^|\s)(\+{0,2}~?[A-Za-z_][\w.@]*="
    r"(?:'[^']{0,2000}'|\"[^\"]{0,2000}\"|\[[^\]]{0,2000}\]|\S*))"
)
_QUOTED = lazy.compile(r"'((?:[^'\\]|\\.)*)('?)")
"""Takes an unclosed quote to the end too: what was read once is not searched again."""

MAX_DUMP_CHARS = 400_000


class Settings:
    """Collects overrides and config; later lines do not replace what an earlier one said."""

    def __init__(self) -> None:
        self.overrides: tuple[str, ...] = ()
        self.command = ""
        """`python -m verl.…`, without the overrides."""
        self.config: dict[str, Any] = {}

    def overrides_line(self, text: str) -> None:
        """Takes hydra's `Error executing job with overrides: [...]` or a traced command line."""
        hydra = _HYDRA.search(text)
        if hydra:
            try:
                items = ast.literal_eval(hydra[1].strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                items = [found[1] for found in _QUOTED.finditer(hydra[1]) if found[2]]
            if isinstance(items, list):
                self.overrides = tuple(str(item) for item in items)
            return
        command = _COMMAND.search(text)
        if command and not self.overrides:
            self.command = f"python {command[1]}"
            self.overrides = tuple(found.group(1) for found in _ITEM.finditer(command[2]))

    def dump(self, text: str) -> None:
        """Takes the text of a pretty-printed config (a Python literal); ignored if it is none."""
        if self.config or len(text) > MAX_DUMP_CHARS:
            return
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return
        if isinstance(value, dict):
            self.config = value

    def get(self, key: str) -> Any:
        """The effective value of a dotted key: an override's text, else the dump's, or None."""
        for item in reversed(self.overrides):
            name, _, value = item.lstrip("+~").partition("=")
            if name == key:
                return value
        node: Any = self.config
        for part in key.split("."):
            if not isinstance(node, dict) or part not in node:
                return None
            node = node[part]
        return node
