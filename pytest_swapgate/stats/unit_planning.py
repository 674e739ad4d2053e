"""How many independent units (swap pairs) a t test needs, and what a given number can show (one-sided levels)."""

from __future__ import annotations

import math

from pytest_swapgate.stats import _special as special

from ._check import count, level_and_power, real
from ._quantiles import root, t_quantile
from ._sample_sd import sample_sd_nodes
from ._search import smallest
from .harm import MIN_UNITS

MAX_UNITS = 1_000_000


def unit_power(units: int, *, effect: float, sd: float, alpha: float = 0.05) -> float:
    """Power of the one-sided t test over J units at a true mean `effect` (noncentral t).

    Parameters
    ----------
    units : int
        Independent units J >= 3.
    effect : float
        True mean difference, finite.
    sd : float
        Standard deviation of one unit's difference, > 0.
    alpha : float
        One-sided level in (0, 0.5).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Johnson and Welch (1940), Biometrika 31, 362-389 (noncentral t).
    """
    units = count("units", units, minimum=MIN_UNITS)
    sd = real("sd", sd, above=0.0)
    alpha, _ = level_and_power(alpha, 0.999)
    return _t_power(units, real("effect", effect) / sd, alpha)


def _t_power(units: int, ratio: float, alpha: float) -> float:
    critical = t_quantile(1 - alpha, units - 1)
    shift = ratio * math.sqrt(units)
    below = float(special.nctdtr(units - 1, shift, critical))
    if math.isnan(below):  # scipy gives none for large shifts
        s, weight = sample_sd_nodes(units - 1)
        below = float(weight @ special.ndtr(critical * s - shift))
    return min(1.0, max(0.0, 1.0 - below))


def unit_multiplier(units: int, *, alpha: float = 0.05, power: float = 0.9) -> float:
    """Effect that J units detect, in standard deviations of one unit.

    The ratio M / sd at which the one-sided t test has exactly the given power (noncentral t). At power .8
    and alpha .05: J = 3 2.30, 4 1.65, 5 1.36, 6 1.19, 8 .98, 12 .77.

    Parameters
    ----------
    units : int
        Independent units J >= 3.
    alpha : float
        One-sided level in (0, 0.5).
    power : float
        In (alpha, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Johnson and Welch (1940), Biometrika 31, 362-389 (noncentral t).
    """
    units = count("units", units, minimum=MIN_UNITS)
    alpha, power = level_and_power(alpha, power)
    high = 1.0
    while _t_power(units, high, alpha) < power:
        high *= 2
    return root(lambda ratio: _t_power(units, ratio, alpha) - power, 0.0, high)


def required_units(tolerance: float, *, sd: float, alpha: float = 0.05, power: float = 0.9) -> int:
    """Independent units (swap pairs) for a continuous gate to detect a harm of the size of the tolerance.

    Parameters
    ----------
    tolerance : float
        > 0, on the scale of the differences (cost: ``log(1 + tolerance)``).
    sd : float
        Standard deviation of one unit's difference, > 0.
    alpha, power : float
        As in `required_pairs`.

    Returns
    -------
    int
        The smallest J >= 3 with ``unit_multiplier(J) * sd <= tolerance``.

    Raises
    ------
    ValueError
        For bad arguments, and if more than a million units would be needed.

    References
    ----------
    Johnson and Welch (1940), Biometrika 31, 362-389 (noncentral t).
    """
    ratio = real("tolerance", tolerance, above=0.0) / real("sd", sd, above=0.0)
    alpha, power = level_and_power(alpha, power)
    units = smallest(lambda units: _t_power(units, ratio, alpha) >= power, start=MIN_UNITS, most=MAX_UNITS)
    if units is None:
        raise out_of_reach(tolerance, sd)
    return units


def out_of_reach(tolerance: float, sd: float) -> ValueError:
    """Make the error of a tolerance that no affordable number of units shows."""
    return ValueError(f"tolerance must be reachable with {MAX_UNITS} units, got {tolerance:g} at sd {sd:g}")


def detectable_effect_units(units: int, *, sd: float, alpha: float = 0.05, power: float = 0.9) -> float:
    """Smallest mean difference that J units detect with the given power: ``unit_multiplier(J) sd``.

    Parameters
    ----------
    units : int
        Independent units J >= 3.
    sd : float
        Standard deviation of one unit's difference, > 0.
    alpha : float
        One-sided level in (0, 0.5).
    power : float
        In (alpha, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Johnson and Welch (1940), Biometrika 31, 362-389 (noncentral t).
    """
    return unit_multiplier(units, alpha=alpha, power=power) * real("sd", sd, above=0.0)
