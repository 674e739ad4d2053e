"""Tango's interval against a direct maximum-likelihood solution and by exact enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.stats import multinomial, norm

from pytest_swapgate.stats import Interval, tango_interval, tango_statistic
from pytest_swapgate.stats.harm import gate_limits


def restricted_likelihood_statistic(b: int, c: int, n: int, harm: float) -> float:
    """The score statistic with the nuisance probability found by maximising the likelihood numerically."""
    low, high = max(0.0, -harm), (1 - harm) / 2

    def minus_log_likelihood(q: float) -> float:
        parts = ((b, q + harm), (c, q), (n - b - c, 1 - 2 * q - harm))
        return -sum(k * math.log(p) for k, p in parts if k)

    q = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(low + 1e-12, high - 1e-12), method="bounded", options={"xatol": 1e-13}
    ).x
    return (b - c - n * harm) / math.sqrt(n * (2 * q + harm - harm * harm))


@pytest.mark.parametrize(
    ("b", "c", "n"), [(12, 2, 50), (34, 24, 200), (5, 5, 29), (1, 0, 30), (3, 9, 14), (7, 3, 10)]
)
@pytest.mark.parametrize("harm", [-0.35, -0.1, 0.0, 0.05, 0.2, 0.6])
def test_statistic_is_the_score_at_the_restricted_maximum_likelihood(b, c, n, harm):
    direct = restricted_likelihood_statistic(b, c, n, harm)
    assert float(tango_statistic(b, c, n, harm)) == pytest.approx(direct, rel=1e-5, abs=1e-6)


def test_limits_are_roots_of_the_directly_maximised_score():
    z = norm.ppf(0.95)
    for b, c, n in [(12, 2, 50), (34, 24, 200), (2, 7, 30)]:
        interval = tango_interval(b, c, n, confidence=0.9)
        assert restricted_likelihood_statistic(b, c, n, interval.low) == pytest.approx(z, abs=1e-5)
        assert restricted_likelihood_statistic(b, c, n, interval.high) == pytest.approx(-z, abs=1e-5)


def test_published_example():
    # Tango (1998), 12 and 2 discordant of 50: reported as 6.1 % to 34.5 %
    low, high = tango_interval(12, 2, 50, confidence=0.95)
    assert (round(low, 3), round(high, 3)) == (0.061, 0.345)


def test_no_discordant_pair_gives_the_closed_form_not_a_point():
    z2 = norm.ppf(0.95) ** 2
    for n in (1, 20, 500):
        low, high = tango_interval(0, 0, n, confidence=0.9)
        assert high == pytest.approx(z2 / (n + z2), rel=1e-12)
        assert low == pytest.approx(-z2 / (n + z2), rel=1e-12)


@pytest.mark.parametrize("n", [10, 20, 30, 50, 100])
def test_exact_coverage_and_one_sided_error(n):
    """Every (b, c) enumerated.

    With 10 and 20 pairs Tango's own one-sided error reaches .0654 and .0553 on this grid; a gate's end is guarded.
    """
    b, c = (grid.ravel() for grid in np.mgrid[0 : n + 1, 0 : n + 1])
    keep = b + c <= n
    b, c = b[keep], c[keep]
    two_sided = tango_interval(b, c, n, confidence=0.95)
    gate = tango_interval(b, c, n, confidence=0.9)
    outcomes = np.stack([b, c, n - b - c], axis=1)
    for discordance in (0.1, 0.2, 0.3, 0.4, 0.5):
        for harm in (0.0, 0.05, 0.1, 0.15, 0.2):
            if harm >= discordance:
                continue
            p = [(discordance + harm) / 2, (discordance - harm) / 2, 1 - discordance]
            weight = multinomial.pmf(outcomes, n, p)
            covered = weight[(two_sided.low <= harm) & (harm <= two_sided.high)].sum()
            assert covered >= 0.94, (discordance, harm, covered)
            if n >= 30:
                assert weight[gate.high < harm].sum() <= 0.055, (discordance, harm)
            if harm > 0:
                guarded = gate_limits(b, c, n, alpha=0.05, fail_alpha=0.05, margin=harm).high
                assert weight[guarded < harm].sum() <= 0.055, (discordance, harm)


@pytest.mark.parametrize("n", [1, 2, 7, 400])
def test_all_pairs_discordant_the_same_way_is_not_a_point_either(n):
    z2 = norm.ppf(0.95) ** 2
    low, high = tango_interval(n, 0, n, confidence=0.9)
    assert high == 1.0
    assert low == pytest.approx((n - z2) / (n + z2), abs=1e-12)
    assert float(tango_statistic(n, 0, n, low)) == pytest.approx(math.sqrt(z2), abs=1e-9)


def test_limits_solve_the_equation_to_rounding_everywhere():
    b, c, n = (g.ravel() for g in np.mgrid[0:40, 0:40, 79:400:80])
    limits = tango_interval(b, c, n, confidence=0.9)
    z = norm.ppf(0.95)
    assert tango_statistic(b, c, n, limits.low) == pytest.approx(np.full(b.size, z), abs=1e-9)
    assert tango_statistic(b, c, n, limits.high) == pytest.approx(np.full(b.size, -z), abs=1e-9)


@given(st.integers(1, 400), st.data())
@settings(deadline=None, max_examples=60)
def test_swapping_arms_mirrors_the_interval_and_the_estimate_lies_inside(n, data):
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    low, high = tango_interval(b, c, n)
    mirrored = tango_interval(c, b, n)
    assert -1 <= low <= (b - c) / n <= high <= 1
    assert low < high
    assert mirrored.low == pytest.approx(-high, abs=1e-12)
    assert mirrored.high == pytest.approx(-low, abs=1e-12)


def test_arrays_give_the_same_numbers_as_one_call_each():
    b, c = np.array([0, 5, 30]), np.array([0, 9, 2])
    many = tango_interval(b, c, 60, confidence=0.9)
    for i in range(3):
        one = tango_interval(int(b[i]), int(c[i]), 60, confidence=0.9)
        assert isinstance(one, Interval)
        assert (many.low[i], many.high[i]) == pytest.approx(one, abs=1e-14)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((-1, 0, 10), "b must be a whole number >= 0, got -1"),
        ((1.0, 0, 10), "b must be a whole number"),
        ((True, 0, 10), "b must be a whole number"),
        ((0, float("nan"), 10), "c must be a whole number"),
        ((0, 0, 0), "n must be a whole number >= 1, got 0"),
        ((6, 5, 10), r"b \+ c must be at most n, got b=6, c=5, n=10"),
        (([1, 6], [1, 5], 10), r"b \+ c must be at most n, got b=6, c=5, n=10"),
        (([0.5], [0], 10), "b must be whole numbers"),
    ],
)
def test_bad_counts_are_named(arguments, match):
    with pytest.raises(ValueError, match=match):
        tango_interval(*arguments)


@pytest.mark.parametrize("confidence", [0, 1, 95, float("nan"), True, "0.9"])
def test_bad_confidence_is_named(confidence):
    with pytest.raises(ValueError, match="confidence must be a number > 0 and < 1"):
        tango_interval(3, 2, 10, confidence=confidence)


def test_impossible_harm_is_refused():
    with pytest.raises(ValueError, match=r"harm must be numbers in \[-1, 1\]"):
        tango_statistic(1, 1, 10, 1.5)
    with pytest.raises(ValueError, match="harm"):
        tango_statistic(1, 1, 10, float("nan"))


def test_single_counts_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="b \\+ c must be at most n, got b=5, c=3, n=1"):
        tango_statistic(5, 3, 1, 0.1)
    assert float(tango_statistic(5, 3, 10, 0.1)) == float(tango_statistic([5], 3, 10, 0.1)[0])


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(
        ValueError, match=r"b, c, n must have shapes that broadcast .* got \(2,\), \(3,\), \(\)"
    ):
        tango_interval([1, 2], [1, 2, 3], 10)
    with pytest.raises(ValueError, match=r"b, c, n, harm must have shapes that broadcast"):
        tango_statistic([1, 2], 1, 10, [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="c must be an array of numbers, not ragged"):
        tango_interval(1, [[1, 2], [3]], 10)
    with pytest.raises(ValueError, match="harm must be an array of numbers, not ragged"):
        tango_statistic(1, 1, 10, [[0.1, 0.2], [0.3]])
    with pytest.raises(ValueError, match=r"harm must be numbers in \[-1, 1\]"):
        tango_statistic(1, 1, 10, math.nan)


def test_a_confidence_near_one_never_gives_nan():
    low, high = tango_interval(1, 2, 10, confidence=1 - 1e-9)
    assert -1 <= low < -0.1 < high <= 1
    with pytest.raises(ValueError, match="confidence must be"):
        tango_interval(1, 2, 10, confidence=math.nextafter(1.0, 0.0))
