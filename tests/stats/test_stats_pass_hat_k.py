"""pass^k and its coordination-active form, with their error cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pytest_swapgate.stats import (
    Interval,
    Verdict,
    active_pass_hat_k,
    active_pass_hat_k_difference,
    active_pass_hat_k_interval,
    active_tasks,
    pass_hat_k,
    pass_hat_k_difference,
    pass_hat_k_interval,
    require_valid_trials,
    tango_interval,
    wilson_interval,
)

# sierra-research/tau-bench (MIT), gpt-4o, airline: tasks by number of successes among 4 trials
TAU_BENCH_AIRLINE = np.repeat([0, 1, 2, 3, 4], [14, 12, 10, 4, 10])


def test_published_airline_figures():
    figures = [pass_hat_k(TAU_BENCH_AIRLINE, 4, k) for k in (1, 2, 3, 4)]
    assert [round(f, 3) for f in figures] == [0.420, 0.273, 0.220, 0.200]


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
@settings(deadline=None, max_examples=80)
def test_is_the_share_of_all_subsets_of_k_trials_that_all_succeed(case):
    n, c, k = case
    trials = [1] * c + [0] * (n - c)
    subsets = list(itertools.combinations(trials, k))
    assert pass_hat_k([c], n, k) == pytest.approx(sum(all(s) for s in subsets) / len(subsets))
    assert pass_hat_k([c], n, k) == pytest.approx(math.comb(c, k) / math.comb(n, k))


def test_tasks_may_have_different_numbers_of_trials():
    assert pass_hat_k([2, 3], [2, 6], 2) == pytest.approx((1 + 3 / 15) / 2)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([], 4, 1), "at least one task"),
        (([1, 2], 4, 0), "k must be a whole number >= 1, got 0"),
        (([1, 2], 4, 5), "k must be at most the trials of every task, got k=5 and 4 trials for task 0"),
        (([1, 2], [4, 2], 3), "got k=3 and 2 trials for task 1"),
        (([1, 5], 4, 1), "successes must be at most trials, got 5 of 4 for task 1"),
        (([1, -1], 4, 1), "successes must be whole numbers >= 0"),
        (([0.5], 4, 1), "successes must be whole numbers"),
        (([1, 2], [4, 4, 4], 1), "one per task"),
        (([True, False], 4, 1), "successes must be whole numbers"),
        (([math.nan], 4, 1), "successes must be"),
    ],
)
def test_bad_counts_are_errors_not_drops(arguments, match):
    with pytest.raises(ValueError, match=match):
        pass_hat_k(*arguments)


def test_interval_with_one_trial_each_is_wilson_with_students_t():
    c = np.array([1] * 12 + [0] * 8)
    low, high = pass_hat_k_interval(c, 1, 1, confidence=0.95)
    # n_eff = u (1 - u) / (s^2 / T) = T - 1 is clipped to T
    z = scipy_stats.t.ppf(0.975, 19)
    middle, half = (
        (0.6 + z * z / 40) / (1 + z * z / 20),
        z * math.sqrt(0.24 / 20 + z * z / 1600) / (1 + z * z / 20),
    )
    assert (low, high) == (pytest.approx(middle - half), pytest.approx(middle + half))


def test_interval_of_identical_tasks():
    sure = pass_hat_k_interval([4] * 10, 4, 4)
    assert sure.high == 1.0
    assert 0.5 < sure.low < 0.75  # ten tasks, not forty trials
    half = pass_hat_k_interval([2] * 10, 4, 1)
    assert half.low == pytest.approx(1 - half.high)
    plain = wilson_interval(20, 40)
    assert half.low < plain.low < 0.5  # all 40 trials count, at Student's t
    with pytest.raises(ValueError, match="at least 2 tasks"):
        pass_hat_k_interval([2], 4, 1)


def test_paired_difference_is_t_over_tasks():
    base, cand = np.array([4, 3, 2, 4, 0, 1]), np.array([3, 3, 0, 4, 1, 1])
    estimate = pass_hat_k_difference(base, 4, cand, 4, 1)
    d = (base - cand) / 4
    oracle = scipy_stats.t.interval(0.9, 5, loc=d.mean(), scale=scipy_stats.sem(d))
    assert estimate.interval == pytest.approx(oracle)
    assert estimate.floor == pytest.approx((oracle[1] - oracle[0]) / 2)
    assert (estimate.n, estimate.df, estimate.undecided_because) == (6, 5, None)
    drifted = pass_hat_k_difference(base, 4, cand, 4, 1, tau2=0.01, sessions=2, sd_aa=0.1)
    assert drifted.se == pytest.approx(math.sqrt(estimate.se**2 + 0.005))
    assert drifted.floor == pytest.approx(scipy_stats.t.ppf(0.95, 5) * math.sqrt(0.01 / 6 + 0.005))


def test_no_difference_anywhere_is_tango_when_every_trial_counts():
    estimate = pass_hat_k_difference([2] * 30, 2, [2] * 30, 2, 2)
    assert estimate.interval == tango_interval(0, 0, 30, confidence=0.9)
    assert estimate.verdict(0.10) is Verdict.PASS
    worst = pass_hat_k_difference([2] * 30, 2, [0] * 30, 2, 2)
    assert worst.interval == tango_interval(30, 0, 30, confidence=0.9)
    assert worst.verdict(0.10) is Verdict.FAIL


def test_no_difference_anywhere_is_undecided_when_trials_are_averaged():
    estimate = pass_hat_k_difference([2] * 30, 4, [2] * 30, 4, 1)
    assert estimate.interval == Interval(-1.0, 1.0)
    assert estimate.verdict(0.5) is Verdict.INCONCLUSIVE
    assert "spread was not measured" in estimate.undecided_because


def test_difference_needs_the_same_tasks():
    with pytest.raises(ValueError, match="counts of the baseline's 4 tasks"):
        pass_hat_k_difference([1, 2, 3, 1], 4, [1, 2, 3], 4, 1)
    with pytest.raises(ValueError, match="at least 3"):
        pass_hat_k_difference([1, 2], 4, [1, 1], 4, 1)
    with pytest.raises(ValueError, match="successes_candidate must be at most trials_candidate"):
        pass_hat_k_difference([1, 2, 3], 4, [1, 1, 5], 4, 1)


def test_active_counts_only_active_trials_of_tasks_with_enough():
    # task 1 has one active trial only: outside T_2
    assert active_tasks([2, 1, 3], 2).tolist() == [True, False, True]
    assert active_pass_hat_k([2, 1, 2], [2, 1, 3], 2) == pytest.approx((1 + 1 / 3) / 2)
    assert active_pass_hat_k_interval([2, 1, 2], [2, 1, 3], 2) == pass_hat_k_interval([2, 2], [2, 3], 2)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([0, 0], [1, 0], 2), "at least one task of 2 or more active trials"),
        (([3, 0], [2, 2], 1), "successes must be at most active, got 3 of 2 in task 0"),
        (([1], [2, 2], 1), "one count per task"),
        (([1, 1], [2, 2], 0), "k must be a whole number >= 1"),
    ],
)
def test_bad_active_counts(arguments, match):
    with pytest.raises(ValueError, match=match):
        active_pass_hat_k(*arguments)


def test_active_difference_needs_twenty_common_tasks():
    rng = np.random.default_rng(3)
    base, cand = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    active = np.full(40, 2)
    few = np.arange(40) < 19
    estimate = active_pass_hat_k_difference(base, active, cand, active, 1, common=few)
    assert estimate.n == 19
    assert estimate.verdict(0.99) is Verdict.INCONCLUSIVE
    assert "19 coordination-active tasks" in estimate.undecided_because
    enough = active_pass_hat_k_difference(base, active, cand, active, 1, common=np.arange(40) < 20)
    assert enough.undecided_because is None
    assert enough == pass_hat_k_difference(base[:20], 2, cand[:20], 2, 1)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"common": [False] * 4}, "not empty"),
        ({"common": [1, 1, 1, 1]}, "one bool per task"),
        ({"common": [True] * 5}, r"one count per task \(5 tasks\)"),
        (
            {"active_candidate": [2, 2, 1, 2]},
            "active_candidate must be at least k=2 in every common task, got 1 in task 2",
        ),
    ],
)
def test_bad_common_subset(change, match):
    arguments = {
        "successes_baseline": [1, 1, 1, 1],
        "active_baseline": [2, 2, 2, 2],
        "successes_candidate": [1, 1, 1, 1],
        "active_candidate": [2, 2, 2, 2],
        "k": 2,
        "common": [True] * 4,
    }
    with pytest.raises(ValueError, match=match):
        active_pass_hat_k_difference(**(arguments | change))


def test_own_active_subsets_turn_an_advantage_into_a_loss_and_a_common_one_does_not():
    """Tasks of two difficulties; the better arm fails only hard ones, so its own active subset is harder."""
    rng = np.random.default_rng(11)
    hard = rng.random(40_000) < 0.5
    p = np.where(hard, 0.2, 0.9)
    first_good, first_poor = rng.random(40_000) < np.minimum(p + 0.18, 1), rng.random(40_000) < p
    second_good, second_poor = (rng.random(40_000) < p for _ in range(2))  # no difference on the second trial
    own = second_good[~first_good].mean() - second_poor[~first_poor].mean()
    assert own < -0.04
    common = ~first_good & ~first_poor
    estimate = active_pass_hat_k_difference(
        second_good.astype(int),
        np.ones(40_000, int),
        second_poor.astype(int),
        np.ones(40_000, int),
        1,
        common=common,
    )
    assert estimate.interval.low < 0 < estimate.interval.high


def test_lost_trials_are_neither_failures_nor_dropped():
    assert require_valid_trials(95, 100) == 0.95
    with pytest.raises(ValueError, match="at least 95% of planned, got 94 of 100"):
        require_valid_trials(94, 100)
    with pytest.raises(ValueError, match="at most planned=100"):
        require_valid_trials(101, 100)
    with pytest.raises(ValueError, match="planned"):
        require_valid_trials(0, 0)


@pytest.mark.parametrize("minimum", [math.nan, math.inf, -1, 1.5, "5", None, True])
def test_the_share_of_valid_trials_cannot_be_switched_off(minimum):
    with pytest.raises(ValueError, match="minimum must be a number >= 0 and <= 1"):
        require_valid_trials(1, 100, minimum=minimum)
