"""A gate of few pairs keeps its one-sided errors exactly, whatever the discordance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multinomial, norm

from pytest_swapgate.stats import (
    GUARDED_PAIRS,
    Interval,
    binary_harm,
    critical_values,
    tango_interval,
    tango_statistic,
)
from pytest_swapgate.stats.exact_power import tables
from pytest_swapgate.stats.harm import gate_limits


def largest_errors(n: int, margin: float, alpha: float) -> tuple[float, float]:
    """Largest P(FAIL | H = 0) and P(PASS | H = M) over discordances between those that the code itself looks at."""
    table = np.mgrid[0 : n + 1, 0 : n + 1].reshape(2, -1)
    b, c = table[:, table.sum(axis=0) <= n]
    limits = gate_limits(b, c, n, alpha=alpha, fail_alpha=alpha, margin=margin)
    fails, passes = (np.zeros((n + 1, n + 1), bool) for _ in range(2))
    fails[b, c], passes[b, c] = limits.low > 0, limits.high < margin
    worst_fail = worst_pass = 0.0
    for discordance in np.linspace(0.0041, 1.0, 173):
        b, c, weight = tables(n, (discordance / 2, discordance / 2, 1 - discordance))
        worst_fail = max(worst_fail, float(weight[fails[b, c]].sum()))
        if discordance >= margin:
            p = ((discordance + margin) / 2, (discordance - margin) / 2, 1 - discordance)
            b, c, weight = tables(n, p)
            worst_pass = max(worst_pass, float(weight[passes[b, c]].sum()))
    return worst_fail, worst_pass


@pytest.mark.parametrize("alpha", [0.05, 0.0125])
@pytest.mark.parametrize("margin", [0.05, 0.15, 0.3, 0.75])
@pytest.mark.parametrize("n", [3, 10, 20, 45])
def test_no_discordance_breaks_the_level(n, margin, alpha):
    fail, passed = largest_errors(n, margin, alpha)
    assert fail <= 1.1 * alpha
    assert passed <= 1.1 * alpha


def test_tango_alone_would_break_it():
    # ten pairs, tolerance .75: twelve per cent instead of five
    b, c, weight = tables(10, (0.875, 0.125, 0.0))
    plain = tango_interval(b, c, 10, confidence=0.9)
    assert weight[plain.high < 0.75].sum() == pytest.approx(0.1195, abs=5e-4)
    guarded = gate_limits(b, c, 10, alpha=0.05, fail_alpha=0.05, margin=0.75)
    assert weight[guarded.high < 0.75].sum() <= 0.055


@pytest.mark.parametrize(("b", "c", "n", "margin"), [(34, 24, 200, 0.10), (12, 2, 50, 0.20), (4, 5, 30, 0.3)])
def test_where_the_normal_value_keeps_the_level_the_interval_is_tangos(b, c, n, margin):
    assert binary_harm(b, c, n, margin=margin).interval == tango_interval(b, c, n, confidence=0.9)


def test_an_interval_is_only_ever_widened_and_holds_the_estimate():
    for b in range(13):
        for c in range(13 - b):
            plain, guarded = binary_harm(b, c, 12).interval, binary_harm(b, c, 12, margin=0.4).interval
            assert guarded.low <= plain.low <= (b - c) / 12 <= plain.high <= guarded.high


def test_each_end_keeps_its_own_level():
    b, c = np.array([9]), np.array([2])
    low, high = gate_limits(b, c, 14, alpha=0.05, fail_alpha=0.0125, margin=0.3)
    assert low == gate_limits(b, c, 14, alpha=0.0125, fail_alpha=0.0125, margin=0.3).low
    assert high == gate_limits(b, c, 14, alpha=0.05, fail_alpha=0.05, margin=0.3).high


def test_session_drift_widens_the_guarded_interval_too():
    still = binary_harm(9, 2, 14, margin=0.75).interval
    drift = binary_harm(9, 2, 14, margin=0.75, tau2=0.01, sessions=2).interval
    assert drift.low < still.low
    assert drift.high > still.high


@pytest.mark.parametrize("n", [5, 24, 60])
@pytest.mark.parametrize("harm", [0.0, 0.05, 0.3, 0.8])
def test_the_statistic_rises_with_the_share_of_harms(n, harm):
    """What the exact error is summed over is a first part of each row only because of this."""
    for m in range(n + 1):
        b = np.arange(m + 1)
        assert (np.diff(tango_statistic(b, m - b, n, harm)) >= 0).all()


def test_beyond_the_guarded_numbers_the_normal_value_stands():
    n = GUARDED_PAIRS + 1
    assert critical_values(n, [0, n], alpha=0.05, harm=0.5).tolist() == [norm.ppf(0.95)] * 2


def test_a_tolerance_of_everything_is_no_error():
    assert isinstance(binary_harm(2, 1, 10, margin=1.0).interval, Interval)


@pytest.mark.parametrize("margin", [0.0, -0.1, math.nan, True, 1.5])
def test_a_bad_margin_is_named(margin):
    with pytest.raises(ValueError, match="margin must be a number > 0"):
        binary_harm(2, 1, 10, margin=margin)


def test_the_enumerated_probabilities_are_those_of_the_trinomial():
    b, c, weight = tables(9, (0.3, 0.1, 0.6))
    assert weight == pytest.approx(multinomial.pmf(np.stack([b, c, 9 - b - c], axis=1), 9, [0.3, 0.1, 0.6]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be a whole number >= 1"),
        ({"discordant": [3, 11]}, "discordant must be at most n=10"),
        ({"discordant": [-1]}, "discordant must be whole numbers >= 0"),
        ({"alpha": 0.5}, "alpha must be a number > 0 and < 0.5"),
        ({"harm": -0.1}, "harm must be a number >= 0 and <= 1"),
    ],
)
def test_bad_arguments_of_critical_values_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        critical_values(**{"n": 10, "discordant": [3], "alpha": 0.05, "harm": 0.2, **arguments})
