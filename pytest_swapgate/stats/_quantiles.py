"""Normal, t and chi-square quantiles from scipy.special: scipy.stats would cost a second of import."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from pytest_swapgate.stats import _special as special


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution."""
    return float(special.ndtri(probability))


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t distribution."""
    return float(special.stdtrit(df, probability))


def chi2_tail(x: float, df: float) -> float:
    """Upper tail probability of the chi-square distribution."""
    return float(special.chdtrc(df, x))


def chi2_quantile(probability: float, df: float) -> float:
    """Quantile of the chi-square distribution."""
    return float(special.chdtri(df, 1.0 - probability))


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of a function that changes sign between two numbers (Ridders 1979; scipy.optimize is slow to import)."""
    at_low, at_high = function(low), function(high)
    if at_low == 0 or at_high == 0:
        return low if at_low == 0 else high
    found = math.inf
    for _ in range(100):
        middle = (low + high) / 2
        at_middle = function(middle)
        scale = math.sqrt(at_middle * at_middle - at_low * at_high)
        before = found
        found = middle + (middle - low) * math.copysign(1.0, at_low) * at_middle / scale
        at_found = function(found)
        if at_found == 0 or abs(found - before) <= 1e-13 * max(1.0, abs(found)):
            break
        # keep the tightest pair of ends that still has the root between them
        points = sorted([(low, at_low), (middle, at_middle), (found, at_found), (high, at_high)])
        for left, right in pairwise(points):
            if (left[1] < 0) != (right[1] < 0):
                (low, at_low), (high, at_high) = left, right
                break
    return found
