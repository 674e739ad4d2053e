"""P-values that go with the intervals of a gate and of a study."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from pytest_swapgate.stats import _special as special

from ._check import reals
from .harm import MIN_UNITS, HarmEstimate, unit_sd


def harm_p_value(estimate: HarmEstimate) -> float:
    """One-sided p-value of "harm <= 0", the hypothesis that a gate's FAIL side rejects.

    Parameters
    ----------
    estimate : HarmEstimate
        Of units: the t test with the interval's own standard error, session drift included. Of paired successes:
        Tango's score statistic at harm 0, ``z = (b - c) / sqrt(b + c)``, with the session drift added to its variance.

    Returns
    -------
    float
        1 without a discordant pair: there is no evidence of harm.

    Notes
    -----
    Up to 400 pairs a gate also guards its critical value (`critical_values`): there a p-value just below the level is
    not yet a FAIL.
    """
    if estimate.df is not None:
        return float(special.stdtr(estimate.df, -estimate.harm / estimate.se))
    n = estimate.n
    discordant = round(n * (estimate.sd**2 + estimate.harm**2))
    if discordant == 0:
        return 1.0
    drift = max(estimate.se**2 - estimate.sd**2 / n, 0.0)
    return float(special.ndtr(-estimate.harm / math.sqrt(discordant / n**2 + drift)))


def mean_p_value(differences: ArrayLike) -> float:
    """Two-sided p-value of "the mean is 0" by t over independent units; goes with `t_interval`.

    Parameters
    ----------
    differences : array_like, shape (J,), J >= 3
        One number per unit.

    Raises
    ------
    ValueError
        With fewer than 3 units or identical units.
    """
    d = reals("differences", differences, minimum_size=MIN_UNITS, what="unit differences")
    t = float(d.mean()) / (unit_sd(d, "differences") / math.sqrt(d.size))
    return 2 * float(special.stdtr(d.size - 1, -abs(t)))
