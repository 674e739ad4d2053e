"""Intervals of a single proportion: Wilson and Clopper-Pearson."""

from __future__ import annotations

import math

from pytest_swapgate.stats import _special as special

from ._check import count, fail, fraction
from ._quantiles import normal_quantile
from .interval import Interval


def wilson_limits(p: float, n: float, z: float) -> Interval:
    """Wilson limits of a proportion `p` observed on an (effective) sample of size `n`, critical value `z`."""
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(max(p * (1 - p), 0.0) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # at p = 0 and 1 one limit is exactly the estimate
    low = 0.0 if p <= 0 else max(0.0, middle - half)
    high = 1.0 if p >= 1 else min(1.0, middle + half)
    return Interval(low, high)


def wilson_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Wilson score interval of a proportion.

    Parameters
    ----------
    successes, trials : int
        0 <= successes <= trials, trials >= 1.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212.
    """
    k, n = _pair(successes, trials)
    return wilson_limits(k / n, n, normal_quantile(0.5 + fraction("confidence", confidence) / 2))


def clopper_pearson_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Exact (Clopper-Pearson) interval of a proportion; each side misses with at most (1 - confidence) / 2.

    Parameters
    ----------
    successes, trials : int
        0 <= successes <= trials, trials >= 1.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404-413.
    """
    k, n = _pair(successes, trials)
    tail = (1 - fraction("confidence", confidence)) / 2
    low = 0.0 if k == 0 else float(special.betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(special.betaincinv(k + 1, n - k, 1 - tail))
    return Interval(low, high)


def _pair(successes: int, trials: int) -> tuple[int, int]:
    n = count("trials", trials, minimum=1)
    k = count("successes", successes)
    if k > n:
        raise fail("successes", successes, f"at most trials={n}")
    return k, n
