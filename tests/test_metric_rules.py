"""The language of metric rules: what every option of `match.metric` holds for, on values."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import pytest

from verl_doctor.detect.metrics.columns import Columns
from verl_doctor.detect.metrics.judge import MAX_CURVE, Bad, judge
from verl_doctor.detect.metrics.lines import Reading
from verl_doctor.detect.metrics.robust import mann_kendall, pettitt, running_median, theil_sen
from verl_doctor.model import Line


def ask(
    options: Mapping[str, Any], values: Sequence[float], **others: Sequence[float]
) -> Bad | None:
    """Judges a rule over the column `x` and others, steps and lines counted from 1."""
    columns = Columns()
    for i, value in enumerate(values):
        pairs = [("x", value), *((key, column[i]) for key, column in others.items())]
        columns.add(Reading(i + 1, pairs), Line("", i + 1))
    return judge({"key": ["x"], **options}, columns)


def step(bad: Bad | None) -> int | None:
    return int(bad.captures["step"]) if bad else None


def noisy(level: float, count: int, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [level * rng.uniform(0.9, 1.1) for _ in range(count)]


# --- stretches ----------------------------------------------------------------------------------


def test_a_threshold_has_to_hold_for_its_steps() -> None:
    rule = {"above": 1, "for_steps": 3}
    assert step(ask(rule, [0, 2, 2, 0, 2, 2, 2])) == 5
    assert ask(rule, [0, 2, 2, 0, 2, 2]) is None


def test_lasting_asks_for_the_last_point() -> None:
    values = [2.0, 2.0, 2.0, 0.0]
    assert ask({"above": 1, "for_steps": 2, "lasting": True}, values) is None
    assert step(ask({"above": 1, "for_steps": 2, "lasting": False}, values)) == 1


@pytest.mark.parametrize(("well", "expected"), [(9, 11), (10, None)])
def test_what_recovered_long_ago_is_no_present_trouble(well: int, expected: int | None) -> None:
    values = [1.0] * 10 + [0.1] * 5 + [1.0] * well
    assert step(ask({"falls_to": 0.4, "for_steps": 5}, values)) == expected


def test_a_short_recovery_does_not_move_the_first_bad_step() -> None:
    values = [1.0] * 5 + [9.0] * 3 + [1.0] * 4 + [9.0] * 30
    assert step(ask({"above": 5, "for_steps": 3}, values)) == 6


def test_a_share_of_a_level_that_is_not_positive_says_nothing() -> None:
    assert ask({"falls_to": 0.5, "for_steps": 2}, [0.0] * 10 + [-5.0] * 10) is None
    assert ask({"rises_to": 2, "for_steps": 2}, [-1.0] * 10 + [5.0] * 10) is None


def test_nan_is_found_at_its_first_point_and_constant_needs_equal_ones() -> None:
    assert step(ask({"nan": True, "lasting": True}, [1, 2, math.nan, math.inf])) == 3
    assert step(ask({"constant": True, "for_steps": 4}, [1, 2, 3, 3, 3, 3])) == 3
    assert ask({"constant": True, "for_steps": 5}, [1, 2, 3, 3, 3, 3]) is None


def test_warm_up_and_a_latest_begin() -> None:
    values = [9.0] * 5 + [1.0] * 20
    assert ask({"above": 5, "for_steps": 3, "after_steps": 5, "lasting": False}, values) is None
    late = [1.0] * 12 + [9.0] * 5
    assert step(ask({"above": 5, "for_steps": 3, "before_steps": 13}, late)) == 13
    assert ask({"above": 5, "for_steps": 3, "before_steps": 12}, late) is None


def test_a_second_signal_has_to_hold_at_the_same_steps() -> None:
    rule = {"above": 1, "for_steps": 2, "while": {"key": ["y"], "below": 1}}
    assert step(ask(rule, [2, 2, 2, 2], y=[5, 5, 0, 0])) == 3
    assert ask(rule, [2, 2, 2, 2], y=[5, 0, 5, 0]) is None
    assert ask(rule, [2, 2, 2, 2]) is None, "a signal that is not there does not hold"


def test_a_ratio_is_taken_step_by_step_and_never_divides_by_zero() -> None:
    rule = {"ratio": ["y"], "above": 0.5, "for_steps": 2}
    bad = ask(rule, [1, 6, 6, 6], y=[10, 10, 10, 10])
    assert bad is not None
    assert (step(bad), bad.captures["value"], bad.curve.key) == (2, "0.6", "x / y")
    assert ask(rule, [1, 6, 6, 6], y=[0, 0, 0, 0]) is None
    assert ask(rule, [1, 6, 6, 6]) is None


# --- trends and changes -------------------------------------------------------------------------


def test_a_trend_is_steady_and_large_enough() -> None:
    rule = {"trend": {"rises_by": 0.3, "window": 40}}
    rise = [value * (1 + 0.02 * i) for i, value in enumerate(noisy(100, 60))]
    assert ask(rule, rise) is not None
    assert ask(rule, rise[:39]) is None, "shorter than its window"
    assert ask(rule, noisy(100, 60)) is None
    assert ask({"trend": {"rises_by": 3, "window": 40}}, rise) is None
    assert ask({"trend": {"falls_by": 0.3, "window": 40}}, rise) is None
    assert ask({"trend": {"falls_by": 0.3, "window": 40}}, rise[::-1]) is not None


def test_a_spike_is_no_trend_and_a_trend_that_ended_is_none_now() -> None:
    rule = {"trend": {"rises_by": 0.3, "window": 40}}
    assert ask(rule, [*noisy(100, 30), 9000.0, *noisy(100, 29, seed=2)]) is None
    risen = [100.0 + 2 * i for i in range(60)]
    assert ask(rule, risen + noisy(220, 60)) is None


def test_noise_that_happens_to_slope_is_no_trend() -> None:
    rng = random.Random(3)
    noise = [rng.uniform(0, 100) for _ in range(40)]
    assert theil_sen(noise) * 39 > 0.3 * median(noise[:10])
    assert ask({"trend": {"rises_by": 0.3, "window": 40}}, noise) is None


def test_a_trend_is_dated_where_it_begins() -> None:
    values = noisy(100, 60) + [100 * (1 + 0.05 * i) for i in range(40)]
    bad = ask({"trend": {"rises_by": 0.5, "window": 60}}, values)
    assert bad is not None
    assert 60 < int(bad.captures["step"]) < 75


@pytest.mark.parametrize("place", [15, 40, 70])
def test_a_change_point_is_dated_to_the_step(place: int) -> None:
    values = noisy(100, place) + noisy(40, 80 - place, seed=2)
    assert step(ask({"change": {"falls_to": 0.6}}, values)) == place + 1
    assert ask({"change": {"rises_to": 1.5}}, values) is None
    assert ask({"change": {"falls_to": 0.3}}, values) is None


def test_a_change_needs_points_enough_to_be_no_chance() -> None:
    rule = {"change": {"falls_to": 0.6}}
    assert ask(rule, [99.0, 101.0] * 17 + [39.0, 41.0] * 3) is None
    assert step(ask(rule, noisy(100, 90) + noisy(40, 8, seed=2))) == 91


def test_what_came_back_or_only_drifted_is_no_change() -> None:
    rule = {"change": {"falls_to": 0.6}}
    assert ask(rule, noisy(100, 30) + noisy(40, 20) + noisy(100, 30)) is None
    assert ask(rule, [100 - 0.8 * i for i in range(100)]) is None


# --- statistics ---------------------------------------------------------------------------------


def test_robust_statistics_on_known_values() -> None:
    assert running_median([1, 9, 2, math.nan, 3], 3) == [1, 5, 2, 5.5, 2.5]
    assert all(math.isnan(value) for value in running_median([math.nan, math.nan], 2))
    assert mann_kendall([1, 2, 3, 4, 5]) == pytest.approx(9 / math.sqrt(5 * 4 * 15 / 18))
    assert mann_kendall([5, 4, 3, 2, 1]) == pytest.approx(-9 / math.sqrt(5 * 4 * 15 / 18))
    assert mann_kendall([2, 2, 2, 2]) == 0
    assert theil_sen([0, 1, 2, 3, 400, 5, 6]) == 1
    place, chance = pettitt([1, 2, 1, 2, 1, 2, 1, 2, 9, 8, 9, 8, 9, 8, 9, 8])
    assert place == 8
    assert chance < 0.02
    assert pettitt([3, 1, 2, 3, 1, 2, 3, 1, 2])[1] > 0.5


def test_long_series_cost_little_and_keep_their_slope() -> None:
    values = [0.5 * i for i in range(20_000)]
    assert theil_sen(values) == pytest.approx(0.5, rel=1e-3)
    assert mann_kendall(values) > 10


# --- what a finding says ------------------------------------------------------------------------


def test_the_curve_is_bounded_and_holds_the_first_bad_point() -> None:
    values = [1.0] * 5001 + [math.nan] * 3
    bad = ask({"nan": True, "healthy": {"below": 2}}, values)
    assert bad is not None
    assert len(bad.curve.steps) <= MAX_CURVE + 1
    assert bad.curve.first_bad == 5002
    assert 5002 in bad.curve.steps
    assert bad.curve.steps[-1] == 5004
    assert bad.curve.healthy == "< 2"


@pytest.mark.parametrize(
    ("bounds", "text"),
    [({"above": 0.1, "below": 0.5}, "0.1 … 0.5"), ({"above": 1}, "> 1"), (None, "")],
)
def test_the_healthy_range_in_signs(bounds: Mapping[str, float] | None, text: str) -> None:
    rule = {"above": 5, "for_steps": 1} | ({"healthy": bounds} if bounds else {})
    bad = ask(rule, [9.0])
    assert bad is not None
    assert bad.captures["healthy"] == text


def test_a_hostile_key_reaches_no_terminal_and_no_picture() -> None:
    columns = Columns()
    key = "val-core/\x07\u202e\x1b]0;x\x07" + "y" * 150
    columns.add(Reading(1, [(key, 9.0), ("z" * 500, 1.0)]), Line("", 1))
    bad = judge({"key": ["val-core/*"], "above": 5, "for_steps": 1}, columns)
    assert bad is not None
    assert bad.curve.key.isprintable()
    assert len(bad.curve.key) <= 121
    assert columns.keys() == [key]
