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
        # in units of the largest value, so that the squares of tiny values are not lost
        unit = max(abs(at_low), abs(at_middle), abs(at_high))
        scale = math.sqrt((at_middle / unit) ** 2 - (at_low / unit) * (at_high / unit))
        before = found
        found = middle  # bisection, where nothing is left to extrapolate from
        if scale > 0:
            found += (middle - low) * math.copysign(1.0, at_low) * (at_middle / unit) / scale
        at_found = function(found)
        near = 1e-13 * max(1.0, abs(found))
        if at_found == 0 or abs(high - low) <= near:
            break
        # standing still is no proof where the function is a cliff: it must change sign right there
        if abs(found - before) <= near:
            left, right = max(found - near, low), min(found + near, high)
            if (function(left) < 0) != (function(right) < 0):
                break
        # keep the tightest pair of ends that still has the root between them
        points = sorted([(low, at_low), (middle, at_middle), (found, at_found), (high, at_high)])
        for start, end in pairwise(points):
            if (start[1] < 0) != (end[1] < 0):
                (low, at_low), (high, at_high) = start, end
                break
    return found
