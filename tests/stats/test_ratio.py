"""Fieller's interval of a ratio of paired means, against its definition inverted numerically."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats

from pytest_swapgate.stats import ratio_interval, t_interval


def inverted(x, y, confidence):
    """Return the ratios at which the t test of mean(x - r y) = 0 is just not rejected, by root finding."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)

    def excess(r):
        d = x - r * y
        t = d.mean() / (d.std(ddof=1) / np.sqrt(d.size))
        return abs(t) - scipy_stats.t.ppf(0.5 + confidence / 2, d.size - 1)

    centre = x.mean() / y.mean()
    ends = []
    for sign in (-1, 1):
        step = 1e-3 * max(1.0, abs(centre))
        while excess(centre + sign * step) < 0:
            step *= 2
            assert step < 1e9
        ends.append(optimize.brentq(excess, centre, centre + sign * step, xtol=1e-13))
    return tuple(ends)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.1, 0.2, 0.15], [0.3, 0.5, 0.4]),
        ([0.1, -0.2, 0.05, 0.0], [1.0, 1.1, 0.9, 1.3]),
        ([3.0, 1.0, 2.0, 5.0, 4.0], [-2.0, -2.5, -1.5, -2.2, -1.9]),
        ([1e-4, 2e-4, 1.5e-4], [3e-4, 3.1e-4, 2.9e-4]),
    ],
)
def test_interval_is_the_set_of_ratios_that_are_not_rejected(x, y, confidence):
    assert ratio_interval(x, y, confidence=confidence) == pytest.approx(inverted(x, y, confidence), rel=1e-6)


@given(st.integers(0, 10_000), st.integers(3, 12), st.floats(-2, 2), st.floats(0.05, 0.3))
@settings(deadline=None, max_examples=60)
def test_interval_agrees_with_the_inversion_on_random_units(seed, size, ratio, spread):
    rng = np.random.default_rng(seed)
    y = 1.0 + spread * rng.standard_normal(size)
    x = ratio * y + 0.2 * rng.standard_normal(size)
    # Near the edge the upper end runs away, and no root finder follows.
    assume(t_interval(y, confidence=0.9).low > 0.05)
    low, high = ratio_interval(x, y, confidence=0.9)
    assert low <= x.mean() / y.mean() <= high
    assert (low, high) == pytest.approx(inverted(x, y, 0.9), rel=1e-6, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(0.1, 10))
@settings(deadline=None, max_examples=40)
def test_interval_scales_with_its_units(seed, a, b):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(5), 3 + 0.3 * rng.standard_normal(5)
    low, high = ratio_interval(x, y)
    assert ratio_interval(a * x, b * y) == pytest.approx((low * a / b, high * a / b))
    assert ratio_interval(-x, y) == pytest.approx((-high, -low))
    assert ratio_interval(x, -y) == pytest.approx((-high, -low))


def test_more_confidence_is_a_wider_interval():
    x, y = [0.1, 0.2, 0.15, 0.3], [1.0, 1.2, 0.9, 1.1]
    narrow, wide = ratio_interval(x, y, confidence=0.5), ratio_interval(x, y, confidence=0.95)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_coverage_is_what_it_says():
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(1000):
        y = 1.0 + 0.2 * rng.standard_normal(6)
        x = 0.4 * y + 0.15 * rng.standard_normal(6)
        low, high = ratio_interval(x, y, confidence=0.9)
        covered += low <= 0.4 <= high
    assert 870 <= covered <= 930  # 900 +- 3 standard errors


@pytest.mark.parametrize("y", [[0.1, -0.1, 0.2], [0.0, 0.1, 0.2], [-1.0, 1.0, 1.5]])
def test_denominator_that_may_be_0_is_refused(y):
    with pytest.raises(ValueError, match=r"denominator must have a mean whose interval is clear of 0, got"):
        ratio_interval([0.1, 0.2, 0.3], y)


@pytest.mark.parametrize(
    ("x", "y", "name"),
    [
        ([1, 2], [1, 2], "numerator"),
        ([1, 2, float("nan")], [1, 2, 3], "numerator"),
        ([1, 2, 3], [1, float("inf"), 3], "denominator"),
        ([1, 2, 3], [1, 2, 3, 4], "same shape"),
        ([1, 2, 3], [True, True, False], "denominator"),
    ],
)
def test_bad_units_are_refused_by_name(x, y, name):
    with pytest.raises(ValueError, match=name):
        ratio_interval(x, y)


@pytest.mark.parametrize("confidence", [0, 1, 1.2, float("nan"), True, "0.9"])
def test_bad_confidence_is_refused_by_name(confidence):
    with pytest.raises(ValueError, match="confidence"):
        ratio_interval([1, 2, 3], [10, 11, 12], confidence=confidence)
