"""docs/threats.md and the tests name each other: no threat without a test, no test of a threat that
the page does not have."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "threats.md"
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def rows() -> dict[str, tuple[str, ...]]:
    """The page's lines: number -> what is tried, what stops it, its tests."""
    return {row[0]: row[1:] for row in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def defined(path: Path) -> set[str]:
    """The names of a file's tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("number", rows())
def test_each_threat_names_tests_that_exist(number: str) -> None:
    named = NAMED.findall(rows()[number][2])
    assert named
    for file, test in named:
        assert test in defined(TESTS / file), f"{file}::{test}"


def test_each_test_of_a_threat_is_on_the_page() -> None:
    named = set(NAMED.findall(PAGE.read_text(encoding="utf-8")))
    for path in TESTS.glob("test_hostile_*.py"):
        assert {(path.name, test) for test in defined(path)} <= named


def test_the_lines_are_numbered_without_a_gap() -> None:
    for letter in {number[0] for number in rows()}:
        found = [int(number[1:]) for number in rows() if number[0] == letter]
        assert found == list(range(1, len(found) + 1))
