"""P-values against scipy, and against the end of the interval that they go with."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pytest_swapgate.stats import binary_harm, continuous_harm, t_interval
from pytest_swapgate.stats.p_values import harm_p_value, mean_p_value

UNITS = [0.03, -0.01, 0.08, 0.02, 0.05, 0.0]


@pytest.mark.parametrize("sign", [1, -1])
def test_units_are_tested_by_t_on_their_mean(sign):
    d = sign * np.array(UNITS)
    assert harm_p_value(continuous_harm(d)) == pytest.approx(
        stats.ttest_1samp(d, 0, alternative="greater").pvalue
    )
    assert mean_p_value(d) == pytest.approx(stats.ttest_1samp(d, 0).pvalue)


def test_session_drift_is_in_the_standard_error_of_units():
    d = np.array(UNITS)
    se = math.sqrt(d.var(ddof=1) / 6 + 0.0004 / 2)
    found = harm_p_value(continuous_harm(d, tau2=0.0004, sessions=2))
    assert found == pytest.approx(stats.t.sf(d.mean() / se, 5))
    assert found > harm_p_value(continuous_harm(d))


@pytest.mark.parametrize(("b", "c"), [(12, 3), (3, 12), (7, 7), (80, 0), (0, 80), (1, 0)])
def test_successes_are_tested_by_tangos_statistic_at_no_harm(b, c):
    found = harm_p_value(binary_harm(b, c, 80))
    assert found == pytest.approx(stats.norm.sf((b - c) / math.sqrt(b + c)))


def test_without_a_discordant_pair_there_is_no_evidence():
    assert harm_p_value(binary_harm(0, 0, 80)) == 1.0


@pytest.mark.parametrize("tau2", [0.001, 0.01])
def test_drift_makes_the_harm_of_successes_less_sure(tau2):
    plain, drifted = (harm_p_value(binary_harm(20, 3, 80, tau2=t)) for t in (0.0, tau2))
    assert plain < drifted < 0.5
    assert harm_p_value(binary_harm(0, 0, 80, tau2=tau2)) == 1.0


def test_a_p_value_below_the_level_is_an_interval_clear_of_no_harm():
    for estimate in (
        *(continuous_harm(np.array(UNITS) - shift) for shift in (0.0, 0.01, 0.02, 0.03)),
        *(binary_harm(b, 10, 300) for b in range(10, 25)),
    ):
        assert (harm_p_value(estimate) < 0.05) == (estimate.interval.low > 0)
    for shift in (0.0, 0.01, 0.02, 0.03):
        d = np.array(UNITS) - shift
        assert (mean_p_value(d) < 0.1) == (t_interval(d, confidence=0.9).low > 0)


@pytest.mark.parametrize("bad", [[0.1, 0.2], [0.1, 0.1, 0.1]])
def test_units_that_show_no_spread_have_no_p_value(bad):
    with pytest.raises(ValueError, match="differences"):
        mean_p_value(bad)
