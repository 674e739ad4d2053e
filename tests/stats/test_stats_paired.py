"""Tests and intervals of paired and single proportions against statsmodels, scipy and published tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.proportion import proportion_confint

from pytest_swapgate.stats import (
    bonett_price_interval,
    clopper_pearson_interval,
    conditional_wilson_interval,
    exact_sign_test,
    mcnemar,
    midp_mcnemar,
    newcombe_interval,
    tango_interval,
    wilson_interval,
)

COUNTS = [(0, 0), (1, 0), (0, 1), (5, 5), (21, 11), (2, 7), (34, 24), (45, 30), (150, 90)]


@pytest.mark.parametrize(("b", "c"), COUNTS)
def test_mcnemar_tests_equal_statsmodels_and_scipy(b, c):
    table = [[3, b], [c, 4]]
    assert exact_sign_test(b, c) == pytest.approx(sm_mcnemar(table, exact=True).pvalue, abs=1e-9)
    if b + c == 0:
        assert midp_mcnemar(b, c) == mcnemar(b, c) == exact_sign_test(b, c) == 1.0
        return
    assert mcnemar(b, c) == pytest.approx(sm_mcnemar(table, exact=False, correction=False).pvalue, abs=1e-9)
    assert mcnemar(b, c, correction=True) == pytest.approx(
        sm_mcnemar(table, exact=False, correction=True).pvalue if b != c else 1.0, abs=1e-9
    )
    for alternative in ("greater", "less", "two-sided"):
        oracle = scipy_stats.binomtest(b, b + c, 0.5, alternative=alternative).pvalue
        assert exact_sign_test(b, c, alternative=alternative) == pytest.approx(oracle, abs=1e-9)


@pytest.mark.parametrize(("b", "c"), [(b, c) for b, c in COUNTS if b + c])
def test_midp_takes_half_the_observed_table(b, c):
    point = scipy_stats.binom.pmf(b, b + c, 0.5)
    one_sided = scipy_stats.binom.sf(b - 1, b + c, 0.5) - point / 2
    assert midp_mcnemar(b, c, alternative="greater") == pytest.approx(one_sided, abs=1e-12)
    assert midp_mcnemar(c, b, alternative="less") == pytest.approx(one_sided, abs=1e-12)
    expected = min(1.0, exact_sign_test(b, c) - point) if b != c else 1.0
    assert midp_mcnemar(b, c) == pytest.approx(expected, abs=1e-12)


def test_midp_size_stays_below_five_percent():
    for m in range(1, 101):
        b = np.arange(m + 1)
        rejected = np.array([midp_mcnemar(int(k), int(m - k)) <= 0.05 for k in b])
        # conditional size may exceed .05 at a given m; over any binomial number of discordant pairs it does not
        for_given_m = scipy_stats.binom.pmf(b, m, 0.5)[rejected].sum()
        assert for_given_m <= 0.08
    for n, discordance in [(50, 0.3), (100, 0.2), (100, 0.32), (200, 0.3)]:
        total = 0.0
        for m in range(1, n + 1):
            weight = scipy_stats.binom.pmf(m, n, discordance)
            if weight < 1e-9:
                continue
            b = np.arange(m + 1)
            rejected = [k for k in b if midp_mcnemar(int(k), int(m - k)) <= 0.05]
            total += weight * scipy_stats.binom.pmf(rejected, m, 0.5).sum()
        assert total <= 0.0500


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 10), (23, 30), (1, 598)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_single_proportions_equal_statsmodels(k, n, confidence):
    for method, function in (("wilson", wilson_interval), ("beta", clopper_pearson_interval)):
        low, high = proportion_confint(k, n, alpha=1 - confidence, method=method)
        assert function(k, n, confidence=confidence) == pytest.approx((low, high), abs=1e-9)


def test_conditional_wilson_reproduces_the_published_intervals():
    printed = {(27, 9, 100): (6, 26), (34, 24, 200): (-2, 12), (45, 30, 200): (-1, 15)}
    for counts, interval in printed.items():
        assert [round(100 * x) for x in conditional_wilson_interval(*counts)] == list(interval)
    assert conditional_wilson_interval(0, 0, 50) == (0.0, 0.0)


def test_bonett_price_is_the_adjusted_wald_interval():
    low, high = bonett_price_interval(12, 2, 50)
    p, q = 13 / 52, 3 / 52
    half = scipy_stats.norm.ppf(0.975) * math.sqrt((p + q - (p - q) ** 2) / 52)
    assert (low, high) == (pytest.approx(p - q - half, abs=1e-12), pytest.approx(p - q + half, abs=1e-12))
    assert bonett_price_interval(3, 0, 3, confidence=0.999999).high == 1.0


def newcombe_by_the_book(a, b, c, d, z):
    """Newcombe 1998, method 10, written out from the paper's square-and-add formula."""
    n = a + b + c + d

    def wilson(k):
        centre, spread = 2 * k + z * z, z * math.sqrt(z * z + 4 * k * (1 - k / n))
        return (centre - spread) / (2 * (n + z * z)), (centre + spread) / (2 * (n + z * z))

    (l2, u2), (l3, u3) = wilson(a + b), wilson(a + c)
    p2, p3 = (a + b) / n, (a + c) / n
    bottom = (a + b) * (c + d) * (a + c) * (b + d)
    phi = 0.0
    if bottom:
        top = a * d - b * c
        top = max(top - n / 2, 0) if top > 0 else top
        phi = top / math.sqrt(bottom)
    delta = (p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u3 - p3) + (u3 - p3) ** 2
    epsilon = (p3 - l3) ** 2 - 2 * phi * (p3 - l3) * (u2 - p2) + (u2 - p2) ** 2
    return p2 - p3 - math.sqrt(delta), p2 - p3 + math.sqrt(epsilon)


