"""Sizes of effects and strength of relations: Cliff's delta, intraclass correlation, Pearson, Spearman."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ._check import FloatArray, count, fail, fraction, real, reals, same_length
from ._quantiles import normal_quantile
from .interval import Interval

ROMANO_THRESHOLDS = (0.147, 0.33, 0.474)
"""Limits of |Cliff's delta| between negligible, small, medium and large (Romano et al. 2006)."""


def cliffs_delta(x: ArrayLike, y: ArrayLike) -> float:
    """Cliff's delta: P(x > y) - P(x < y) over all pairs of one value of each sample.

    Parameters
    ----------
    x, y : array_like, one-dimensional, not empty

    Returns
    -------
    float
        In [-1, 1]; positive where x tends to be larger.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Cliff (1993), Psychological Bulletin 114, 494-509.
    """
    a, b = np.sort(reals("x", x)), reals("y", y)
    below = np.searchsorted(a, b, side="left")
    not_above = np.searchsorted(a, b, side="right")
    return float((a.size - not_above - below).sum()) / (a.size * b.size)


def romano_word(delta: float) -> str:
    """Word for a Cliff's delta: 'negligible' below .147, 'small' below .33, 'medium' below .474, else 'large'.

    Parameters
    ----------
    delta : float
        In [-1, 1].

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Romano, Kromrey, Coraggio and Skowronek (2006), Annual Meeting of the Florida Association of Institutional
    Research.
    """
    size = abs(real("delta", delta, at_least=-1.0, at_most=1.0))
    words = ("negligible", "small", "medium", "large")
    return words[sum(size >= limit for limit in ROMANO_THRESHOLDS)]


def intraclass_correlation(values: ArrayLike, groups: ArrayLike) -> float:
    """One-way intraclass correlation ICC(1): share of the variance that lies between groups (tasks, teams).

    Parameters
    ----------
    values : array_like, shape (N,)
    groups : array_like, shape (N,)
        Label of the group of each value; at least 2 groups, and one of them with at least 2 values.

    Returns
    -------
    float
        ``(MSB - MSW) / (MSB + (n0 - 1) MSW)``, n0 the adjusted mean group size. Slightly negative values are
        possible and mean zero.

    Raises
    ------
    ValueError
        If all values are equal, or the groups do not allow a comparison.

    References
    ----------
    Donner (1986), International Statistical Review 54, 67-82.
    """
    x = reals("values", values)
    try:
        labels = np.asarray(groups)
    except ValueError as error:
        raise fail("groups", groups, f"one label per value ({x.size} values)") from error
    if labels.shape != x.shape:
        raise fail("groups", groups, f"one label per value ({x.size} values)")
    _, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    k, total = sizes.size, x.size
    if k < 2 or total == k:
        raise fail("groups", groups, "at least 2 groups, one of them with at least 2 values")
    if float(np.ptp(x)) <= 1e-12 * float(np.abs(x).max()):
        raise fail("values", values, "values that differ: without any variance no share of it exists")
    means = np.bincount(index, weights=x) / sizes
    between = float(sizes @ (means - x.mean()) ** 2) / (k - 1)
    within = float(((x - means[index]) ** 2).sum()) / (total - k)
    n0 = (total - float((sizes**2).sum()) / total) / (k - 1)
    return (between - within) / (between + (n0 - 1) * within)


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson correlation of two samples of at least 3 values, neither constant.

    Parameters
    ----------
    x, y : array_like, shape (N,), N >= 3
        Paired values, neither sample constant.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Pearson (1895), Proceedings of the Royal Society of London 58, 240-242.
    """
    a, b = _two("x", x, "y", y)
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman rank correlation, ties at their mean rank.

    Parameters
    ----------
    x, y : array_like, shape (N,), N >= 3
        Paired values, neither sample constant.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Spearman (1904), American Journal of Psychology 15, 72-101.
    """
    a, b = _two("x", x, "y", y)
    return pearson(_ranks(a), _ranks(b))


def fisher_interval(r: float, n: int, *, confidence: float = 0.95) -> Interval:
    """Interval of a Pearson correlation of n >= 4 pairs by Fisher's transformation.

    Parameters
    ----------
    r : float
        Correlation, in (-1, 1).
    n : int
        Pairs, >= 4.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Fisher (1921), Metron 1, 3-32.
    """
    r = real("r", r, above=-1.0, below=1.0)
    n = count("n", n, minimum=4)
    half = normal_quantile(0.5 + fraction("confidence", confidence) / 2) / math.sqrt(n - 3)
    return Interval(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def _two(x_name: str, x: ArrayLike, y_name: str, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = reals(x_name, x, minimum_size=3), reals(y_name, y, minimum_size=3)
    same_length(**{x_name: a, y_name: b})
    for name, array in ((x_name, a), (y_name, b)):
        if float(np.ptp(array)) <= 1e-12 * float(np.abs(array).max()):
            raise fail(name, array.tolist(), "values that are not all equal")
    return a, b


def _ranks(x: FloatArray) -> FloatArray:
    _, index, sizes = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    ranks: FloatArray = (last - (sizes - 1) / 2)[index]
    return ranks
