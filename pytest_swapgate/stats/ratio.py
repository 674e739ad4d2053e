"""The ratio of two means measured on the same units, with Fieller's interval."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from ._check import fraction, reals, same_length
from ._quantiles import t_quantile
from .interval import Interval
from .units import t_interval


def ratio_interval(numerator: ArrayLike, denominator: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Fieller's interval for mean(numerator) / mean(denominator) over paired units.

    The set of ratios r that a t test of ``mean(numerator - r * denominator) = 0`` does not reject.

    Parameters
    ----------
    numerator, denominator : array_like, shape (J,), J >= 3
        Paired by unit.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        If the interval of the denominator's mean includes 0: the ratio then has no bounded interval and means
        nothing.

    References
    ----------
    Fieller (1954), Journal of the Royal Statistical Society B 16, 175-185.
    """
    x = reals("numerator", numerator, minimum_size=3)
    y = reals("denominator", denominator, minimum_size=3)
    same_length(numerator=x, denominator=y)
    level = fraction("confidence", confidence)
    spread = t_interval(y, confidence=level)
    if spread.low <= 0 <= spread.high:
        raise ValueError(
            f"denominator must have a mean whose interval is clear of 0, got {spread.low:g} to {spread.high:g}"
        )
    n = x.size
    t2 = t_quantile(0.5 + level / 2, n - 1) ** 2 / n
    mx, my = float(x.mean()), float(y.mean())
    vx, vy = float(x.var(ddof=1)), float(y.var(ddof=1))
    vxy = float(((x - mx) * (y - my)).sum() / (n - 1))
    # Roots of (my^2 - t2 vy) r^2 - 2 (mx my - t2 vxy) r + (mx^2 - t2 vx) = 0; the first factor is > 0 here.
    a, b, c = my * my - t2 * vy, mx * my - t2 * vxy, mx * mx - t2 * vx
    root = math.sqrt(max(b * b - a * c, 0.0))
    return Interval((b - root) / a, (b + root) / a)
