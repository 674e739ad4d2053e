"""The decision rule and the two harm estimates that every gate uses."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pytest_swapgate.stats import (
    Interval,
    Verdict,
    assessed_drift,
    binary_harm,
    cochran_q,
    continuous_harm,
    decide,
    log_cost_ratio,
    noise_floor,
    noise_floor_units,
    session_drift,
    t_interval,
    tango_interval,
    two_way_mean,
)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((-0.02, 0.03), Verdict.PASS),
        ((0.01, 0.04), Verdict.PASS),  # harm, but tolerated
        ((0.01, 0.05), Verdict.FAIL),  # the margin itself is not below the margin
        ((0.01, 0.2), Verdict.FAIL),
        ((0.0, 0.2), Verdict.INCONCLUSIVE),
        ((-0.01, 0.06), Verdict.INCONCLUSIVE),
    ],
)
def test_rule(interval, verdict):
    assert decide(Interval(*interval), 0.05) is verdict
    assert verdict == verdict.value


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(1e-6, 1))
@settings(deadline=None, max_examples=100)
def test_pass_means_below_the_margin_and_fail_means_above_zero(low, width, margin):
    verdict = decide((low, low + width), margin)
    assert (verdict is Verdict.PASS) == (low + width < margin)
    if verdict is Verdict.FAIL:
        assert low > 0
    if verdict is Verdict.INCONCLUSIVE:
        assert low <= 0
        assert low + width >= margin


@pytest.mark.parametrize(
    "interval", [(0.1, 0.0), (math.nan, 0.1), (0.0, math.nan), (0.1,), 0.1, ("a", "b"), (True, True), None]
)
def test_ill_formed_interval_is_an_error_not_inconclusive(interval):
    with pytest.raises(ValueError, match="interval must be a pair"):
        decide(interval, 0.05)


@pytest.mark.parametrize("margin", [0.0, -0.1, math.nan, math.inf, True])
def test_margin_must_be_positive(margin):
    with pytest.raises(ValueError, match="margin must be a number > 0"):
        decide((0.0, 0.1), margin)


def test_binary_without_drift_is_tango():
    estimate = binary_harm(34, 24, 200)
    assert estimate.interval == tango_interval(34, 24, 200, confidence=0.9)
    assert estimate.harm == pytest.approx(0.05)
    assert estimate.se == pytest.approx(math.sqrt((0.29 - 0.05**2) / 200))
    assert estimate.sd == pytest.approx(math.sqrt(0.29 - 0.05**2))
    assert (estimate.n, estimate.df) == (200, None)


def test_published_floor_of_the_paired_noise_floor_study():
    # arXiv 2606.20695, two configuration-equivalent arms over two seeds: 34/24 of 200; tau = 4.6 pp
    assert round(binary_harm(34, 24, 200).floor, 3) == 0.063
    tau2 = session_drift([0.10, 0.0], [(0.32 - 0.01) / 100, 0.26 / 100])
    assert math.sqrt(tau2) == pytest.approx(0.046, abs=5e-4)
    assert noise_floor(200, discordance=0.29, tau2=tau2, sessions=2) == pytest.approx(0.083, abs=1e-3)


def test_drift_stretches_the_tango_limits_by_kappa():
    plain, drifted = binary_harm(20, 10, 150), binary_harm(20, 10, 150, tau2=0.002, sessions=2)
    kappa = math.sqrt(1 + 0.001 / plain.se**2)
    assert drifted.se == pytest.approx(kappa * plain.se)
    assert drifted.interval.low == pytest.approx(plain.harm - kappa * (plain.harm - plain.interval.low))
    assert drifted.interval.high == pytest.approx(plain.harm + kappa * (plain.interval.high - plain.harm))


def test_drift_is_not_lost_when_no_pair_disagrees():
    plain, drifted = binary_harm(0, 0, 100), binary_harm(0, 0, 100, tau2=0.002)
    assert drifted.interval.high == pytest.approx(
        math.hypot(plain.interval.high, 1.6448536 * math.sqrt(0.002))
    )
    certain = binary_harm(50, 0, 50, tau2=0.002)
    assert certain.interval.high == 1.0
    assert certain.interval.low < binary_harm(50, 0, 50).interval.low


def test_floor_uses_the_measured_discordance_of_identical_arms():
    assert binary_harm(30, 0, 100, discordance_aa=0.1).floor == pytest.approx(1.6448536 * math.sqrt(0.001))
    assert binary_harm(30, 0, 100).floor == pytest.approx(1.6448536 * math.sqrt(0.003))


def test_continuous_is_students_t_over_units():
    d = np.array([0.1, 0.2, 0.05, 0.3, -0.02])
    estimate = continuous_harm(d)
    oracle = scipy_stats.t.interval(0.9, 4, loc=d.mean(), scale=scipy_stats.sem(d))
    assert estimate.interval == pytest.approx(oracle, abs=1e-12)
    assert (estimate.n, estimate.df) == (5, 4)
    assert estimate.floor == pytest.approx((estimate.interval.high - estimate.interval.low) / 2)
    assert t_interval(d, confidence=0.9) == pytest.approx(oracle, abs=1e-12)


def test_continuous_drift_and_floor():
    d = [0.1, 0.2, 0.05, 0.3]
    t = scipy_stats.t.ppf(0.95, 3)
    estimate = continuous_harm(d, tau2=0.01, sessions=4, sd_aa=0.05)
    assert estimate.se == pytest.approx(math.sqrt(np.var(d, ddof=1) / 4 + 0.0025))
    assert estimate.interval.low == pytest.approx(np.mean(d) - t * estimate.se)
    assert estimate.floor == pytest.approx(t * math.sqrt(0.05**2 / 4 + 0.0025))
    assert estimate.floor == noise_floor_units(4, sd=0.05, tau2=0.01, sessions=4)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -2.0])
def test_identical_units_are_an_error_even_after_rounding(value):
    same = [value, value + 1e-17, 0.1 + 0.2 - 0.3 + value, value]
    with pytest.raises(ValueError, match=r"differences must differ between units.*nothing was measured"):
        continuous_harm(same if value else [0.0] * 4)
    with pytest.raises(ValueError, match="differences must differ between units"):
        t_interval([value] * 5)


@pytest.mark.parametrize(
    ("differences", "match"),
    [
        ([0.1, 0.2], "at least 3 unit differences"),
        ([], "at least 3"),
        ([0.1, math.nan, 0.2], "no NaN"),
        ([0.1, math.inf, 0.2], "no infinity"),
        ([[0.1, 0.2, 0.3]], "1-dimensional"),
        ([True, False, True], "differences must be"),
        (["a", "b", "c"], "differences must be"),
        ([[1], [1, 2]], "not ragged"),
    ],
)
def test_bad_differences_are_named(differences, match):
    with pytest.raises(ValueError, match=match):
        continuous_harm(differences)


@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"alpha": 0.5}, "alpha must be a number > 0 and < 0.5"),
        ({"alpha": 1.2}, "alpha must be"),
        ({"tau2": -1e-9}, "tau2 must be a number >= 0"),
        ({"tau2": math.nan}, "tau2 must be"),
        ({"sessions": 0}, "sessions must be a whole number >= 1"),
        ({"discordance_aa": 1.5}, "discordance_aa must be a number >= 0 and <= 1"),
    ],
)
def test_bad_settings_are_named(keywords, match):
    with pytest.raises(ValueError, match=match):
        binary_harm(3, 2, 50, **keywords)


def test_an_undecidable_estimate_is_inconclusive_whatever_its_interval_says():
    estimate = binary_harm(0, 0, 500)
    assert estimate.verdict(0.05) is Verdict.PASS
    doubtful = dataclasses.replace(estimate, undecided_because="too few tasks")
    assert doubtful.verdict(0.05) is Verdict.INCONCLUSIVE
    with pytest.raises(ValueError, match="margin"):
        doubtful.verdict(0.0)


def test_cost_ratio_is_of_totals():
    ratio = log_cost_ratio([30, 44], [10, 10], [20, 22], [10, 5])
    assert ratio == pytest.approx([math.log(1.5), 0.0])


@pytest.mark.parametrize("position", range(4))
def test_zero_totals_are_an_error_naming_the_unit(position):
    totals = [[3, 3, 3], [1, 1, 1], [3, 3, 3], [1, 1, 1]]
    totals[position][1] = 0
    with pytest.raises(ValueError, match="must be > 0 in every unit, got 0 in unit 1"):
        log_cost_ratio(*totals)


def test_cost_ratio_needs_equal_lengths():
    with pytest.raises(ValueError, match="must have the same shape"):
        log_cost_ratio([1, 2], [1, 1, 1], [1, 2], [1, 1])


def test_session_drift_is_zero_below_sampling_noise_and_unassessed_below_six_sessions():
    assert session_drift([0.01, 0.011, 0.009], [0.01] * 3) == 0.0
    assert assessed_drift([0.01, 0.2, -0.2, 0.1, 0.0], [0.001] * 5) is None
    gaps = [0.01, 0.2, -0.2, 0.1, 0.0, 0.05]
    assert assessed_drift(gaps, [0.001] * 6) == session_drift(gaps, [0.001] * 6)
    # with equal weights DerSimonian-Laird is the sample variance less the sampling variance
    assert session_drift(gaps, [0.001] * 6) == pytest.approx(np.var(gaps, ddof=1) - 0.001)


def test_cochran_q():
    q = cochran_q([0.1, 0.0], [0.0031, 0.0026])
    assert q.q == pytest.approx(0.01 / 0.0057)
    assert q.p == pytest.approx(scipy_stats.chi2.sf(q.q, 1))
    assert q.df == 1


@pytest.mark.parametrize(
    ("gaps", "variances"),
    [([0.1], [0.1]), ([0.1, 0.2], [0.1]), ([0.1, 0.2], [0.1, 0.0]), ([0.1, math.nan], [1, 1])],
)
def test_bad_sessions(gaps, variances):
    with pytest.raises(ValueError, match=r"gaps|variances"):
        session_drift(gaps, variances)


def test_two_way_standard_error_matches_the_anova_mean_squares():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(6, 4)) + rng.normal(size=(6, 1)) * 2 + rng.normal(size=(1, 4)) * 3
    result = two_way_mean(x)
    rows, columns, mean = x.mean(1, keepdims=True), x.mean(0, keepdims=True), x.mean()
    ms_rows = 4 * ((rows - mean) ** 2).sum() / 5
    ms_columns = 6 * ((columns - mean) ** 2).sum() / 3
    ms_rest = ((x - rows - columns + mean) ** 2).sum() / 15
    assert result.se == pytest.approx(math.sqrt((ms_rows + ms_columns - ms_rest) / 24))
    assert (result.mean, result.df) == (pytest.approx(mean), 3)
    low, high = result.interval(confidence=0.9)
    assert (high - low) / 2 == pytest.approx(scipy_stats.t.ppf(0.95, 3) * result.se)


def test_two_way_standard_error_never_falls_below_the_interaction():
    x = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])  # no main effect at all
    assert two_way_mean(x).se == pytest.approx(math.sqrt((x**2).sum() / 4 / 9))


@pytest.mark.parametrize("table", [np.ones((3, 3)), np.zeros((2, 5)), np.arange(6.0), [[1.0, math.nan]] * 3])
def test_bad_tables(table):
    with pytest.raises(ValueError, match="table"):
        two_way_mean(table)


def test_a_planned_spread_stands_in_where_units_are_alike_and_only_there():
    alike = continuous_harm([0.1] * 6, sd_if_alike=0.05)
    half = scipy_stats.t.ppf(0.95, 5) * 0.05 / math.sqrt(6)
    assert alike.interval == pytest.approx((0.1 - half, 0.1 + half))
    assert (alike.sd, alike.df) == (0.05, 5)
    varied = [0.1, 0.2, 0.3]
    assert continuous_harm(varied, sd_if_alike=9.0) == continuous_harm(varied)
    with pytest.raises(ValueError, match="sd_if_alike must be a number > 0"):
        continuous_harm([0.1] * 6, sd_if_alike=0.0)


@pytest.mark.parametrize(
    "interval",
    [
        ("0", "0.05"),
        "12",
        (np.True_, np.True_),
        (0.0, True),
        {0.0, 0.05},
        {0.0: 1, 0.05: 2},
        [[1, 2], [3]],
        np.zeros((2, 2)),
        np.array(0.0),
        (0, 10**400),
        (0.0, 0.01, 0.02),
        None,
    ],
)
def test_only_a_pair_of_real_numbers_is_an_interval(interval):
    with pytest.raises(ValueError, match="interval must be a pair"):
        decide(interval, 5.0)


def test_pairs_of_any_real_type_are_decided():
    for interval in ([0, 1], np.array([0.0, 0.05]), (np.float32(0), np.int64(1)), (-math.inf, 0.0)):
        assert decide(interval, 2.0) is Verdict.PASS


@pytest.mark.parametrize(
    ("gaps", "variances", "match"),
    [
        ([math.nan], [1.0], "gaps must be finite numbers"),
        ("abc", None, "gaps must be finite numbers"),
        ([0.1], None, "variances must be finite numbers"),
        ([0.1], [0.0], "variances must be numbers > 0"),
        ([0.1], [0.1, 0.2], "same shape"),
    ],
)
def test_too_few_sessions_are_checked_too(gaps, variances, match):
    with pytest.raises(ValueError, match=match):
        assessed_drift(gaps, variances)
    assert assessed_drift([], []) is None
