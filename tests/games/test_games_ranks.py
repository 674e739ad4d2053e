"""Entropy, rank agreement, ranking and the top-k curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_swapgate.games import (
    Game,
    compare_top_k,
    normalised_entropy,
    rank_agreement,
    ranking,
    shapley,
    top_k,
)

MODEST = settings(deadline=None, max_examples=60)
VALUES = st.lists(st.integers(-5, 5), min_size=2, max_size=8)


def test_entropy_of_known_shares():
    assert normalised_entropy([1, 0, 0]) == 0.0
    assert normalised_entropy([-2.0, 2.0, -2.0, 2.0]) == 1.0
    assert normalised_entropy([3, 1]) == pytest.approx(0.8112781244591328)
    assert normalised_entropy([1e-320, 0]) == 0.0
    assert normalised_entropy([1e308, 1e308, 1e308]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "bad", [[0, 0], [1], [], [float("nan"), 1], [[1, 2]], "12", [True, False], [1, True]], ids=repr
)
def test_entropy_of_no_shares_is_given(bad):
    with pytest.raises(ValueError, match="values must be"):
        normalised_entropy(bad)


@MODEST
@given(VALUES.flatmap(lambda a: st.tuples(st.just(a), st.permutations(a))))
def test_agreement_differs_from_scipys_spearman(pair):
    a, b = pair
    if len(set(a)) == 1:
        with pytest.raises(ValueError, match="at least two different values"):
            rank_agreement(a, b)
    else:
        assert rank_agreement(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


def test_interchangeable_agents_are_untied_by_rounding():
    values = [0.1 + 0.2, 0.3, 0.5]
    assert rank_agreement(values, [1, 1, 2]) == pytest.approx(1.0)
    assert rank_agreement(values[1::-1] + values[2:], [1, 1, 2]) == pytest.approx(1.0)
    assert ranking(values).tolist() == [2, 0, 1]
    assert ranking([-0.3, -0.1, -0.2]).tolist() == [1, 2, 0]


@pytest.mark.parametrize(("a", "b"), [([1, 2], [1, 2, 3]), ([1], [1]), ([1, 2], [float("inf"), 1])])
def test_agreement_of_unlike_things_is_given(a, b):
    with pytest.raises(ValueError, match="must be"):
        rank_agreement(a, b)


def test_curve_acts_on_the_lowest_first():
    game = Game([0.0, 0.1, 0.2, 0.6])
    result = top_k(game, [1.0, 2.0])
    assert result.curve.tolist() == [0.0, 0.2, 0.6]
    assert result.auc == pytest.approx((0.1 + 0.4) / 2)
    assert result.interval is None
    assert top_k(game, [2.0, 1.0]).curve.tolist() == [0.0, 0.1, 0.6]


def test_curve_pays_for_more_than_n_plus_1_coalitions():
    game = Game.from_callable(lambda s: [len(s), len(s) + 1], 6, tasks=2)
    result = top_k(game, [3, 1, 4, 1, 5, 9])
    assert game.evaluated == 7
    assert result.curve.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    assert result.auc_per_task.tolist() == [3.0, 4.0]


def test_interval_and_paired_difference_of_the_area():
    rng = np.random.default_rng(0)
    base = np.array([0, 0.1, 0.2, 0.4, 0.3, 0.5, 0.6, 0.9])
    array = base + rng.normal(0, 0.2, size=(40, 1)) + rng.normal(0, 0.02, size=(40, 8))
    best, worst = top_k(array, shapley(base)), top_k(array, -shapley(base))
    assert best.interval.low < best.auc < best.interval.high
    found = stats.ttest_1samp(best.auc_per_task, 0).confidence_interval(0.95)
    assert best.interval == pytest.approx((found.low, found.high))
    paired = compare_top_k(array, shapley(base), -shapley(base))
    assert paired.difference == pytest.approx(best.auc - worst.auc)
    found = stats.ttest_rel(best.auc_per_task, worst.auc_per_task).confidence_interval(0.95)
    assert paired.interval == pytest.approx((found.low, found.high))
    assert paired.interval.low > 0
    assert paired.interval.high - paired.interval.low < best.interval.high - best.interval.low


def test_wrong_argument_of_a_curve_is_accepted():
    with pytest.raises(ValueError, match="one value for each of 2 players"):
        top_k([0, 1, 2, 3], [1, 2, 3])
    with pytest.raises(ValueError, match="a game with tasks"):
        compare_top_k([0, 1, 2, 3], [1, 2], [2, 1])
    with pytest.raises(ValueError, match="number of tasks in per_task must be a whole number >= 2, got 1"):
        top_k(np.zeros((1, 4)), [1, 2])
