"""YAML nodes checked against a shape: all problems of a file at once, each with line and column.

Nodes, not values: PyYAML's loader keeps the last of two equal keys in silence and reads `no` as
False. Here every scalar is text until its shape says otherwise; tags, anchors and aliases are
refused, so a file can be neither a bomb nor a program.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

import yaml

from .. import lazy
from .patterns import fault_of
from .shape import Bool, Map, Number, Seq, Shape, Str

MAX_BYTES = 256 * 1024
"""A rule file larger than this is refused: the largest shipped one has 20 KiB."""

PLAIN_TAGS = frozenset(
    ("str", "int", "float", "bool", "null", "timestamp", "seq", "map", "merge", "value")
)
"""What an untagged node can resolve to; every other tag is refused."""

_HIDDEN = lazy.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What a terminal obeys and a reader does not see: in a rule it could only mislead."""

try:
    from yaml import CSafeLoader as Loader
except ImportError:  # libyaml missing: 20 times slower, the same result
    from yaml import SafeLoader as Loader  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a rule file: where (1-based), what, and what to write instead."""

    path: str
    line: int
    column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        tail = f" ({self.hint})" if self.hint else ""
        return f"{self.path}:{self.line}:{self.column}: {self.message}{tail}"


def too_large(path: str) -> Problem:
    """The problem of a rule file beyond MAX_BYTES."""
    return Problem(path, 1, 1, f"rule file is larger than {MAX_BYTES // 1024} KiB")


def compose(text: str, path: str) -> tuple[yaml.Node | None, list[Problem]]:
    """Parses one YAML document into its node tree.

    Takes the file's text and the path to name in problems; returns the root node (None if there
    is none) and the problems found. Aliases are refused while the text is read, before they can
    expand.
    """
    if len(text) > MAX_BYTES:
        return None, [too_large(path)]
    try:
        for event in yaml.parse(text, Loader=Loader):
            if isinstance(event, yaml.AliasEvent):
                return None, [Problem(path, *_position(event), "YAML aliases are not allowed")]
        node = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        found = error.problem_mark or error.context_mark
        line, column = (found.line + 1, found.column + 1) if found else (1, 1)
        snippet = "".join(text.split("\n")[line - 1 : line]).strip()
        words = (error.problem or "not YAML").replace("\n", " ")
        return None, [Problem(path, line, column, f"YAML syntax: {words}", f"at: {snippet[:60]}")]
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return None, [Problem(path, 1, 1, f"YAML syntax: {error}")]
    if node is None:
        return None, [Problem(path, 1, 1, "the file is empty")]
    return node, []


class Walker:
    """Walks a node tree beside a shape; `problems` grows, the returned data is plain and clean."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.marks: dict[tuple[str | int, ...], tuple[int, int]] = {}
        """Position of every value, by its path of keys and indexes."""

    def fault(self, node: yaml.Node, message: str, hint: str = "") -> None:
        """Adds a problem at the node's place."""
        mark = node.start_mark
        self.problems.append(Problem(self.path, mark.line + 1, mark.column + 1, message, hint))

    def read(self, node: yaml.Node, shape: Shape, at: tuple[str | int, ...] = ()) -> Any:
        """The node's value as plain data, or None where it does not fit (a problem is added)."""
        self.marks[at] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if node.tag and node.tag.removeprefix("tag:yaml.org,2002:") not in PLAIN_TAGS:
            return self.fault(node, f"YAML tag {node.tag} is not allowed")
        if isinstance(shape, Map):
            return self._map(node, shape, at)
        if isinstance(shape, Seq):
            return self._seq(node, shape, at)
        return self._scalar(node, shape, at)

    def _scalar(self, node: yaml.Node, shape: Shape, at: tuple[str | int, ...]) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            return self.fault(node, f"{_name(at)} must be one value, not a list or mapping")
        text: str = node.value
        if isinstance(shape, Number):
            try:
                return int(text) if shape.integer else float(text)
            except ValueError:
                return self.fault(node, f"{_name(at)} must be a number, not {text!r}")
        if isinstance(shape, Bool):
            if text in ("true", "false"):
                return text == "true"
            return self.fault(node, f"{_name(at)} must be true or false, not {text!r}")
        assert isinstance(shape, Str)
        if shape.choices and text not in shape.choices:
            return self.fault(
                node, f"{_name(at)}: unknown word {text!r}", _nearest(text, shape.choices)
            )
        if shape.pattern and not re.fullmatch(shape.pattern, text):
            return self.fault(node, f"{_name(at)}: {text!r} does not fit {shape.pattern}")
        if shape.longest and len(text) > shape.longest:
            return self.fault(node, f"{_name(at)} is longer than {shape.longest} characters")
        if hidden := _HIDDEN.search(text):
            code = ord(hidden[0])
            return self.fault(node, f"{_name(at)} holds an invisible character (U+{code:04X})")
        if shape.regex and (fault := fault_of(text)):
            return self.fault(node, f"{_name(at)}: bad regular expression: {fault}")
        if not text.strip():
            return self.fault(node, f"{_name(at)} is empty")
        return text

    def _seq(self, node: yaml.Node, shape: Seq, at: tuple[str | int, ...]) -> Any:
        if not isinstance(node, yaml.SequenceNode):
            if shape.scalar:
                value = self.read(node, shape.item, at)
                return [] if value is None else [value]
            return self.fault(node, f"{_name(at)} must be a list (`- …`)")
        if len(node.value) < shape.at_least:
            self.fault(node, f"{_name(at)} needs at least {shape.at_least}")
        values = [self.read(item, shape.item, (*at, i)) for i, item in enumerate(node.value)]
        return [value for value in values if value is not None]

    def _map(self, node: yaml.Node, shape: Map, at: tuple[str | int, ...]) -> Any:
        if not isinstance(node, yaml.MappingNode):
            return self.fault(node, f"{_name(at)} must be a mapping (`key: value`)")
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None or _HIDDEN.search(key):
                self.fault(key_node, "a key must be one word")
            elif key in result:
                self.fault(key_node, f"key {key!r} is given twice")
            elif shape.values is not None:
                result[key] = self.read(value_node, shape.values, (*at, key))
            elif key not in shape.fields:
                self.fault(
                    key_node, f"unknown key {key!r} in {_name(at)}", _nearest(key, shape.fields)
                )
            else:
                result[key] = self.read(value_node, shape.fields[key], (*at, key))
        for key in shape.required:
            if key not in result:
                self.fault(node, f"{_name(at)} lacks {key!r}")
        if shape.one_of and len(result) != 1:
            self.fault(node, f"{_name(at)} must hold exactly one of: {', '.join(shape.fields)}")
        return {key: value for key, value in result.items() if value is not None}


def _position(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _name(at: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in at) or "the rule"


def _nearest(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known)[:12])}"
