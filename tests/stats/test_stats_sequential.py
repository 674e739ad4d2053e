"""Looks, bounds and bets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pytest_swapgate.stats import (
    Verdict,
    betting_e_process,
    crossing_probabilities,
    plan_looks,
    required_pairs,
    sequential_inflation,
    sequential_rates,
    spending_bounds,
    spent_alpha,
    take_look,
    tango_statistic,
    verdict_rates,
)
from pytest_swapgate.stats._quantiles import root
from pytest_swapgate.stats.betting import capital


def test_published_bounds_of_five_looks():
    assert np.round(spending_bounds(5), 3).tolist() == [4.229, 2.888, 2.298, 1.962, 1.740]


def test_published_two_sided_bounds():
    # Reboussin et al. (2000) / gsDesign: O'Brien-Fleming spending at two-sided .05, five equal looks
    assert np.round(spending_bounds(5, alpha=0.025), 2).tolist() == [4.88, 3.36, 2.68, 2.29, 2.03]
    assert np.round(spending_bounds(5, alpha=0.025, spending="pocock"), 2).tolist() == [
        2.44,
        2.43,
        2.41,
        2.40,
        2.39,
    ]


@pytest.mark.parametrize(
    ("function", "low", "high", "expected"),
    [
        (lambda x: x - 1.0, 1.0, 3.0, 1.0),
        (lambda x: x - 3.0, 1.0, 3.0, 3.0),
        (lambda x: 2.0 - x, 0.0, 4.0, 2.0),
        (lambda x: math.exp(x) - 5.0, -30.0, 30.0, math.log(5.0)),
        (lambda x: x**9 - 1e-9, -1.0, 4.0, 0.1),
        (lambda x: math.atan(x - 0.3), -1000.0, 1000.0, 0.3),
    ],
)
def test_root(function, low, high, expected):
    assert root(function, low, high) == pytest.approx(expected, abs=1e-12)


def test_one_look_is_the_fixed_test():
    assert spending_bounds(1) == pytest.approx([scipy_stats.norm.ppf(0.95)], abs=1e-9)
    assert sequential_inflation(1, power=0.8) == pytest.approx(1.0, abs=1e-9)


def test_two_looks_equal_the_bivariate_normal():
    c1, c2 = spending_bounds([0.4, 1.0])
    inside = scipy_stats.multivariate_normal.cdf([c1, c2], cov=[[1, math.sqrt(0.4)], [math.sqrt(0.4), 1]])
    assert 1 - inside == pytest.approx(0.05, abs=1e-6)


@given(st.integers(1, 12), st.floats(0.005, 0.2), st.sampled_from(["obrien-fleming", "pocock"]))
@settings(deadline=None, max_examples=25)
def test_bounds_spend_exactly_alpha(looks, alpha, spending):
    bounds = spending_bounds(looks, alpha=alpha, spending=spending)
    crossed = crossing_probabilities(bounds, looks)
    spent = [spent_alpha((k + 1) / looks, alpha=alpha, spending=spending) for k in range(looks)]
    assert np.cumsum(crossed) == pytest.approx(spent, abs=1e-10)


def test_inflation_keeps_the_power_of_the_fixed_plan():
    assert sequential_inflation(5, power=0.8) == pytest.approx(1.035, abs=1e-3)
    assert sequential_inflation(5, power=0.9) == pytest.approx(1.0325, abs=1e-3)
    bounds, z = spending_bounds(5), scipy_stats.norm.ppf([0.95, 0.9]).sum()
    power = crossing_probabilities(bounds, 5, drift=z * math.sqrt(sequential_inflation(5, power=0.9))).sum()
    assert power == pytest.approx(0.9, abs=1e-9)


@pytest.mark.parametrize(
    ("looks", "match"),
    [
        (0, "looks must be a whole number >= 1"),
        (2.5, "looks must be a whole number"),
        ([0.5, 0.4, 1.0], "increasing fractions"),
        ([0.5, 0.9], "end at 1"),
        ([0.0, 1.0], "increasing fractions > 0"),
        ([], "looks must be"),
        ("five", "looks must be"),
    ],
)
def test_bad_looks(looks, match):
    with pytest.raises(ValueError, match=match):
        spending_bounds(looks)


def test_bad_spending_arguments():
    with pytest.raises(ValueError, match=r"spending must be one of 'obrien-fleming', 'pocock'"):
        spending_bounds(5, spending="haybittle")
    with pytest.raises(ValueError, match=r"alpha must be a number >= 1e-12 and < 0\.5"):
        spending_bounds(5, alpha=0.5)
    with pytest.raises(ValueError, match=r"bounds must be one per look \(5 looks\)"):
        crossing_probabilities([2.0, 2.0], 5)
    with pytest.raises(ValueError, match="fraction must be a number > 0 and <= 1"):
        spent_alpha(1.1)


@pytest.fixture(scope="module")
def plan():
    return plan_looks(0.10, discordance=0.32, power=0.8)


def test_plan(plan):
    fixed = required_pairs(0.10, discordance=0.32, power=0.8)
    assert plan.sizes[-1] == math.ceil(1.035 * fixed)
    assert [round(size / plan.sizes[-1], 2) for size in plan.sizes] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert np.round(plan.bounds, 3).tolist() == [4.229, 2.888, 2.298, 1.962, 1.740]
    assert plan_looks(0.10, discordance=0.32, looks=1).sizes == (required_pairs(0.10, discordance=0.32),)


@given(st.integers(1, 5), st.data())
@settings(deadline=None, max_examples=60)
def test_a_look_is_the_score_statistic_against_its_bound(plan, number, data):
    n, bound = plan.sizes[number - 1], plan.bounds[number - 1]
    b = data.draw(st.integers(0, n // 2))
    c = data.draw(st.integers(0, n // 2))
    found = take_look(plan, number, b, c).verdict
    harm = float(tango_statistic(b, c, n, 0.0)) > bound
    safe = float(tango_statistic(b, c, n, plan.tolerance)) < -bound
    if safe:
        assert found is Verdict.PASS
    elif harm:
        assert found is Verdict.FAIL
    else:
        assert found is (None if number < 5 else Verdict.INCONCLUSIVE)


def test_drift_widens_a_look(plan):
    assert take_look(plan, 3, 40, 10).verdict is Verdict.FAIL
    assert take_look(plan, 3, 40, 10, tau2=0.05).verdict is None


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, 1, 1), "number must be a whole number >= 1"),
        ((6, 1, 1), "number must be at most 5"),
        ((1, 40, 30), r"b \+ c must be at most n"),
        ((1, -1, 0), "b must be"),
    ],
)
def test_bad_looks_at_a_plan(plan, arguments, match):
    with pytest.raises(ValueError, match=match):
        take_look(plan, *arguments)


def test_exact_rates_and_expected_pairs(plan):
    fixed = required_pairs(0.10, discordance=0.32, power=0.8)
    at = {h: sequential_rates(plan, harm=h, discordance=0.32) for h in (0.0, 0.1, 0.2)}
    assert at[0.0].failed <= 0.052
    assert at[0.1].passed <= 0.052
    assert at[0.1].failed >= 0.8
    assert at[0.0].expected_pairs <= 0.82 * fixed
    assert at[0.2].expected_pairs <= 0.52 * fixed
    assert sum(at[0.0][:3]) == pytest.approx(1.0)


def test_exact_rates_of_one_look_are_those_of_the_fixed_gate():
    one = plan_looks(0.10, discordance=0.3, looks=1)
    rates = sequential_rates(one, harm=0.05, discordance=0.3)
    assert rates[:3] == pytest.approx(
        tuple(verdict_rates(one.sizes[0], harm=0.05, discordance=0.3, tolerance=0.10))
    )
    assert rates.expected_pairs == pytest.approx(one.sizes[0])


@pytest.mark.parametrize("alpha", [0.05, 0.0125])
@pytest.mark.parametrize("tolerance", [0.2, 0.35, 0.5, 0.75, 1.0])
def test_few_pairs_keep_the_level_of_a_sequential_gate_at_every_discordance(tolerance, alpha):
    plan = plan_looks(tolerance, discordance=max(0.3, tolerance), alpha=alpha)
    for d in np.linspace(tolerance, 1.0, 8):
        assert sequential_rates(plan, harm=tolerance, discordance=d).passed <= 1.12 * alpha
    for d in np.linspace(0.05, 1.0, 8):
        assert sequential_rates(plan, harm=0.0, discordance=d).failed <= 1.12 * alpha


def test_a_smaller_effect_makes_looks_later_and_leaves_the_tolerance_that_decides():
    plan = plan_looks(0.25, discordance=0.3, effect=0.10)
    assert plan.sizes == plan_looks(0.10, discordance=0.3).sizes
    assert plan.tolerance == 0.25
    # At the second look 106 pairs show that the harm is below .25, though not below .10.
    look = take_look(plan, 2, 10, 8)
    assert look.interval.high > 0.10
    assert look.verdict is Verdict.PASS


def test_a_power_that_the_rule_cannot_have_is_refused():
    with pytest.raises(ValueError, match=r"power must be < 1 - alpha = 0\.95: the rule passes a harm"):
        plan_looks(0.1, discordance=0.3, power=0.96)


def test_exact_rates_agree_with_played_looks():
    small = plan_looks(0.25, discordance=0.4, power=0.8, looks=3)
    rng = np.random.default_rng(8)
    runs = rng.choice([1, -1, 0], p=[0.3, 0.1, 0.6], size=(800, small.sizes[-1]))
    verdicts, pairs = [], []
    for run in runs:
        for number, n in enumerate(small.sizes, start=1):
            seen = run[:n]
            verdict = take_look(small, number, int((seen == 1).sum()), int((seen == -1).sum())).verdict
            if verdict is not None:
                break
        verdicts.append(verdict)
        pairs.append(n)
    rates = sequential_rates(small, harm=0.2, discordance=0.4)
    assert np.mean([v is Verdict.FAIL for v in verdicts]) == pytest.approx(rates.failed, abs=0.05)
    assert np.mean(pairs) == pytest.approx(rates.expected_pairs, rel=0.04)


def test_capital_is_the_mean_over_stakes_of_the_product():
    d = np.array([1.0, 0.0, -1.0, 1.0, 1.0])
    stakes = np.arange(1, 7) / 10
    direct = np.mean([np.cumprod(1 + s * d) for s in stakes], axis=0)
    assert capital(d, 1.0) == pytest.approx(direct)


def test_bets_find_harm_and_its_absence():
    rng = np.random.default_rng(4)
    harmful = betting_e_process(rng.choice([1.0, -1.0, 0.0], p=[0.3, 0.05, 0.65], size=600), tolerance=0.1)
    assert harmful.verdict is Verdict.FAIL
    assert harmful.against_no_harm[harmful.pairs - 1] >= 20 > harmful.against_no_harm[harmful.pairs - 2]
    safe = betting_e_process(rng.choice([1.0, -1.0, 0.0], p=[0.1, 0.15, 0.75], size=900), tolerance=0.1)
    assert safe.verdict is Verdict.PASS
    short = betting_e_process([0.0, 1.0, -1.0], tolerance=0.1)
    assert (short.verdict, short.pairs) == (Verdict.INCONCLUSIVE, None)


def test_capital_is_a_fair_game_and_is_never_nan():
    assert np.isfinite(capital(np.ones(5000), 1.0)).all()
    outcomes = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert capital(outcomes, 1.0).mean(axis=0) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("differences", "tolerance"), [([1.5], 0.1), ([math.nan], 0.1), ([], 0.1), ([0.5], 0.0), ([0.5], 1.0)]
)
def test_bad_bets(differences, tolerance):
    with pytest.raises(ValueError, match=r"differences|tolerance"):
        betting_e_process(differences, tolerance=tolerance)


def test_root_of_values_whose_squares_underflow():
    assert root(lambda x: 1e-200 * (x**3 - 2), 0.0, 2.0) == pytest.approx(2 ** (1 / 3), rel=1e-12)
    assert root(lambda x: 1.0 if x < 0.3 else -5e-324, 0.0, 1.0) == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize(
    ("looks", "alpha", "spending"),
    [
        (120, 0.0125, "obrien-fleming"),
        (80, 0.001, "obrien-fleming"),
        (20, 1e-10, "obrien-fleming"),
        (5, 1e-12, "obrien-fleming"),
        (20, 1e-12, "pocock"),
    ],
)
def test_bounds_far_out_spend_what_they_should_at_every_look(looks, alpha, spending):
    bounds = spending_bounds(looks, alpha=alpha, spending=spending)
    first = spent_alpha(1 / looks, alpha=alpha, spending=spending)
    assert bounds[0] == pytest.approx(scipy_stats.norm.isf(first), rel=1e-9)
    spent = [spent_alpha(k / looks, alpha=alpha, spending=spending) for k in range(1, looks + 1)]
    assert crossing_probabilities(bounds, looks) == pytest.approx(np.diff(spent, prepend=0), rel=1e-9, abs=0)


def test_the_second_bound_far_out_equals_its_own_integral():
    alpha = 1e-12
    first, second = spending_bounds(2, alpha=alpha)
    step = spent_alpha(1.0, alpha=alpha) - spent_alpha(0.5, alpha=alpha)
    # the score at half time, below the first bound, then the rest of the way
    x, dx = np.linspace(-8, first, 400_001, retstep=True)
    values = scipy_stats.norm.pdf(x) * scipy_stats.norm.sf(second * math.sqrt(2) - x)
    assert float(values.sum() * dx) == pytest.approx(step, rel=1e-4)


def test_bounds_of_looks_whose_error_no_double_holds():
    fractions = [0.001, 0.002, 0.5, 1.0]
    bounds = spending_bounds(fractions)
    z = scipy_stats.norm.isf(0.025)
    assert bounds[:2] == pytest.approx([z / math.sqrt(0.001), z / math.sqrt(0.002)], rel=0.001)
    assert bounds[2:] == pytest.approx(spending_bounds([0.5, 1.0]), rel=1e-9)


def test_looks_that_lie_close_together():
    fractions = [0.5, 0.50001, 1.0]
    bounds = spending_bounds(fractions)
    spent = [spent_alpha(t) for t in fractions]
    assert crossing_probabilities(bounds, fractions) == pytest.approx(np.diff(spent, prepend=0), rel=1e-7)


@pytest.mark.parametrize("alpha", [1e-60, 0.0, 0.5, math.nan, "0.05"])
def test_an_alpha_outside_the_range_of_bounds_is_named(alpha):
    with pytest.raises(ValueError, match=r"alpha must be a number >= 1e-12 and < 0\.5"):
        spending_bounds(5, alpha=alpha)
    with pytest.raises(ValueError, match=r"alpha must be a number >= 1e-12 and < 0\.5"):
        sequential_inflation(5, alpha=alpha)


def test_ragged_looks_and_bounds_are_named():
    with pytest.raises(ValueError, match="looks must be an array of numbers, not ragged"):
        spending_bounds([[0.1, 0.2], [1.0]])
    with pytest.raises(ValueError, match="bounds must be an array of numbers, not ragged"):
        crossing_probabilities([[0.1, 0.2], [1.0]], 2)
    with pytest.raises(ValueError, match="each look has some error to spend"):
        spending_bounds([1 - 2**-53, 1.0], spending="pocock")
