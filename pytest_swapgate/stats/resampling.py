"""Sign-flip permutation, and the bootstrap over few units, offered with its coverage said."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.stats import _special as special

from ._check import FloatArray, choice, count, fraction, generator, reals
from .harm import MIN_UNITS, unit_sd
from .interval import Interval

MIN_BOOTSTRAP_UNITS = 12
"""From this many units on the bootstrap comes without a warning."""

_EXACT_LIMIT = 20  # 2^20 sign patterns are enumerated, more are sampled


def sign_flip_test(
    differences: ArrayLike,
    *,
    alternative: Literal["two-sided", "greater", "less"] = "greater",
    rng: np.random.Generator | None = None,
    resamples: int = 100_000,
) -> float:
    """Permutation test of no harm: the signs of unit differences are exchangeable under it.

    Parameters
    ----------
    differences : array_like, shape (J,)
        One harm per independent unit, J >= 1.
    alternative : {'greater', 'two-sided', 'less'}
        'greater' tests for harm.
    rng : numpy.random.Generator, optional
        Needed above 20 units, where sign patterns are sampled; up to 20 all 2^J are enumerated.
    resamples : int
        Sampled patterns, >= 100.

    Returns
    -------
    float
        p-value, at least ``2^-J``: with 4 units it cannot fall below 1/16.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter 3.
    """
    choice("alternative", alternative, ("two-sided", "greater", "less"))
    d = reals("differences", differences, what="unit differences")
    resamples = count("resamples", resamples, minimum=100)
    if d.size <= _EXACT_LIMIT:
        sums = np.zeros(1)
        for x in d:
            sums = np.concatenate([sums + x, sums - x])
        extra = 0
    else:
        signs = generator("rng", rng).integers(0, 2, size=(resamples, d.size), dtype=np.int8) * 2 - 1
        sums, extra = signs @ d, 1
    observed = float(d.sum())
    slack = 1e-12 * float(np.abs(d).sum())  # equal sums must count as equal after rounding
    if alternative == "greater":
        hits = int((sums >= observed - slack).sum())
    elif alternative == "less":
        hits = int((sums <= observed + slack).sum())
    else:
        hits = int((np.abs(sums) >= abs(observed) - slack).sum())
    return (hits + extra) / (sums.size + extra)


class BootstrapCoverageWarning(UserWarning):
    """A bootstrap interval over so few units covers less than it says."""


# Measured coverage of nominal 95 % intervals of a normal mean, J = 3..12 (benchmarks/calibration.py)
_COVERAGE = {
    "percentile": (0.748, 0.800, 0.837, 0.859, 0.875, 0.885, 0.893, 0.896, 0.906, 0.913),
    "bca": (0.682, 0.799, 0.842, 0.857, 0.875, 0.883, 0.890, 0.894, 0.903, 0.910),
}


def bootstrap_coverage(units: int, method: Literal["percentile", "bca"] = "percentile") -> float:
    """Coverage of a nominal 95 % bootstrap interval of a mean over J = 3..12 units, as measured.

    Above 12 units the value of 12 is returned, a lower bound.

    Parameters
    ----------
    units : int
        J >= 3.
    method : {'percentile', 'bca'}
        Kind of interval.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    This project's own simulation: benchmarks/calibration.py; docs/statistics.md, "Why four pairs are few".
    """
    choice("method", method, ("percentile", "bca"))
    return _COVERAGE[method][min(count("units", units, minimum=MIN_UNITS), MIN_BOOTSTRAP_UNITS) - MIN_UNITS]


def pair_bootstrap_interval(
    differences: ArrayLike,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    method: Literal["percentile", "bca"] = "percentile",
    resamples: int = 10_000,
) -> Interval:
    """Bootstrap interval of the mean over swap pairs: for reproducing published ranges, not for a gate.

    Parameters
    ----------
    differences : array_like, shape (J,), J >= 3
        One harm per independent unit.
    rng : numpy.random.Generator
        Source of randomness.
    confidence : float
        In (0, 1).
    method : {'percentile', 'bca'}
        Plain percentiles, or bias-corrected and accelerated.
    resamples : int
        >= 100.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    Warns
    -----
    BootstrapCoverageWarning
        Below 12 units, with the measured coverage of a nominal 95 % interval at this number of units.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapters 13 and 14.
    """
    choice("method", method, ("percentile", "bca"))
    d = reals("differences", differences, minimum_size=MIN_UNITS, what="unit differences")
    unit_sd(d, "differences")
    tail = (1 - fraction("confidence", confidence)) / 2
    resamples = count("resamples", resamples, minimum=100)
    rng = generator("rng", rng)
    if d.size < MIN_BOOTSTRAP_UNITS:
        warnings.warn(
            f"a nominal 95 % {method} bootstrap over {d.size} units covers "
            f"{bootstrap_coverage(d.size, method):.0%}; use t_interval, or at least {MIN_BOOTSTRAP_UNITS} units",
            BootstrapCoverageWarning,
            stacklevel=2,
        )
    means = bootstrap_means(d[None, :], rng, resamples)
    low, high = bootstrap_limits(d[None, :], means, tail, method)
    return Interval(float(low[0]), float(high[0]))


def bootstrap_means(samples: FloatArray, rng: np.random.Generator, resamples: int) -> FloatArray:
    """Means of bootstrap resamples of each row, shape (rows, resamples)."""
    units = samples.shape[1]
    weights = rng.multinomial(units, np.full(units, 1 / units), size=resamples)
    means: FloatArray = samples @ (weights.T / units)
    return means


def bootstrap_limits(
    samples: FloatArray, means: FloatArray, tail: float, method: str
) -> tuple[FloatArray, FloatArray]:
    """Limits of each row's interval from the means of its resamples (one vectorised body for use and calibration)."""
    rows, units = samples.shape
    if method == "percentile":
        low, high = np.quantile(means, [tail, 1 - tail], axis=1)
        return low, high
    centre = samples.mean(axis=1, keepdims=True)
    # half of the ties: with few units the resampled mean often equals the mean itself
    below = (means < centre).mean(axis=1) + 0.5 * (means == centre).mean(axis=1)
    bias = special.ndtri(np.clip(below, 0.5 / means.shape[1], 1 - 0.5 / means.shape[1]))
    gaps = centre - (samples.sum(axis=1, keepdims=True) - samples) / (units - 1)
    acceleration = (gaps**3).sum(axis=1) / (6 * (gaps**2).sum(axis=1) ** 1.5)
    limits = []
    for z in (special.ndtri(tail), special.ndtri(1 - tail)):
        shifted = bias + (bias + z) / (1 - acceleration * (bias + z))
        level = special.ndtr(shifted)
        limits.append(np.array([np.quantile(means[i], level[i]) for i in range(rows)]))
    return limits[0], limits[1]
