"""Other intervals of paired binary harm: a closed form, a hybrid score, and one kept only for reproduction."""

from __future__ import annotations

import math

import numpy as np

from ._check import count, discordant, fail, fraction
from ._quantiles import normal_quantile
from .interval import Interval
from .proportions import wilson_limits


def _critical(confidence: float) -> float:
    return normal_quantile(0.5 + fraction("confidence", confidence) / 2)


def bonett_price_interval(b: int, c: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Compute the adjusted Wald interval of the harm, the closed-form fallback.

    Parameters
    ----------
    b, c, n : int
        Harm-discordant, benefit-discordant and all pairs.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Bonett and Price (2012), Journal of Educational and Behavioral Statistics 37, 479-488.
    """
    b, c, n = discordant(b, c, n)
    z = _critical(confidence)
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = z * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    return Interval(max(-1.0, p - q - half), min(1.0, p - q + half))


def newcombe_interval(
    b: int, c: int, n: int, *, both_succeed: int | None = None, confidence: float = 0.95
) -> Interval:
    """Hybrid score interval of the harm (Newcombe's method 10).

    Parameters
    ----------
    b, c, n : int
        Harm-discordant, benefit-discordant and all pairs.
    both_succeed : int, optional
        Pairs in which both arms succeeded, at most n - b - c. The method depends on it; where it is unknown, the
        interval spans those of all possible values and is wider.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 2635-2650.
    """
    b, c, n = discordant(b, c, n)
    z = _critical(confidence)
    if both_succeed is not None:
        a = count("both_succeed", both_succeed)
        if a > n - b - c:
            raise fail("both_succeed", both_succeed, f"at most n - b - c = {n - b - c}")
        return _newcombe(a, b, c, n, z)
    every = np.array([_newcombe(a, b, c, n, z) for a in range(n - b - c + 1)])
    return Interval(float(every[:, 0].min()), float(every[:, 1].max()))


def _newcombe(a: int, b: int, c: int, n: int, z: float) -> Interval:
    d = n - a - b - c
    p, q = (a + b) / n, (a + c) / n
    (l1, u1), (l2, u2) = wilson_limits(p, n, z), wilson_limits(q, n, z)
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    product = float(a * d - b * c)
    if product > 0:
        product = max(product - n / 2, 0.0)  # Newcombe's continuity correction
    phi = product / math.sqrt(margins) if margins else 0.0

    def half(x: float, y: float) -> float:
        return math.sqrt(max(x * x - 2 * phi * x * y + y * y, 0.0))

    return Interval(max(-1.0, p - q - half(p - l1, u2 - q)), min(1.0, p - q + half(u1 - p, q - l2)))


def conditional_wilson_interval(b: int, c: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Wilson interval of ``b / (b + c)`` mapped to the harm by ``(2p - 1)(b + c) / n``: for reproduction only.

    It takes the number of discordant pairs as known: coverage falls to .62-.79, and without discordant pairs it is
    [0, 0]. The paired noise-floor study (arXiv 2606.20695) prints these intervals.

    Parameters
    ----------
    b, c, n : int
        Harm-discordant, benefit-discordant and all pairs; b + c <= n, n >= 1.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212; the paired noise-floor study
    (arXiv 2606.20695).
    """
    b, c, n = discordant(b, c, n)
    z = _critical(confidence)
    m = b + c
    if m == 0:
        return Interval(0.0, 0.0)
    low, high = wilson_limits(b / m, m, z)
    return Interval((2 * low - 1) * m / n, (2 * high - 1) * m / n)
