"""Tango's score interval for the difference of two paired proportions."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import FloatArray, discordant, discordant_arrays, fail, fraction, reals
from ._quantiles import normal_quantile
from .interval import Interval, Intervals

_ITERATIONS = 60  # each at least halves the bracket; fewer than ten are needed


def tango_statistic(b: ArrayLike, c: ArrayLike, n: ArrayLike, harm: ArrayLike) -> FloatArray:
    """Score statistic of the hypothesis that the harm equals a given value.

    Parameters
    ----------
    b, c, n : array_like of int
        Harm-discordant pairs, benefit-discordant pairs, all pairs. Broadcast.
    harm : array_like of float
        Hypothesised harm in [-1, 1]. Broadcast.

    Returns
    -------
    ndarray
        ``(b - c - n harm) / sqrt(n (2 q + harm (1 - harm)))`` with q the maximum-likelihood probability of a
        benefit-discordant pair under the hypothesis; approximately standard normal under it. Infinite where
        the hypothesis is impossible for the data, 0 where it fits without any variance.

    Raises
    ------
    ValueError
        For counts that are negative, not whole or do not fit, a harm outside [-1, 1], and shapes that do not
        broadcast.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.
    """
    h = reals("harm", harm, minimum_size=0, ndim=None, what="numbers in [-1, 1]")
    if not bool((np.abs(h) <= 1).all()):
        raise fail("harm", harm, "numbers in [-1, 1]")
    b_, c_, n_ = discordant_arrays(b, c, n)
    _broadcastable(b=b_, c=c_, n=n_, harm=h)
    gap, variance = _parts(*(x.astype(np.float64) for x in (b_, c_, n_, h)))
    with np.errstate(divide="ignore", invalid="ignore"):
        z: FloatArray = np.where(gap == 0, 0.0, gap / np.sqrt(variance))
    return z


def _broadcastable(**arrays: NDArray[Any]) -> tuple[int, ...]:
    """Refuse arrays that do not broadcast against each other; return their common shape."""
    shapes = {name: array.shape for name, array in arrays.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        raise ValueError(
            ", ".join(shapes)
            + " must have shapes that broadcast against each other, got "
            + ", ".join(str(shape) for shape in shapes.values())
        ) from error


def _parts(b: FloatArray, c: FloatArray, n: FloatArray, harm: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gap and its variance under the hypothesis; negative harms are mirrored, so that nothing cancels in q."""
    negative = harm < 0
    h = np.abs(harm)
    first = np.where(negative, c, b)
    second = np.where(negative, b, c)
    linear = (2 * n - first + second) * h - first - second
    constant = second * h * (1 - h)
    root = np.sqrt(linear * linear + 8 * n * constant)
    # both forms are the same root; each is taken where it adds and does not subtract
    q = np.where(linear > 0, 2 * constant / np.maximum(linear + root, 1e-300), (root - linear) / (4 * n))
    gap = first - second - n * h
    variance: FloatArray = np.maximum(n * (2 * q + h * (1 - h)), 0.0)
    return np.where(negative, -gap, gap), variance


def tango_limits(b: ArrayLike, c: ArrayLike, n: ArrayLike, z: ArrayLike) -> Intervals:
    """Both roots of ``|statistic| = z``, for arrays that were checked by the caller (z > 0)."""
    b_, c_, n_, z_ = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (b, c, n, z)))
    estimate = (b_ - c_) / n_
    level = np.stack([z_, -z_])

    def miss(harm: FloatArray) -> FloatArray:
        gap, variance = _parts(b_, c_, n_, harm)
        difference: FloatArray = gap - level * np.sqrt(variance)
        return difference

    # The statistic falls with the harm: one root lies below the estimate, one above. Ridders' method finds both.
    low = np.stack([np.full(estimate.shape, -1.0), estimate])
    high = np.stack([estimate, np.full(estimate.shape, 1.0)])
    at_low, at_high = miss(low), miss(high)
    found = low
    for _ in range(_ITERATIONS):
        middle = 0.5 * (low + high)
        at_middle = miss(middle)
        scale = np.sqrt(at_middle * at_middle - at_low * at_high)
        before = found
        found = middle + (middle - low) * at_middle / np.maximum(scale, 1e-300)
        if bool((np.abs(found - before) <= 1e-15).all()):
            break
        at_found = miss(found)
        for x, at_x in ((middle, at_middle), (found, at_found)):
            raise_low = (at_x >= 0) & (x >= low)
            cut_high = (at_x < 0) & (x <= high)
            low, at_low = np.where(raise_low, x, low), np.where(raise_low, at_x, at_low)
            high, at_high = np.where(cut_high, x, high), np.where(cut_high, at_x, at_high)
    # Where the variance vanishes at the estimate, the root found is that end; the true one has a closed form.
    z2 = z_ * z_
    none, only_b, only_c = b_ + c_ == 0, b_ == n_, c_ == n_
    least = (n_ - z2) / (n_ + z2)
    return Intervals(
        np.select([none, only_b, only_c], [-z2 / (n_ + z2), least, -1.0], np.minimum(found[0], estimate)),
        np.select([none, only_b, only_c], [z2 / (n_ + z2), 1.0, -least], np.maximum(found[1], estimate)),
    )


@overload
def tango_interval(b: int, c: int, n: int, *, confidence: float = 0.95) -> Interval: ...
@overload
def tango_interval(
    b: ArrayLike, c: ArrayLike, n: ArrayLike, *, confidence: float = 0.95
) -> Interval | Intervals: ...
def tango_interval(
    b: ArrayLike, c: ArrayLike, n: ArrayLike, *, confidence: float = 0.95
) -> Interval | Intervals:
    """Score interval of the harm ``(b - c) / n`` of paired binary outcomes.

    Parameters
    ----------
    b, c, n : int or array_like of int
        Pairs where only the candidate failed, pairs where only the baseline failed, all pairs;
        b + c <= n, n >= 1. Arrays are broadcast, and all intervals are found together.
    confidence : float
        In (0, 1). The gates use 1 - 2 alpha.

    Returns
    -------
    Interval or Intervals
        Limits in [-1, 1]; arrays if an argument was an array. Never of zero width: without any discordant
        pair it is ``[-z^2 / (n + z^2), z^2 / (n + z^2)]``.

    Raises
    ------
    ValueError
        For counts that are negative, not whole or do not fit, shapes that do not broadcast, and a confidence
        outside (0, 1) or within 1e-12 of its ends.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.
    """
    z = normal_quantile(0.5 + fraction("confidence", confidence) / 2)
    try:
        single = np.ndim(b) == np.ndim(c) == np.ndim(n) == 0
    except ValueError:  # ragged: the check of the arrays says which
        single = False
    if single:
        limits = tango_limits(*discordant(b, c, n), z)
        return Interval(float(limits.low), float(limits.high))
    return tango_limits(*discordant_arrays(b, c, n), z)
