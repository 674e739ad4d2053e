"""t over tasks: the right numbers, paired comparisons, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_swapgate.games import (
    compare_players,
    compare_tasks,
    leave_one_out,
    mean_interval,
    shapley,
    value_intervals,
)
from pytest_swapgate.stats import tango_interval

PER_TASK = shapley(np.random.default_rng(1).normal(size=(12, 8)))


def test_interval_differs_from_scipys_t():
    for player, interval in enumerate(value_intervals(PER_TASK, level=0.9)):
        expected = stats.ttest_1samp(PER_TASK[:, player], 0).confidence_interval(0.9)
        assert interval == pytest.approx((expected.low, expected.high))
    centre, interval = mean_interval(PER_TASK[:, 0])
    assert centre == pytest.approx(PER_TASK[:, 0].mean())
    assert interval == pytest.approx(value_intervals(PER_TASK)[0])


def test_comparison_is_not_paired():
    result = compare_players(PER_TASK, 0, 2)
    expected = stats.ttest_rel(PER_TASK[:, 0], PER_TASK[:, 2])
    assert result.difference == pytest.approx(PER_TASK[:, 0].mean() - PER_TASK[:, 2].mean())
    assert result.difference / result.standard_error == pytest.approx(expected.statistic)
    bounds = expected.confidence_interval(0.95)
    assert result.interval == pytest.approx((bounds.low, bounds.high))
    assert compare_tasks(PER_TASK[:, 0], PER_TASK[:, 2]) == result


def test_single_successes_get_an_interval_without_width():
    """Leave-one-out of 0/1 outcomes, one trial a task: Tango, because t covers nothing where all are alike."""
    outcomes = np.random.default_rng(3).integers(0, 2, size=(15, 8))
    outcomes[:, 0b110] = outcomes[:, 0b111]  # nobody notices player 0
    per_task = leave_one_out(outcomes)
    for values, bounds in zip(per_task.T, value_intervals(per_task), strict=True):
        up, down = int((values > 0).sum()), int((values < 0).sum())
        assert bounds == tango_interval(up, down, 15, confidence=0.95)
        assert bounds.low < 0 < bounds.high
    paired = compare_players(per_task, 0, 1, level=0.9)
    swing = per_task[:, 0] - per_task[:, 1]
    assert paired.interval == tango_interval(
        int((swing > 0).sum()), int((swing < 0).sum()), 15, confidence=0.9
    )
    assert value_intervals(per_task, paired_binary=False)[0] == (0.0, 0.0)
    assert value_intervals(per_task, paired_binary=True) == value_intervals(per_task)
    with pytest.raises(ValueError, match="paired_binary must be False or None"):
        value_intervals(PER_TASK, paired_binary=True)


def test_tasks_without_spread_give_nan():
    assert value_intervals(np.full((3, 2), 0.25)) == [(0.25, 0.25), (0.25, 0.25)]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: value_intervals(PER_TASK[:1]),
            "number of tasks in per_task must be a whole number >= 2, got 1",
        ),
        (
            lambda: value_intervals(PER_TASK[0]),
            "per_task must be an array of finite numbers with 2 dimension",
        ),
        (lambda: value_intervals([[0, float("nan")]] * 2), "no NaN"),
        (lambda: value_intervals(PER_TASK, level=1.0), "level must be a number > 0 and < 1, got 1.0"),
        (lambda: value_intervals(PER_TASK, level=95), "level must be"),
        (lambda: compare_players(PER_TASK, 0, 3), "second must be a player from 0 to 2, got 3"),
        (lambda: compare_players(PER_TASK, 1, 1), "another player than first"),
        (lambda: compare_tasks([1, 2, 3], [1, 2]), "one figure a task like first"),
        (lambda: mean_interval([]), "per_task must be"),
    ],
)
def test_wrong_argument_is_accepted(call, says):
    with pytest.raises(ValueError, match=says):
        call()
