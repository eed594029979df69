"""When a wait is too long: by the run's own rhythm, per kind of gap; and pauses after the fact."""

from __future__ import annotations

import pytest

from tests.conftest import Doctor
from verl_doctor.detect.cadence import FACTOR, LEAST_S, START_S, UNSEEN_S, Cadence

STEP = 100.0


def stepped(steps: int, seconds: float = STEP) -> tuple[Cadence, float]:
    """A cadence that has seen so many steps of the same length, and the time."""
    cadence = Cadence(0.0)
    for number in range(1, steps + 1):
        cadence.step(number, number * seconds)
    return cadence, steps * seconds


def test_before_there_is_a_rhythm_a_start_may_take_its_time() -> None:
    cadence = Cadence(0.0)
    assert (cadence.kind, cadence.limit_s()) == ("start", START_S)
    cadence.phase("training", 50.0)
    assert (cadence.kind, cadence.since) == ("first_step", 50.0)
    cadence.step(1, 900.0)
    cadence.step(2, 1000.0)
    assert cadence.limit_s() == START_S


def test_a_wait_is_measured_by_the_median_step() -> None:
    cadence, _ = stepped(5)
    assert cadence.usual_s() == STEP
    assert cadence.limit_s() == FACTOR * STEP


def test_a_run_whose_steps_differ_is_given_more_time() -> None:
    cadence, now = stepped(5)
    cadence.step(6, now + 400.0)
    assert cadence.limit_s() == 500.0  # 1.25 times the longest that it recovered from


def test_a_pause_is_no_reason_to_wait_as_long_the_next_time() -> None:
    cadence, now = stepped(5)
    cadence.step(6, now + 7200.0)
    assert cadence.limit_s() == FACTOR * STEP


def test_fast_steps_are_no_reason_for_an_alarm() -> None:
    cadence, _ = stepped(5, 0.5)
    assert cadence.limit_s() == LEAST_S


@pytest.mark.parametrize("phase", ["validation", "checkpoint"])
def test_validation_and_checkpoint_have_a_rhythm_of_their_own(phase: str) -> None:
    cadence, now = stepped(5)
    cadence.phase(phase, now + 10)
    assert cadence.limit_s() == FACTOR * STEP + UNSEEN_S[phase]
    gap = cadence.step(6, now + 1000.0)
    assert gap
    assert (gap.kind, gap.long) == (phase, False)
    # the step's own rhythm has not learnt from it, the phase's has
    assert cadence.limit_s() == FACTOR * STEP
    cadence.phase(phase, now + 1010)
    assert cadence.limit_s() == FACTOR * 1000.0


def test_a_restart_begins_a_new_wait_and_keeps_the_rhythm() -> None:
    cadence, now = stepped(5)
    cadence.phase("launch", now + 5000.0)
    assert cadence.limit_s() == START_S
    gap = cadence.step(4, now + 5600.0)
    assert gap
    assert (gap.kind, gap.seconds) == ("start", 600.0)
    assert cadence.limit_s() == FACTOR * STEP


# --- after the fact ------------------------------------------------------------------------------


def stamped(times: list[str]) -> bytes:
    """Step lines with these stamps."""
    return b"".join(
        f"2026-12-01T{time}Z (TaskRunner pid=7) step:{i} - actor/lr:1e-6\n".encode()
        for i, time in enumerate(times, 1)
    )


BEFORE = ["01:00:00", "01:01:00", "01:02:00", "01:03:00"]


def test_a_run_that_froze_and_went_on_is_told(doctor: Doctor) -> None:
    report = doctor(stamped([*BEFORE, "03:03:00", "03:04:00", "03:05:00"]))
    found = next(one for one in report.findings if one.rule == "HNG030")
    assert "Step 5 took 2:00:00" in found.title
    assert "usual are 0:01:00" in found.title
    assert (found.role, found.evidence[0].line) == ("advice", 5)
    assert report.phase.first_time is not None
    assert report.phase.last_time == report.phase.first_time + 2 * 3600 + 5 * 60


def test_a_slow_step_is_no_pause(doctor: Doctor) -> None:
    report = doctor(stamped([*BEFORE, "01:07:00", "01:08:00"]))
    assert "HNG030" not in [one.rule for one in report.findings]


def test_stamps_of_other_lines_date_no_step(doctor: Doctor) -> None:
    # the steps have no time of their own: the hour between the errors says nothing about them
    step = b"".join(b"(TaskRunner pid=7) step:%d - actor/lr:1e-6\n" % i for i in range(1, 6))
    error = b"2026-12-01T%s:00:00Z ERROR something was tried again\n"
    log = error % b"01" + step + error % b"03" + b"(TaskRunner pid=7) step:6 - actor/lr:1e-6\n"
    assert "HNG030" not in [one.rule for one in doctor(log).findings]


def test_two_files_of_a_run_have_no_pause_between_them(doctor: Doctor) -> None:
    from verl_doctor.pipeline import diagnose_chunks

    later = stamped(["09:00:00", "09:01:00", "09:02:00"])
    named = [("a.log", [stamped(BEFORE)], []), ("b.log", [later], [])]
    report, _ = diagnose_chunks(named, doctor.base, doctor.scanner)
    assert "HNG030" not in [one.rule for one in report.findings]
