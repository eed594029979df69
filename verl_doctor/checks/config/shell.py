"""Reads the launch of verl out of a shell script, without running anything.

Assignments, defaults (`${N:-8}`), plain sums and arrays are followed; where a variable is set under
a condition, in a loop or from a command, its value is unknown.
"""

from __future__ import annotations

import ast
import operator
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from .inputs import MODULE, UNKNOWN, Command, command, override

_ASSIGNMENT = re.compile(
    r"(?:export\s+|local\s+|readonly\s+)?(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.S
)
_ARRAY = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)(?P<add>\+)?=\((?P<items>.*)\)\s*$", re.S)
_ARRAY_OPEN = re.compile(r"\s*[A-Za-z_]\w*\+?=\((?!\()")
_WHOLE_ARRAY = re.compile(r"\$\{(\w+)\[[@*]\]\}")
_VARIABLE = re.compile(
    r"\$\{(?P<braced>\w+)(?::?[-=](?P<default>(?:[^{}]|\$\{[^{}]*\})*))?\}|\$(?P<bare>\w+)"
)
_ALL_ARGUMENTS = re.compile(r"\$(?:[@*]|\{[@*](?::\d+)?\})")
_OPENS = re.compile(
    r"^\s*(?:if|for|while|until|case|select)\b|^\s*[\w-]+\s*\(\)\s*\{|^\s*function\b"
)
_CLOSES = re.compile(r"^\s*(?:fi\b|done\b|esac\b|\})")
_CLOSES_HERE = re.compile(r"[;\s](?:fi|done|esac|\})\s*$")
_ARITHMETIC = re.compile(r"\$\(\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\)")
_SUBSHELL = re.compile(r"\$\([^()]*\)")
_CUT = re.compile(r"\\[ \t]+(?:#.*)?$")
"""A backslash that no line end follows continues nothing."""
_NAME = re.compile(r"\$?\{?([A-Za-z_]\w*)\}?")
_CONTROL = re.compile(r"\|\|?|&&?|;|\d*(?:>>?|<).*|&>.*")
_SUMS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
MAX_SCRIPT = 1 << 20
"""Characters of a script that are read."""
MAX_LINE = 100_000
MAX_DEPTH = 5
"""Defaults within defaults that are followed."""


def script(text: str, environment: Mapping[str, str]) -> Command:
    """The launch of verl in a shell script: the last one, if there are several.

    Takes the text and the variables that the script would inherit. Where the script sets a variable
    under a condition, in a loop or from a command, its value is unknown.
    """
    shell = _Shell(dict(environment))
    for line in _logical_lines(text):
        shell.read(line)
    return replace(shell.command, cut=_cut(text, shell.command))


def _cut(text: str, found: Command) -> tuple[str, ...]:
    """Lines at which a launch ends although more of it seems to follow."""
    if not found.module:
        return ()
    lines = text.split("\n")
    return tuple(
        f"{number}: {line.strip()}"
        for number, (line, after) in enumerate(pairwise(lines), start=1)
        if _CUT.search(line) and override(after.strip().rstrip("\\").strip()) is not None
    )


@dataclass(slots=True)
class _Shell:
    variables: dict[str, str]
    arrays: dict[str, list[str]] = field(default_factory=dict)
    command: Command = field(default_factory=Command)
    depth: int = 0

    def read(self, line: str) -> None:
        line = _ARITHMETIC.sub(self.total, line)
        if _OPENS.search(line) and not _CLOSES_HERE.search(line):
            self.depth += 1
            return
        if _CLOSES.search(line):
            self.depth = max(0, self.depth - 1)
            return
        array = _ARRAY.match(line)
        if array:
            items = self.words(_split(array["items"]) or [])
            if self.depth:  # whether this branch is taken is not known
                items = [re.sub(r"=.*", f"={UNKNOWN}", item, flags=re.S) for item in items]
            old = self.arrays.get(array["name"], []) if array["add"] else []
            self.arrays[array["name"]] = [*old, *items]
            return
        words = _split(line) or []
        assignment = _ASSIGNMENT.fullmatch(line.strip()) if words else None
        if assignment and (len(words) == 1 or words[0] in ("export", "local", "readonly")):
            for word in words:
                one = _ASSIGNMENT.fullmatch(word)
                if one:
                    self.set(one["name"], one["value"])
            return
        if any(MODULE.fullmatch(word) or word.endswith(".py") for word in words):
            end = next((i for i, word in enumerate(words) if _CONTROL.fullmatch(word)), None)
            found = command(self.words(words[:end]))
            if found.module:
                self.command = found

    def set(self, name: str, value: str) -> None:
        new = self.expand(value)
        if self.depth and self.variables.get(name, new) != new:
            new = UNKNOWN
        self.variables[name] = new

    def total(self, found: re.Match[str]) -> str:
        """The value of `$(( … ))`, where it is made of whole numbers and known variables."""
        text = _NAME.sub(lambda name: self.variables.get(name[1], UNKNOWN), found[1]).strip()
        try:
            return str(_total(ast.parse(text, mode="eval").body))
        except (SyntaxError, ValueError, ArithmeticError, RecursionError):
            return UNKNOWN

    def words(self, words: Iterable[str]) -> list[str]:
        result = []
        for word in words:
            whole = _WHOLE_ARRAY.fullmatch(word)
            if whole:
                result += self.arrays.get(whole[1], [f"{UNKNOWN}{{{whole[1]}[@]}}"])
            elif _ALL_ARGUMENTS.fullmatch(word):
                continue
            else:
                text = self.expand(word)
                several = _VARIABLE.fullmatch(word) and " " in text and "=" in text
                result += (_split(text) or []) if several else [text]
        return result

    def expand(self, text: str, depth: int = 0) -> str:
        """Replaces variables; what needs a subshell or arithmetic stays unknown."""
        if "$(" in text or "`" in text:
            return UNKNOWN

        def value(found: re.Match[str]) -> str:
            name = found["braced"] or found["bare"]
            set_ = self.variables.get(name, "")
            if set_:
                return set_
            default = found["default"]
            if default is not None and depth < MAX_DEPTH:
                return self.expand(default.strip("\"'"), depth + 1)
            return f"{UNKNOWN}{name}"

        return re.sub(r"\$\{[^{}]*\}", UNKNOWN, _VARIABLE.sub(value, text))


def _total(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_total(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
        return int(_SUMS[type(node.op)](_total(node.left), _total(node.right)))
    raise ValueError("not a sum of whole numbers")


def _split(line: str) -> list[str] | None:
    """Words as a shell would split them, quotes taken away; None where it doesn't end here."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return None


def _logical_lines(text: str) -> Iterable[str]:
    """Lines with continuations, open quotes and open arrays joined."""
    held = ""
    for line in text[:MAX_SCRIPT].split("\n"):
        stripped = line.rstrip()
        if not held and stripped.lstrip().startswith("#"):
            continue
        if stripped.endswith("\\"):
            held += stripped[:-1] + " "
            continue
        whole = held + line
        if (_split(whole) is None or _open_array(whole)) and len(whole) < MAX_LINE:
            held = whole + "\n"
            continue
        held = ""
        yield whole
    if held:
        yield held


def _open_array(line: str) -> bool:
    if not _ARRAY_OPEN.match(line):
        return False
    plain = _SUBSHELL.sub("0", _ARITHMETIC.sub("0", _without_comments(line)))
    return not _ARRAY.match(plain)


def _without_comments(line: str) -> str:
    return "\n".join(re.sub(r"(?:^|\s)#.*$", "", part) for part in line.split("\n"))
