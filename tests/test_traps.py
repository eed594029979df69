"""docs/traps.md: what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import ROOT
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.scan.database import Scanner

PAGE = ROOT / "docs" / "traps.md"
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| the article", "| ---"))
]
CHANNELS = {"log", "check", "metric", "hang"}


def sources(*folders: str) -> str:
    files = (path for folder in folders for path in Path(ROOT, folder).rglob("*.py"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_every_rule_that_is_named_exists(shipped: tuple[RuleBase, Scanner]) -> None:
    named = {rule for row in ROWS for rule in re.findall(r"\b[A-Z]{2,5}\d{3}\b", row[3])}
    assert named
    assert not [rule for rule in sorted(named) if shipped[0].rule(rule) is None]


def test_every_check_that_is_named_exists() -> None:
    code = sources("verl_doctor/checks")
    for row in ROWS:
        for check in re.findall(r"`(\w+\.\w+)`", row[3]):
            assert f'"{check}"' in code, check


def test_every_test_that_is_named_exists() -> None:
    code = sources("tests")
    missing = [row[4] for row in ROWS if f"def {row[4]}(" not in code]
    assert not missing


def test_channels_are_what_the_rows_name() -> None:
    for row in ROWS:
        channels = set(row[2].split(", "))
        assert channels <= CHANNELS
        assert ("check" in channels) == bool(re.search(r"`\w+\.\w+`", row[3])), row[0]
        assert ("metric" in channels) == ("MET" in row[3]), row[0]
        assert ("hang" in channels) == ("HNG" in row[3]), row[0]
