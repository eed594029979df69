"""The metric rules against simulated runs: troubles are found soon, healthy runs stay quiet.

A small version of `python -m benchmarks.inject_troubles`; docs/metrics.md holds the large one.
"""

from __future__ import annotations

import random

import pytest

from benchmarks.inject_troubles import FOLLOWED, SOON, TROUBLES, Trouble, strike
from benchmarks.simulate_runs import fired, healthy
from tests.conftest import Doctor
from verl_doctor.model import severity_rank

SLOW = ("MET035", "MET037", "MET054")
"""Memory that creeps and validations that stand still are a matter of dozens of steps."""


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda one: one.name)
def test_an_injected_trouble_is_found(doctor: Doctor, trouble: Trouble) -> None:
    delays = [strike(trouble, seed, doctor.base, doctor.scanner).delay for seed in range(2)]
    found = sorted(delay for delay in delays if delay is not None)
    assert len(found) == 2, "found in every run"
    # a resume that repeats the bad steps puts it off in one of them
    assert found[0] <= (FOLLOWED if trouble.rules[0] in SLOW else SOON)


def test_healthy_runs_raise_no_alarm(doctor: Doctor) -> None:
    for seed in range(40):
        log = "\n".join(healthy(random.Random(seed))) + "\n"
        alarms = [
            rule
            for rule, severity in fired(doctor.base, doctor.scanner, log)
            if severity_rank(severity) <= severity_rank("medium")
        ]
        assert alarms == [], f"seed {seed}"
