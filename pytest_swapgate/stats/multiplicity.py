"""Several gates in one run: the share of alpha that each gets, and adjusted p-values for the summary."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._check import FloatArray, count, fail, fraction, reals


def family_alpha(alpha: float, family: int) -> float:
    """Level of each gate of a declared family of m gates: ``alpha / m`` (Bonferroni), for the FAIL side.

    The PASS side is not adjusted: a release passes only if every gate passes (intersection-union).

    Parameters
    ----------
    alpha : float
        Level of the family, in (0, 1).
    family : int
        Gates m = seats x metrics declared, >= 1.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Dunn (1961), Journal of the American Statistical Association 56, 52-64; Berger (1982), Technometrics 24,
    295-300 (intersection-union).
    """
    return fraction("alpha", alpha) / count("family", family, minimum=1)


def bonferroni(p: float, family: int) -> float:
    """Bonferroni-adjusted p-value, ``min(1, m p)``.

    Parameters
    ----------
    p : float
        In [0, 1].
    family : int
        Number m of tests, >= 1.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Dunn (1961), Journal of the American Statistical Association 56, 52-64.
    """
    (value,) = _p_values([p])
    return min(1.0, float(value) * count("family", family, minimum=1))


def _p_values(p_values: ArrayLike) -> FloatArray:
    p = reals("p_values", p_values, what="p-values")
    if not bool(((p >= 0) & (p <= 1)).all()):
        raise fail("p_values", p_values, "p-values in [0, 1]")
    return p


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's step-down adjusted p-values, in the order given.

    Parameters
    ----------
    p_values : array_like, shape (m,), m >= 1
        Each in [0, 1].

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    result: FloatArray = np.minimum(adjusted, 1.0)
    return result


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini-Hochberg adjusted p-values, in the order given: for report-only rows, never for a gate.

    Parameters
    ----------
    p_values : array_like, shape (m,), m >= 1
        Each in [0, 1].

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57, 289-300.
    """
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    result: FloatArray = np.minimum(adjusted, 1.0)
    return result
