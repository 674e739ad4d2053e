"""Plans keep their word: the whole rule FAILs a harm of the size of the tolerance as often as planned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.stats import (
    Verdict,
    binary_harm,
    continuous_harm,
    deciding_multiplier,
    deciding_pairs,
    deciding_units,
    required_pairs,
    required_units,
    unit_multiplier,
    unit_power,
    unit_verdict_rates,
    verdict_rates,
)


@pytest.mark.parametrize(
    ("units", "harm", "margin"), [(3, 2.0, 2.0), (4, 1.96, 1.96), (6, 0.6, 1.2), (12, 0.0, 0.9)]
)
def test_unit_rates_are_those_of_the_shipped_decision(units, harm, margin):
    """10,000 simulated gates; four Monte-Carlo errors, at most .020."""
    runs = 10_000
    d = np.random.default_rng(7).standard_normal((runs, units)) + harm
    found = np.array([continuous_harm(x).verdict(margin) for x in d])
    exact = unit_verdict_rates(units, harm=harm, sd=1.0, tolerance=margin)
    for verdict, p in zip((Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE), exact, strict=True):
        assert (found == verdict).mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / runs) + 1e-4)


@given(
    st.integers(3, 300),
    st.floats(-1, 3),
    st.floats(0.05, 3),
    st.sampled_from([0.05, 0.1]),
    st.sampled_from([1, 4]),
)
@settings(deadline=None, max_examples=80)
def test_each_side_of_the_rule_has_its_noncentral_t_probability(units, harm, margin, alpha, family):
    rates = unit_verdict_rates(
        units, harm=harm, sd=1.0, tolerance=margin, alpha=alpha, fail_alpha=alpha / family
    )
    assert sum(rates) == pytest.approx(1.0, abs=1e-9)
    # U < M: the mirrored one-sided test of the distance to the margin
    assert rates.passed == pytest.approx(
        unit_power(units, effect=margin - harm, sd=1.0, alpha=alpha), abs=1e-7
    )
    assert rates.failed <= unit_power(units, effect=harm, sd=1.0, alpha=alpha / family) + 1e-7


@pytest.mark.parametrize(
    ("units", "effect", "power"), [(121, 3.5, 1.0), (121, -3.5, 0.0), (40_000, 2.0, 1.0)]
)
def test_power_is_a_number_for_any_effect(units, effect, power):
    """The noncentral t of scipy is NaN there."""
    assert unit_power(units, effect=effect, sd=1.0) == pytest.approx(power, abs=1e-12)


def test_a_harm_of_the_tolerance_passes_with_probability_alpha_whatever_the_units():
    for units in (3, 7, 1000):
        assert unit_verdict_rates(units, harm=0.2, sd=0.3, tolerance=0.2).passed == pytest.approx(
            0.05, abs=1e-9
        )


@given(st.integers(3, 60), st.sampled_from([0.8, 0.9, 0.94]), st.sampled_from([1, 2, 4]))
@settings(deadline=None, max_examples=50)
def test_at_the_multiplier_the_rule_fails_as_often_as_planned(units, power, family):
    side = 0.05 / family
    ratio = deciding_multiplier(units, fail_alpha=side, power=power)
    rates = unit_verdict_rates(units, harm=ratio, sd=1.0, tolerance=ratio, fail_alpha=side)
    assert rates.failed == pytest.approx(power, abs=1e-9)
    assert ratio >= unit_multiplier(units, alpha=side, power=power)


def test_the_power_of_the_test_alone_promises_too_much_with_four_pairs():
    ratio = unit_multiplier(4)
    assert unit_verdict_rates(4, harm=ratio, sd=1.0, tolerance=ratio).failed == pytest.approx(0.857, abs=5e-4)


@given(st.floats(0.3, 3), st.sampled_from([0.8, 0.9]), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=50)
def test_units_are_the_fewest_that_decide(tolerance, power, family):
    levels = {"fail_alpha": 0.05 / family, "power": power}
    units = deciding_units(tolerance, sd=1.0, **levels)
    assert units >= required_units(tolerance, sd=1.0, alpha=levels["fail_alpha"], power=power)
    assert deciding_multiplier(units, **levels) <= tolerance * (1 + 1e-9)
    if units > 3:
        assert deciding_multiplier(units - 1, **levels) > tolerance


@pytest.mark.parametrize(
    ("tolerance", "power", "published"), [(0.10, 0.8, 184), (0.10, 0.9, 254), (0.15, 0.9, 111)]
)
def test_published_numbers_of_pairs_are_enough_for_the_rule(tolerance, power, published):
    assert deciding_pairs(tolerance, discordance=0.3, power=power) == published


@pytest.mark.parametrize(("tolerance", "discordance"), [(0.5, 1.0), (0.4, 1.0), (0.3, 1.0), (0.4, 0.8)])
def test_where_the_formula_is_short_pairs_are_added_until_the_exact_rate_is_reached(tolerance, discordance):
    short = required_pairs(tolerance, discordance=discordance)
    enough = deciding_pairs(tolerance, discordance=discordance)
    rates = [
        verdict_rates(n, harm=tolerance, discordance=discordance, tolerance=tolerance)
        for n in (short, enough)
    ]
    assert rates[0].failed < 0.9 <= rates[1].failed


def test_levels_of_a_family_reach_both_sides():
    one = verdict_rates(60, harm=0.0, discordance=0.3, tolerance=0.2)
    four = verdict_rates(60, harm=0.0, discordance=0.3, tolerance=0.2, fail_alpha=0.0125)
    assert four.passed == one.passed
    assert four.failed < one.failed / 2


def test_verdict_rates_are_those_of_a_gate_with_few_pairs():
    n, margin = 12, 0.5
    p = np.array([0.6, 0.1, 0.3])
    counts = np.random.default_rng(3).multinomial(n, p, size=4000)
    found = np.array([binary_harm(int(b), int(c), n, margin=margin).verdict(margin) for b, c, _ in counts])
    exact = verdict_rates(n, harm=0.5, discordance=0.7, tolerance=margin)
    for verdict, rate in zip((Verdict.PASS, Verdict.FAIL), exact[:2], strict=True):
        assert (found == verdict).mean() == pytest.approx(rate, abs=4 * np.sqrt(rate * (1 - rate) / 4000))


@pytest.mark.parametrize("power", [0.95, 0.99])
def test_a_power_that_the_rule_cannot_have_is_refused(power):
    for plan in (
        lambda: deciding_multiplier(6, power=power),
        lambda: deciding_units(0.2, sd=0.1, power=power),
        lambda: deciding_pairs(0.1, discordance=0.3, power=power),
    ):
        with pytest.raises(ValueError, match=rf"power must be < 1 - alpha = 0.95, got {power:g}"):
            plan()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unit_verdict_rates(2, harm=0, sd=1, tolerance=1), "units must be a whole number >= 3"),
        (lambda: unit_verdict_rates(4, harm=float("nan"), sd=1, tolerance=1), "harm must be a finite number"),
        (lambda: unit_verdict_rates(4, harm=0, sd=0, tolerance=1), "sd must be a number > 0"),
        (lambda: deciding_multiplier(4, fail_alpha=0.06), "fail_alpha must be a number > 0 and <= 0.05"),
        (lambda: deciding_units(0, sd=1), "tolerance must be a number > 0"),
        (lambda: deciding_units(1e-6, sd=1), "tolerance must be reachable with 1000000 units"),
        (lambda: deciding_pairs(0.4, discordance=0.3), "tolerance must be at most the discordance 0.3"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
