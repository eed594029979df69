"""Every rule on every genuine log: what is said, where, and no hit that nobody has looked at.

`scripts/refresh_expected.py` rewrites the expectations; its diff is to be read line by line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.conftest import ROOT
from verl_doctor.authoring.proof import Prover
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.scan.database import Scanner

sys.path.insert(0, str(ROOT / "scripts"))
from refresh_expected import EXPECTED, FIXTURES, logs, said

WANT: dict[str, Any] = json.loads(EXPECTED.read_text(encoding="utf-8"))
HEALTHY = [name for name in WANT if "healthy" in name or "ray-color-prefix-forced" in name]


@pytest.fixture(scope="module")
def prover(shipped: tuple[RuleBase, Scanner]) -> Prover:
    return Prover(*shipped)


def test_every_log_has_an_expectation() -> None:
    assert sorted(WANT) == [str(path.relative_to(FIXTURES)) for path in logs()]


@pytest.mark.parametrize("name", WANT)
def test_log(shipped: tuple[RuleBase, Scanner], prover: Prover, name: str) -> None:
    assert said(FIXTURES / name, *shipped, prover) == WANT[name]


def test_healthy_logs_raise_no_alarm() -> None:
    assert len(HEALTHY) >= 12
    assert {WANT[name]["verdict"] for name in HEALTHY} <= {"healthy", "unknown"}


def test_failures_are_named_by_a_rule() -> None:
    failed = [one for one in WANT.values() if one["verdict"] == "failed"]
    assert sum(one["rule"] is None for one in failed) <= len(failed) // 50
