"""Planned sizes, detectable effects and exact power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower

from pytest_swapgate.stats import (
    binary_harm,
    continuous_harm,
    decide,
    detectable_effect_pairs,
    detectable_effect_units,
    exact_sign_test,
    exact_test_power,
    first_stage_pairs,
    midp_mcnemar,
    pairs_to_decide,
    reestimated_pairs,
    required_pairs,
    required_units,
    sd_upper_bound,
    two_proportion_size,
    two_sided_table,
    unit_multiplier,
    unit_power,
    verdict_rates,
)


@pytest.mark.parametrize(("tolerance", "at_80", "at_90"), [(0.10, 184, 254), (0.15, 81, 111), (0.20, 45, 61)])
def test_pairs_at_discordance_thirty_percent(tolerance, at_80, at_90):
    assert required_pairs(tolerance, discordance=0.3, power=0.8) == at_80
    assert required_pairs(tolerance, discordance=0.3) == at_90


def test_all_twelve_published_sizes():
    # arXiv 2606.20695, Table 3
    assert [tuple(row) for row in two_sided_table()] == [
        (0.05, 1565, 1003),
        (0.10, 388, 249),
        (0.15, 170, 110),
        (0.18, 117, 76),
        (0.20, 93, 61),
        (0.25, 58, 38),
    ]


@pytest.mark.parametrize(
    ("units", "published"), [(3, 2.30), (4, 1.65), (5, 1.36), (6, 1.19), (8, 0.98), (12, 0.77)]
)
def test_unit_multipliers_at_power_eighty(units, published):
    multiplier = unit_multiplier(units, power=0.8)
    assert round(multiplier, 2) == published
    oracle = TTestPower().power(multiplier, units, 0.05, df=units - 1, alternative="larger")
    assert oracle == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(
    ("units", "effect", "alpha"), [(3, 0.5, 0.05), (8, 1.2, 0.0125), (40, 0.1, 0.1), (500, 0.05, 0.05)]
)
def test_unit_power_is_noncentral_t(units, effect, alpha):
    t = scipy_stats.t.ppf(1 - alpha, units - 1)
    oracle = scipy_stats.nct.sf(t, units - 1, effect / 0.7 * math.sqrt(units))
    assert unit_power(units, effect=effect, sd=0.7, alpha=alpha) == pytest.approx(oracle, abs=1e-9)


@given(st.floats(0.05, 3.0), st.sampled_from([0.8, 0.9, 0.95]), st.sampled_from([0.0125, 0.05]))
@settings(deadline=None, max_examples=30)
def test_required_units_is_the_smallest_that_reaches_the_power(ratio, power, alpha):
    units = required_units(ratio, sd=1.0, alpha=alpha, power=power)
    assert unit_power(units, effect=ratio, sd=1.0, alpha=alpha) >= power
    assert units == 3 or unit_power(units - 1, effect=ratio, sd=1.0, alpha=alpha) < power
    assert unit_multiplier(units, alpha=alpha, power=power) <= ratio + 1e-9
    assert detectable_effect_units(units, sd=2.0, alpha=alpha, power=power) == pytest.approx(
        2 * unit_multiplier(units, alpha=alpha, power=power)
    )


@given(
    st.floats(0.02, 0.8), st.floats(0.02, 1.0), st.sampled_from([0.8, 0.9]), st.sampled_from([0.0125, 0.05])
)
@settings(deadline=None, max_examples=60)
def test_detectable_effect_inverts_required_pairs(discordance, share, power, alpha):
    tolerance = share * discordance
    n = required_pairs(tolerance, discordance=discordance, alpha=alpha, power=power)
    assert detectable_effect_pairs(n, discordance=discordance, alpha=alpha, power=power) <= tolerance + 1e-9
    if n > 1:
        try:
            less = detectable_effect_pairs(n - 1, discordance=discordance, alpha=alpha, power=power)
        except ValueError:
            return  # n - 1 pairs show nothing at all
        assert less > tolerance - 1e-9


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: required_pairs(0.4, discordance=0.3), "tolerance must be at most the discordance 0.3"),
        (lambda: required_pairs(0.0, discordance=0.3), "tolerance must be a number > 0"),
        (lambda: required_pairs(math.nan, discordance=0.3), "tolerance"),
        (lambda: required_pairs(0.1, discordance=0.0), "discordance must be a number > 0 and <= 1"),
        (lambda: required_pairs(0.1, discordance=1.1), "discordance"),
        (lambda: required_pairs(0.1, discordance=0.3, power=1.0), "power must be a number > 0.05 and < 1"),
        (lambda: required_pairs(0.1, discordance=0.3, power=0.01), "power"),
        (lambda: required_pairs(0.1, discordance=0.3, alpha=0.5), "alpha must be a number > 0 and < 0.5"),
        (
            lambda: detectable_effect_pairs(3, discordance=0.3),
            r"n must be at least \d+ pairs to show any harm",
        ),
        (lambda: required_units(0.2, sd=0.0), "sd must be a number > 0"),
        (lambda: required_units(1e-6, sd=1.0), "tolerance must be reachable with 1000000 units"),
        (lambda: unit_multiplier(2), "units must be a whole number >= 3"),
        (lambda: two_proportion_size(0.6, p1=0.5), "gain must be at most 1 - p1"),
        (
            lambda: verdict_rates(20, harm=0.4, discordance=0.3, tolerance=0.1),
            "harm must be at most the discordance 0.3",
        ),
        (
            lambda: verdict_rates(20, harm=0.0, discordance=0.3, tolerance=0.0),
            "tolerance must be a number > 0",
        ),
        (
            lambda: exact_test_power(20, harm=0.1, discordance=0.3, test="chi2"),
            "test must be one of 'midp', 'sign'",
        ),
        (
            lambda: reestimated_pairs(31, 30, planned=60, tolerance=0.1),
            "discordant must be at most first_stage=30",
        ),
        (lambda: sd_upper_bound(0.3, 1), "units must be a whole number >= 2"),
    ],
)
def test_bad_arguments_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_verdict_rates_are_the_probabilities_of_the_shipped_decision():
    n, harm, discordance, margin = 25, 0.1, 0.3, 0.2
    rates = dict.fromkeys(("pass", "fail", "inconclusive"), 0.0)
    p = [(discordance + harm) / 2, (discordance - harm) / 2, 1 - discordance]
    for b in range(n + 1):
        for c in range(n + 1 - b):
            weight = scipy_stats.multinomial.pmf([b, c, n - b - c], n, p)
            if weight > 1e-9:
                rates[decide(binary_harm(b, c, n, margin=margin).interval, margin)] += weight
    exact = verdict_rates(n, harm=harm, discordance=discordance, tolerance=margin)
    assert exact == pytest.approx(tuple(rates.values()), abs=1e-6)
    assert sum(exact) == pytest.approx(1.0)


def test_drift_that_is_allowed_for_makes_verdicts_rarer():
    plain = verdict_rates(150, harm=0.0, discordance=0.3, tolerance=0.1)
    drift = verdict_rates(150, harm=0.0, discordance=0.3, tolerance=0.1, tau2=0.002, sessions=2)
    assert drift.passed < plain.passed
    assert drift.failed < plain.failed


@pytest.mark.parametrize("discordance", [0.2, 0.3, 0.4])
@pytest.mark.parametrize("tolerance", [0.05, 0.10, 0.15])
def test_planned_gates_keep_their_error_rates_exactly(discordance, tolerance):
    n = required_pairs(tolerance, discordance=discordance)
    rates = {
        h: verdict_rates(n, harm=h, discordance=discordance, tolerance=tolerance) for h in (0.0, tolerance)
    }
    assert rates[0.0].failed <= 0.055
    assert rates[tolerance].passed <= 0.055
    assert rates[tolerance].failed >= 0.88
    assert rates[0.0].passed >= 0.84


def test_grey_zone_and_inconclusive_rate_at_ninety_percent_power():
    n = required_pairs(0.1, discordance=0.3)
    assert 0.05 <= verdict_rates(n, harm=0.0, discordance=0.3, tolerance=0.1).inconclusive <= 0.08
    middle = verdict_rates(n, harm=0.05, discordance=0.3, tolerance=0.1)
    assert middle.passed == pytest.approx(0.43, abs=0.03)
    assert middle.failed == pytest.approx(0.43, abs=0.03)
    smaller = required_pairs(0.1, discordance=0.32, power=0.8)
    assert verdict_rates(smaller, harm=0.05, discordance=0.32, tolerance=0.1) == pytest.approx(
        (1 / 3,) * 3, abs=0.02
    )


@pytest.mark.parametrize(("test", "p_value"), [("midp", midp_mcnemar), ("sign", exact_sign_test)])
def test_exact_power_of_the_tests_equals_the_sum_over_all_tables(test, p_value):
    n, p = 22, [0.3, 0.1, 0.6]
    direct = sum(
        scipy_stats.multinomial.pmf([b, c, n - b - c], n, p)
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if p_value(b, c) <= 0.05
    )
    assert exact_test_power(n, harm=0.2, discordance=0.4, test=test) == pytest.approx(direct, abs=1e-9)


def test_no_discordance_is_a_certain_pass():
    assert verdict_rates(200, harm=0.0, discordance=0.0, tolerance=0.1).passed == pytest.approx(1.0)
    assert verdict_rates(30, harm=1.0, discordance=1.0, tolerance=0.1).failed == pytest.approx(1.0)


@pytest.mark.parametrize(("planned", "first"), [(184, 92), (50, 30), (20, 20), (61, 31)])
def test_first_stage(planned, first):
    assert first_stage_pairs(planned) == first


def test_reestimation_uses_the_count_only_and_is_capped():
    assert reestimated_pairs(30, 92, planned=184, tolerance=0.1, power=0.8) == required_pairs(
        0.1, discordance=31 / 94, power=0.8
    )
    assert reestimated_pairs(92, 92, planned=92, tolerance=0.05, power=0.8) == 4 * 92
    assert (
        reestimated_pairs(0, 92, planned=184, tolerance=0.1, power=0.8) == 92
    )  # never below what was played


def test_sd_bound_holds_with_the_stated_confidence():
    rng = np.random.default_rng(2)
    sds = rng.normal(size=(20_000, 4)).std(axis=1, ddof=1)
    factor = sd_upper_bound(1.0, 4)
    assert (sds * factor >= 1.0).mean() == pytest.approx(0.8, abs=0.01)
    assert factor == pytest.approx(math.sqrt(3 / scipy_stats.chi2.ppf(0.2, 3)))


def test_pairs_to_decide_projects_the_same_shares():
    estimate = binary_harm(22, 16, 100)
    n = pairs_to_decide(estimate, 0.1)
    assert estimate.verdict(0.1) == "inconclusive"
    scale = n / 100
    after = binary_harm(math.ceil(22 * scale), math.floor(16 * scale), n)
    assert after.verdict(0.1) != "inconclusive"
    assert (
        binary_harm(round(22 * scale * 0.8), round(16 * scale * 0.8), round(n * 0.8)).verdict(0.1)
        == "inconclusive"
    )


def test_a_decided_gate_needs_no_more_pairs():
    assert pairs_to_decide(binary_harm(5, 5, 400), 0.1) == 400


def test_units_to_decide_and_undecidable_drift():
    estimate = continuous_harm([0.3, -0.1, 0.2, 0.05])
    units = pairs_to_decide(estimate, 0.2)
    assert units > 4
    t = scipy_stats.t.ppf(0.95, units - 1)
    assert t * estimate.sd / math.sqrt(units) < max(estimate.harm, 0.2 - estimate.harm)
    assert pairs_to_decide(binary_harm(22, 16, 100, tau2=0.01), 0.1) is None
    nothing = binary_harm(0, 0, 10)
    assert nothing.verdict(0.1) == "inconclusive"
    n = pairs_to_decide(nothing, 0.1)
    assert binary_harm(0, 0, n, margin=0.1).verdict(0.1) == "pass"
    assert binary_harm(0, 0, n - 1, margin=0.1).verdict(0.1) == "inconclusive"


def test_an_inconclusive_gate_of_few_pairs_needs_more_of_them():
    undecided = 0
    for b in range(13):
        for c in range(13 - b):
            estimate = binary_harm(b, c, 12, margin=0.6)
            if estimate.verdict(0.6) == "inconclusive":
                undecided += 1
                assert pairs_to_decide(estimate, 0.6) > 12
    assert undecided >= 3


def test_a_tolerance_or_a_level_that_no_number_of_pairs_can_serve_is_named():
    with pytest.raises(ValueError, match="tolerance must be large enough that fewer than 1e18 pairs show it"):
        required_pairs(1e-160, discordance=0.3)
    with pytest.raises(ValueError, match="alpha must be at least 1e-12 away from 0 and from 1, got 1e-17"):
        required_pairs(0.1, discordance=0.3, alpha=1e-17)
    with pytest.raises(ValueError, match=r"tolerance must be a number > 0 and <= 1, got 1\.2"):
        verdict_rates(100, harm=0.1, discordance=0.3, tolerance=1.2)