@pytest.mark.parametrize(
    "table", [(36, 12, 2, 0), (20, 12, 2, 16), (5, 3, 9, 1), (0, 4, 6, 0), (10, 0, 0, 10)]
)
def test_newcombe_is_method_ten(table):
    a, b, c, d = table
    oracle = newcombe_by_the_book(a, b, c, d, scipy_stats.norm.ppf(0.975))
    assert newcombe_interval(b, c, sum(table), both_succeed=a) == pytest.approx(oracle, abs=1e-12)


def test_newcombe_without_the_split_spans_every_split():
    spanning = newcombe_interval(12, 2, 50)
    inside = [newcombe_interval(12, 2, 50, both_succeed=a) for a in range(37)]
    assert spanning.low == min(i.low for i in inside)
    assert spanning.high == max(i.high for i in inside)


@given(st.integers(1, 120), st.data(), st.sampled_from([0.8, 0.9, 0.95]))
@settings(deadline=None, max_examples=40)
def test_all_intervals_hold_the_estimate_and_mirror(n, data, confidence):
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    for function in (newcombe_interval, tango_interval):
        low, high = function(b, c, n, confidence=confidence)
        assert -1 <= low <= (b - c) / n <= high <= 1
        assert function(c, b, n, confidence=confidence) == pytest.approx((-high, -low), abs=1e-9)
    low, high = conditional_wilson_interval(b, c, n, confidence=confidence)
    assert low <= (b - c) / n + 1e-12
    assert (b - c) / n <= high + 1e-12


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: midp_mcnemar(-1, 2), "b must be a whole number >= 0, got -1"),
        (lambda: exact_sign_test(1, 2.0), "c must be a whole number"),
        (lambda: mcnemar(1, float("nan")), "c must be a whole number"),
        (
            lambda: midp_mcnemar(1, 2, alternative="both"),
            "alternative must be one of 'two-sided', 'greater', 'less'",
        ),
        (lambda: wilson_interval(5, 4), "successes must be at most trials=4, got 5"),
        (lambda: wilson_interval(0, 0), "trials must be a whole number >= 1"),
        (lambda: clopper_pearson_interval(1, 4, confidence=1.0), "confidence must be a number > 0 and < 1"),
        (lambda: bonett_price_interval(3, 3, 5), r"b \+ c must be at most n"),
        (lambda: conditional_wilson_interval(3, 3, 5), r"b \+ c must be at most n"),
        (
            lambda: newcombe_interval(3, 1, 5, both_succeed=2),
            "both_succeed must be at most n - b - c = 1, got 2",
        ),
        (lambda: newcombe_interval(3, 1, 5, confidence=0), "confidence"),
    ],
)
def test_bad_arguments_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize("test", [exact_sign_test, midp_mcnemar])
def test_counts_beyond_32_bits(test):
    assert test(2**31, 5) == 0.0
    assert test(5, 2**31) == 0.0
    assert test(2**31, 5, alternative="less") == pytest.approx(1.0)
    assert test(2**39, 2**39) == pytest.approx(1.0)
    gap = 2_000_000
    normal = 2 * scipy_stats.norm.sf(gap / math.sqrt(2e12 - gap))
    assert test(10**12, 10**12 - gap) == pytest.approx(normal, rel=1e-4)


@pytest.mark.parametrize("test", [exact_sign_test, midp_mcnemar, mcnemar])
@pytest.mark.parametrize("many", [10**12 + 1, 2**63, 10**400])
def test_counts_beyond_the_limit_are_named(test, many):
    with pytest.raises(ValueError, match="b must be a whole number <= 1000000000000, got"):
        test(many, 5)
    with pytest.raises(ValueError, match="c must be a whole number <= 1000000000000, got"):
        test(5, many)


@pytest.mark.parametrize("correction", ["no", 0, 1, None])
def test_a_correction_is_a_bool(correction):
    with pytest.raises(ValueError, match="correction must be True or False"):
        mcnemar(5, 3, correction=correction)
    assert mcnemar(5, 3, correction=np.True_) == mcnemar(5, 3, correction=True)
