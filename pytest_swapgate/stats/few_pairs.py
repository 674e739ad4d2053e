"""Critical values that keep a paired binary gate's one-sided error where few pairs would break it.

The score statistic is only approximately normal. With few pairs, or at a harm near the discordance, the chance to
lie beyond the normal critical value can be more than twice its level. There the critical value is raised until the
exact chance is within a tenth of the level, whatever the unknown discordance may be.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.stats import _special as special

from ._check import FloatArray, IntArray, count, counts, fail, real
from ._quantiles import normal_quantile
from .tango import tango_statistic

GUARDED_PAIRS = 400
"""With more pairs the normal critical value is taken as it is."""

EXCESS = 1.1
"""Largest tolerated ratio of the exact error to the level."""

_MISSED = 0.02
"""Share of the level that is spent on a confidence set of the discordance."""

_STEPS = 22  # of bisection: a millionth of the bracket


def critical_values(n: int, discordant: ArrayLike, *, alpha: float, harm: float) -> FloatArray:
    """Critical values of the score statistic of a true harm, by the observed number of discordant pairs.

    The rule "score statistic of `harm` <= -z" then has an exact error of at most 1.1 alpha, for every discordance.

    Parameters
    ----------
    n : int
        Pairs, >= 1. Beyond `GUARDED_PAIRS` the normal quantile is returned.
    discordant : array_like of int, shape (...)
        Discordant pairs b + c, in [0, n].
    alpha : float
        One-sided level, in (0, 0.5).
    harm : float
        Hypothesised harm in [0, 1]: the tolerance for PASS, 0 for FAIL.

    Returns
    -------
    ndarray, shape (...)
        At least the normal quantile.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Exact unconditional tests of paired proportions: Hsueh, Liu and Chen (2001), Biometrics 57, 478-483. Search of the
    nuisance parameter restricted to a confidence set: Berger and Boos (1994), JASA 89, 1012-1016.
    """
    n = count("n", n, minimum=1)
    m = counts("discordant", discordant)
    if m.size and int(m.max()) > n:
        raise fail("discordant", discordant, f"at most n={n}")
    alpha = real("alpha", alpha, above=0.0, below=0.5)
    harm = real("harm", harm, at_least=0.0, at_most=1.0)
    if n > GUARDED_PAIRS or harm >= 1.0:
        return np.full(m.shape, normal_quantile(1 - alpha))
    each, where = np.unique(m, return_inverse=True)
    found = np.array([_critical_value(n, int(k), alpha, harm) for k in each])
    values: FloatArray = found[where].reshape(m.shape)
    return values


@lru_cache(maxsize=8192)
def _critical_value(n: int, observed: int, alpha: float, harm: float) -> float:
    shares, over = _where_over(n, alpha, harm)
    normal = normal_quantile(1 - alpha)
    if not over.any():
        return normal
    # Shares of discordant pairs that this count does not contradict, and one more on either side.
    level = _MISSED * alpha / 2
    fits = (special.bdtr(observed, n, shares) > level) & (special.bdtr(n - observed, n, 1 - shares) > level)
    near = fits.copy()
    near[1:] |= fits[:-1]
    near[:-1] |= fits[1:]
    return max([normal, *(_raised(n, alpha, harm, int(k)) for k in np.flatnonzero(near & over))])


@lru_cache(maxsize=16)
def _statistics(n: int, harm: float) -> FloatArray:
    """Score statistic by number of discordant pairs (row) and how many of them are harms (column)."""
    m, b = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    table = np.full(m.shape, np.inf)
    possible = b <= m
    table[possible] = tango_statistic(b[possible], (m - b)[possible], n, harm)
    return table


def _shares(n: int, harm: float) -> FloatArray:
    """Discordances under which the harm is possible: evenly spaced, and closer where few pairs are discordant."""
    even = np.linspace(harm, 1.0, 121)
    close = harm + np.geomspace(0.5 / n, max(0.2, 1.0 / n), 30)
    shares = np.unique(np.concatenate([even, close]))
    return shares[(shares > 0) & (shares <= 1)]


def _error(n: int, harm: float, shares: FloatArray, critical: float) -> FloatArray:
    """Exact chance that the statistic is at most -critical, at each discordance, when the harm is real."""
    m = np.arange(n + 1)
    reject: IntArray = (_statistics(n, harm) <= -critical).sum(axis=1)  # the statistic rises along a row
    pd = shares[:, None]
    log_weight = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    weight = np.exp(log_weight + special.xlogy(m, pd) + special.xlog1py(n - m, -pd))
    inside = special.bdtr(
        np.maximum(reject - 1, 0).astype(np.float64), m, np.minimum((pd + harm) / (2 * pd), 1.0)
    )
    error: FloatArray = (weight * np.where(reject > 0, inside, 0.0)).sum(axis=1)
    return error


def _bound(alpha: float) -> float:
    return (EXCESS - _MISSED) * alpha


@lru_cache(maxsize=64)
def _where_over(
    n: int, alpha: float, harm: float
) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    shares = _shares(n, harm)
    return shares, _error(n, harm, shares, normal_quantile(1 - alpha)) > _bound(alpha)


@lru_cache(maxsize=4096)
def _raised(n: int, alpha: float, harm: float, index: int) -> float:
    """Smallest critical value that keeps the error at one discordance."""
    share = _where_over(n, alpha, harm)[0][index : index + 1]
    low, high = normal_quantile(1 - alpha), 8.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if float(_error(n, harm, share, middle)[0]) > _bound(alpha):
            low = middle
        else:
            high = middle
    return high
