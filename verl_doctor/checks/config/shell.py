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
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?<!\S)#.*""")
_CLOSED = {"'": re.compile("[^']*'"), '"': re.compile(r'(?:\\.|[^"\\])*"')}
"""A line up to the end of the quote that was open before it."""
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
"""Characters of a line with its continuations."""
MAX_EXPANDED = 4 << 20
"""Characters and words that all variables of a script together become; a script has some hundred
lines, and one line can double what the one before it has set."""
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
    room: int = MAX_EXPANDED

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
            if not array["add"]:
                self.arrays[array["name"]] = []
            self.arrays.setdefault(array["name"], []).extend(items)
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
        text = _NAME.sub(lambda name: self.fits(self.variables.get(name[1], UNKNOWN)), found[1])
        try:
            return str(_total(ast.parse(text.strip(), mode="eval").body))
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
            return UNKNOWN

    def words(self, words: Iterable[str]) -> list[str]:
        result = []
        for word in words:
            whole = _WHOLE_ARRAY.fullmatch(word)
            if whole:
                items = self.arrays.get(whole[1])
                if items is None or len(items) > self.room:
                    items = [f"{UNKNOWN}{{{whole[1]}[@]}}"]
                self.room -= len(items)
                result += items
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
                return self.fits(set_)
            default = found["default"]
            if default is not None and depth < MAX_DEPTH:
                return self.fits(self.expand(default.strip("\"'"), depth + 1))
            return f"{UNKNOWN}{name}"

        return re.sub(r"\$\{[^{}]*\}", UNKNOWN, _VARIABLE.sub(value, text))

    def fits(self, text: str) -> str:
        """A value that takes a variable's place: unknown once all of them have grown too long."""
        self.room -= len(text)
        return text if self.room >= 0 else UNKNOWN


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
    """Lines with continuations, open quotes and open arrays joined; each is read once."""
    held, quote, depth = "", "", 0
    for line in text[:MAX_SCRIPT].split("\n"):
        stripped = line.rstrip()
        if not held and stripped.lstrip().startswith("#"):
            continue
        goes_on = stripped.endswith("\\")
        part = stripped[:-1] if goes_on else line
        bare, quote = _unquoted(part, quote)
        depth += bare.count("(") - bare.count(")")
        held += part + (" " if goes_on else "\n")
        is_open = goes_on or quote or (depth > 0 and _ARRAY_OPEN.match(held))
        if not is_open or len(held) >= MAX_LINE:
            yield held[:-1]
            held, quote, depth = "", "", 0
    if held:
        yield held


def _unquoted(line: str, quote: str) -> tuple[str, str]:
    """What of a line stands outside quotes and comments, and the quote that is open behind it.

    Takes the line and the quote that was open before it, or "".
    """
    if quote:
        closed = _CLOSED[quote].match(line)
        if closed is None:
            return "", quote
        line = line[closed.end() :]
    bare = _QUOTED.sub("", line)
    opened = re.search("[\"']", bare)
    return (bare[: opened.start()], opened[0]) if opened else (bare, "")
