"""Resampling, multiplicity, effect sizes, divergence, monitors, swap measures: oracles and error cases."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.spatial.distance import jensenshannon
from statsmodels.stats.multitest import multipletests

from pytest_swapgate.stats import (
    BootstrapCoverageWarning,
    CollisionState,
    CusumBaseline,
    benjamini_hochberg,
    bonferroni,
    bootstrap_coverage,
    cliffs_delta,
    collision_state,
    cusum,
    cusum_baseline,
    cusum_run_length,
    divergence_floor,
    family_alpha,
    fisher_interval,
    holm,
    injection_alarm,
    injection_baseline,
    injection_quantile,
    intraclass_correlation,
    jensen_shannon,
    jensen_shannon_bias,
    pair_bootstrap_interval,
    pearson,
    ratio_interval,
    romano_word,
    sign_flip_test,
    spearman,
    split_half_floor,
    swap_measures,
)

# --- permutation and bootstrap


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_sign_flip_enumerates_like_scipy(alternative):
    d = np.array([0.3, -0.1, 0.25, 0.4, 0.05, -0.02, 0.3])
    oracle = scipy_stats.permutation_test(
        (d,), np.sum, permutation_type="samples", alternative=alternative, n_resamples=np.inf
    ).pvalue
    assert sign_flip_test(d, alternative=alternative) == pytest.approx(oracle, abs=1e-12)


def test_four_units_cannot_reject():
    assert sign_flip_test([0.5, 0.6, 0.7, 0.8]) == 1 / 16


def test_many_units_are_sampled_with_the_generator_given():
    d = np.linspace(-0.5, 1.0, 30)
    p = sign_flip_test(d, rng=np.random.default_rng(1))
    assert p == sign_flip_test(d, rng=np.random.default_rng(1))
    assert p == pytest.approx(scipy_stats.norm.sf(d.sum() / math.sqrt((d**2).sum())), abs=0.01)
    with pytest.raises(ValueError, match=r"rng must be a numpy\.random\.Generator, got None"):
        sign_flip_test(d)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_equals_scipy_up_to_its_randomness(method):
    d = np.random.default_rng(3).gamma(2.0, size=15)
    ours = pair_bootstrap_interval(d, rng=np.random.default_rng(4), method=method, resamples=40_000)
    oracle = scipy_stats.bootstrap(
        (d,), np.mean, method=method, n_resamples=40_000, rng=np.random.default_rng(5)
    ).confidence_interval
    assert ours == pytest.approx((oracle.low, oracle.high), abs=0.02)


@pytest.mark.parametrize(("units", "method", "said"), [(4, "percentile", "80%"), (3, "bca", "68%")])
def test_few_units_warn_with_their_coverage(units, method, said):
    with pytest.warns(BootstrapCoverageWarning, match=f"{method} bootstrap over {units} units covers {said}"):
        pair_bootstrap_interval(np.arange(units), rng=np.random.default_rng(0), method=method, resamples=200)


def test_twelve_units_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pair_bootstrap_interval(np.arange(12), rng=np.random.default_rng(0), resamples=200)
    assert bootstrap_coverage(12) == bootstrap_coverage(50) > bootstrap_coverage(4)


def test_bad_bootstrap_arguments():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="at least 3 unit differences"):
        pair_bootstrap_interval([0.1, 0.2], rng=rng)
    with pytest.raises(ValueError, match="must differ between units"):
        pair_bootstrap_interval([0.1] * 5, rng=rng)
    with pytest.raises(ValueError, match="method must be one of"):
        pair_bootstrap_interval([0.1, 0.2, 0.3], rng=rng, method="basic")
    with pytest.raises(ValueError, match="rng must be"):
        pair_bootstrap_interval([0.1, 0.2, 0.3], rng=7)


# --- multiplicity

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_lists)
@settings(deadline=None, max_examples=60)
def test_adjusted_p_values_equal_statsmodels(p):
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1], abs=1e-12)
    assert [bonferroni(x, len(p)) for x in p] == pytest.approx(
        multipletests(p, method="bonferroni")[1], abs=1e-12
    )


def test_family_and_bad_p_values():
    assert family_alpha(0.05, 4) == 0.0125
    for bad in ([1.2], [-0.1], [math.nan], []):
        with pytest.raises(ValueError, match="p_values must be"):
            holm(bad)
    with pytest.raises(ValueError, match="family must be a whole number >= 1"):
        family_alpha(0.05, 0)


# --- effect sizes


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=15), st.lists(st.integers(0, 6), min_size=1, max_size=15)
)
@settings(deadline=None, max_examples=60)
def test_cliffs_delta_counts_all_pairs(x, y):
    direct = sum(np.sign(a - b) for a, b in itertools.product(x, y)) / (len(x) * len(y))
    assert cliffs_delta(x, y) == pytest.approx(direct)


@pytest.mark.parametrize(
    ("delta", "word"),
    [
        (0.0, "negligible"),
        (0.146, "negligible"),
        (-0.147, "small"),
        (0.33, "medium"),
        (-0.474, "large"),
        (1, "large"),
    ],
)
def test_romano_words(delta, word):
    assert romano_word(delta) == word


def test_intraclass_correlation_by_hand_and_its_limits():
    values, groups = [1.0, 2.0, 4.0, 6.0, 5.0], ["a", "a", "b", "b", "b"]
    between = (2 * (1.5 - 3.6) ** 2 + 3 * (5 - 3.6) ** 2) / 1
    within = (0.5 + 2.0) / 3
    n0 = 5 - (4 + 9) / 5
    assert intraclass_correlation(values, groups) == pytest.approx(
        (between - within) / (between + (n0 - 1) * within)
    )
    assert intraclass_correlation([1, 1, 2, 2], [0, 0, 1, 1]) == pytest.approx(1.0)
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(400), 5)
    x = rng.normal(size=400)[groups] + rng.normal(size=2000)
    assert intraclass_correlation(x, groups) == pytest.approx(0.5, abs=0.05)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=20))
@settings(deadline=None, max_examples=60)
def test_correlations_equal_scipy(points):
    x, y = (np.array(v, dtype=float) for v in zip(*points, strict=True))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        with pytest.raises(ValueError, match="not all equal"):
            pearson(x, y)
        return
    assert pearson(x, y) == pytest.approx(scipy_stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(scipy_stats.spearmanr(x, y).statistic, abs=1e-9)


def test_fisher_interval_equals_scipy():
    x, y = np.arange(9.0), np.array([2.0, 1, 4, 3, 7, 5, 9, 6, 8])
    result = scipy_stats.pearsonr(x, y)
    assert fisher_interval(pearson(x, y), 9) == pytest.approx(
        tuple(result.confidence_interval(0.95)), abs=1e-9
    )


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: cliffs_delta([], [1]), "x must be at least 1"),
        (lambda: romano_word(1.5), "delta must be a number >= -1 and <= 1"),
        (lambda: intraclass_correlation([1, 2], [0, 1]), "groups must be at least 2 groups"),
        (lambda: intraclass_correlation([1, 2, 3], [0, 0, 0]), "groups must be at least 2 groups"),
        (lambda: intraclass_correlation([1, 1, 1], [0, 0, 1]), "values that differ"),
        (lambda: intraclass_correlation([1, 2, 1], [0, 0]), r"one label per value \(3 values\)"),
        (lambda: pearson([1, 2, 3], [1, 2]), "y must be at least 3"),
        (lambda: spearman([1, 2, 3], [1, 2, 3, 4]), "must have the same shape"),
        (lambda: fisher_interval(1.0, 9), "r must be a number > -1 and < 1"),
        (lambda: fisher_interval(0.5, 3), "n must be a whole number >= 4"),
    ],
)
def test_bad_samples_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call()


# --- divergence


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
@settings(deadline=None, max_examples=60)
def test_divergence_equals_scipy(pairs):
    p, q = (np.array(v) for v in zip(*pairs, strict=True))
    if not p.sum() or not q.sum():
        with pytest.raises(ValueError, match="not all zero"):
            jensen_shannon(p, q)
        return
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-9)
    assert jensen_shannon(p, p) == 0.0


def test_disjoint_signatures_diverge_by_one():
    assert jensen_shannon([3, 0], [0, 5]) == 1.0


def test_floor_is_what_identical_distributions_give():
    rng = np.random.default_rng(9)
    p = np.full(20, 0.05)
    truth = [jensen_shannon(rng.multinomial(100, p), rng.multinomial(100, p)) for _ in range(1500)]
    a, b = rng.multinomial(100, p), rng.multinomial(100, p)
    floor = divergence_floor(a, b, rng=rng)
    assert floor.mean == pytest.approx(np.mean(truth), abs=0.01)
    assert floor.quantile == pytest.approx(np.quantile(truth, 0.95), abs=0.015)
    assert jensen_shannon_bias(20, 100) == pytest.approx(
        0.0685, abs=1e-4
    )  # first order: below the simulated .074
    halves = split_half_floor(a + b, rng=rng)
    assert halves.mean == pytest.approx(np.mean(truth), abs=0.01)
    assert halves.quantile > halves.mean


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda rng: jensen_shannon([1, 2], [1, 2, 3]), "must have the same shape"),
        (lambda rng: jensen_shannon([1, -2], [1, 2]), "p must be counts or probabilities >= 0"),
        (lambda rng: divergence_floor([0, 0], [1, 2], rng=rng), "counts_a must be counts with at least one"),
        (lambda rng: split_half_floor([1, 0], rng=rng), "at least 2 observations"),
        (lambda rng: split_half_floor([5, 5], rng=rng, splits=5), "splits must be a whole number >= 100"),
        (lambda rng: split_half_floor([5, 5], rng=None), "rng must be"),
    ],
)
def test_bad_signatures_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call(np.random.default_rng(0))


# --- monitors


def test_cusum_run_lengths_of_the_default_limits():
    assert cusum_run_length() == pytest.approx(9008, rel=0.001)
    assert cusum_run_length(two_sided=True) == pytest.approx(4504, rel=0.001)
    assert cusum_run_length(1.5) == pytest.approx(7.4, abs=0.05)


def test_cusum_falls_alarms_and_restarts():
    baseline = CusumBaseline(mean=0.6, variance=0.24, tau2=0.0)
    rates = [0.6, 0.4, 0.4, 0.4, 0.4, 0.6]
    path = cusum(rates, [24] * 6, baseline)
    step = 2.0 - 0.75  # a fall of two standard deviations
    assert path.low == pytest.approx([0, step, 2 * step, 3 * step, 4 * step, 4 * step - 0.75])
    assert not path.alarms.any()
    assert path.high == pytest.approx(np.zeros(6))
    longer = cusum([0.4] * 8, [24] * 8, baseline)
    assert np.flatnonzero(longer.alarms).tolist() == [4]
    assert longer.low[5] == pytest.approx(step)


def test_cusum_uses_each_runs_own_standard_deviation():
    baseline = CusumBaseline(mean=0.6, variance=0.24, tau2=0.01)
    path = cusum([0.4, 0.4], [24, 96], baseline)
    assert path.low[0] == pytest.approx(0.2 / math.sqrt(0.02) - 0.75)
    assert path.low[1] - path.low[0] == pytest.approx(0.2 / math.sqrt(0.0125) - 0.75)


def test_cusum_baseline_needs_twenty_runs_that_vary():
    rng = np.random.default_rng(1)
    rates = rng.binomial(50, 0.6, size=40) / 50
    baseline = cusum_baseline(rates, [50] * 40)
    assert baseline.mean == pytest.approx(rates.mean())
    assert baseline.variance == pytest.approx(rates.mean() * (1 - rates.mean()))
    with pytest.raises(ValueError, match="at least 20 baseline runs"):
        cusum_baseline(rates[:19], [50] * 19)
    with pytest.raises(ValueError, match="not all 0 or all 1"):
        cusum_baseline([1.0] * 20, [50] * 20)
    with pytest.raises(ValueError, match=r"rates in \[0, 1\]"):
        cusum_baseline([1.1] * 20, [50] * 20)
    with pytest.raises(ValueError, match="one size per run"):
        cusum([0.5, 0.5], [10], baseline)


@pytest.mark.parametrize(
    ("rates", "baseline", "match"),
    [
        ([0.5], CusumBaseline(0.5, 0.0, 0.0), "baseline.variance must be a number > 0, got 0.0"),
        ([0.5], CusumBaseline(math.nan, 0.2, 0.0), "baseline.mean must be a number >= 0 and <= 1, got nan"),
        ([0.5], CusumBaseline(0.5, math.nan, 0.0), "baseline.variance"),
        ([0.5], CusumBaseline(0.5, 0.2, -0.1), "baseline.tau2 must be a number >= 0"),
        ([0.5], None, "baseline must be a CusumBaseline, got None"),
        ([5], CusumBaseline(0.5, 0.25, 0.0), r"rates must be in \[0, 1\]"),
        ([-3], CusumBaseline(0.5, 0.25, 0.0), r"rates must be in \[0, 1\]"),
        ([math.nan], CusumBaseline(0.5, 0.25, 0.0), "no NaN"),
    ],
)
def test_a_cusum_that_could_never_alarm_is_refused(rates, baseline, match):
    with pytest.raises(ValueError, match=match):
        cusum(rates, [10], baseline)


def test_long_run_lengths_are_right_not_rounding():
    for h in (10, 20, 25, 60):
        # Siegmund (1985), equation 2.46: close for large h
        drift, limit = 0.75, h + 1.166
        expected = (math.exp(2 * drift * limit) - 1 - 2 * drift * limit) / (2 * drift**2)
        assert cusum_run_length(h=h) == pytest.approx(expected, rel=0.05)
    assert cusum_run_length(-4.0) > 1e20
    assert cusum_run_length(3.0, two_sided=True) == pytest.approx(cusum_run_length(3.0))
    assert cusum_run_length(1e300) == pytest.approx(1.0)


def test_run_lengths_that_cannot_be_computed_are_refused():
    with pytest.raises(ValueError, match=r"an alarm has a probability .* got shift=0.0, k=1e\+300"):
        cusum_run_length(k=1e300)
    with pytest.raises(ValueError, match="h must be a number > 0 and <= 100"):
        cusum_run_length(h=101)


def test_injections():
    base = [0] * 300 + [1] * 60 + [2] * 40
    assert injection_baseline(base) == 2
    assert injection_quantile(np.arange(1, 101)) == 95
    quiet, loud = [0] * 90 + [2] * 10, [0] * 90 + [3] * 10
    assert not injection_alarm(quiet, 2)
    assert injection_alarm(loud, 2)
    assert injection_alarm(quiet + loud, 2)  # only the last hundred count
    assert not injection_alarm(loud[1:], 2)  # window not full
    with pytest.raises(ValueError, match="at least 400 baseline trials"):
        injection_baseline(base[:399])
    with pytest.raises(ValueError, match="95th percentile is > 0"):
        injection_baseline([0] * 400)
    with pytest.raises(ValueError, match="at least one count"):
        injection_quantile([])
    with pytest.raises(ValueError, match="1-dimensional"):
        injection_quantile([[1, 2]])
    with pytest.raises(ValueError, match="q0 must be a whole number >= 1"):
        injection_alarm(loud, 0)


def test_collisions():
    assert collision_state(0, 597) is CollisionState.INSUFFICIENT
    assert collision_state(0, 598) is CollisionState.FINE
    assert collision_state(20, 1000) is CollisionState.ALARM
    assert collision_state(5, 1000) is CollisionState.INSUFFICIENT
    with pytest.raises(ValueError, match="successes must be at most trials=10"):
        collision_state(11, 10)


# --- swap measures


def test_signs_reverse_for_costs():
    # arXiv 2609.05279, Table 1, high coupling
    score = swap_measures(placebo=63.2, swap=58.0, naive=43.4, amnesia=59.0, swap_cleared=59.6, scale=100)
    cost = swap_measures(placebo=4.33, swap=6.53, naive=7.39, cost=True)
    assert score.value == pytest.approx(0.198)
    assert score.penalty == pytest.approx(0.052)
    assert score.amnesia_share == pytest.approx(0.8077, abs=1e-4)
    assert score.interference == pytest.approx(0.016)
    assert cost.ratio == pytest.approx(0.719, abs=1e-3)
    assert cost.penalty == pytest.approx(2.2)
    assert (cost.amnesia, cost.interference, cost.amnesia_share) == (None, None, None)


def test_ratio_interval_holds_the_ratios_that_a_t_test_does_not_reject():
    x, y = np.array([0.5, 0.9, 0.4, 0.8, 0.7]), np.array([2.0, 2.4, 1.9, 2.2, 2.6])
    low, high = ratio_interval(x, y, confidence=0.9)
    for r in (low, high):
        assert scipy_stats.ttest_1samp(x - r * y, 0).pvalue == pytest.approx(0.1, abs=1e-9)
    assert low < x.mean() / y.mean() < high


def test_ratio_over_a_value_near_zero_is_refused():
    with pytest.raises(ValueError, match="denominator must have a mean whose interval is clear of 0"):
        ratio_interval([0.1, 0.2, 0.3], [-0.5, 0.6, 0.1])


def test_ratio_without_value_does_not_exist():
    assert swap_measures(placebo=1.0, swap=0.5, naive=1.0).ratio is None
    with pytest.raises(ValueError, match="swap must be a finite number"):
        swap_measures(placebo=1.0, swap=math.nan, naive=0.5)
