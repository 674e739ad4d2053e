"""Plans by the whole decision rule: how often a gate FAILs a harm of the size of its tolerance.

PASS takes precedence: with few units an interval can lie above zero and below the tolerance at once. A plan by the
power of the test alone would then promise more FAILs than the rule gives.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pytest_swapgate.stats import _special as special

from ._check import both_levels, count, real
from ._quantiles import root, t_quantile
from ._sample_sd import sample_sd_nodes
from ._search import smallest
from .exact_power import VerdictRates, verdict_rates
from .few_pairs import GUARDED_PAIRS
from .harm import MIN_UNITS
from .planning import required_pairs
from .unit_planning import MAX_UNITS, out_of_reach, required_units, unit_multiplier


def unit_verdict_rates(
    units: int,
    *,
    harm: float,
    sd: float,
    tolerance: float,
    alpha: float = 0.05,
    fail_alpha: float | None = None,
) -> VerdictRates:
    """Probabilities of PASS, FAIL and INCONCLUSIVE of a gate over J normal unit differences.

    Parameters
    ----------
    units : int
        Independent units J >= 3.
    harm : float
        True mean difference.
    sd : float
        True standard deviation of one unit's difference, > 0.
    tolerance : float
        Declared tolerance M > 0, on the scale of the differences (cost: ``log(1 + tolerance)``).
    alpha, fail_alpha : float
        One-sided levels of the PASS and of the FAIL side, as in `verdict_rates`.

    Returns
    -------
    VerdictRates
        Exact up to quadrature (1e-9): the mean is normal and independent of the sample standard deviation.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Why four pairs are few". Student (1908), Biometrika 6,
    1-25.
    """
    units = count("units", units, minimum=MIN_UNITS)
    sd = real("sd", sd, above=0.0)
    alpha, side = both_levels(alpha, fail_alpha)
    return _unit_rates(
        units, real("harm", harm) / sd, real("tolerance", tolerance, above=0.0) / sd, alpha, side
    )


def _unit_rates(units: int, harm: float, margin: float, alpha: float, side: float) -> VerdictRates:
    """Verdict rates at standard deviation 1."""
    df, root_n = units - 1, math.sqrt(units)
    upper, lower = t_quantile(1 - alpha, df) / root_n, t_quantile(1 - side, df) / root_n
    # Above this standard deviation an interval above zero reaches over the margin: the integrand has a kink there.
    s, weight = sample_sd_nodes(df, kink=margin / (upper + lower))
    above = np.maximum(lower * s, margin - upper * s)
    passed = min(1.0, float(weight @ special.ndtr((margin - upper * s - harm) * root_n)))
    failed = min(1.0, float(weight @ special.ndtr((harm - above) * root_n)))
    return VerdictRates(passed, failed, max(0.0, 1 - passed - failed))


def _reachable(power: float, alpha: float, side: float) -> float:
    """Return the power, which must leave room for the PASS of a harm of the size of the tolerance."""
    power = real("power", power, above=side)
    if power >= 1 - alpha:
        raise ValueError(
            f"power must be < 1 - alpha = {1 - alpha:g}, got {power:g}: the rule passes a harm of the size of the "
            "tolerance with probability alpha, and cannot fail it more often than in the rest"
        )
    return power


def deciding_multiplier(
    units: int, *, alpha: float = 0.05, fail_alpha: float | None = None, power: float = 0.9
) -> float:
    """Tolerance, in standard deviations of one unit, at which J units FAIL a harm of its size with the given power.

    At least `unit_multiplier`, which counts an interval above zero as found even where the rule says PASS. At power .9
    and alpha .05: J = 4 2.20 (1.96), 6 1.53 (1.40), 8 1.23 (1.15), 12 .94 (.90).

    Parameters
    ----------
    units : int
        Independent units J >= 3.
    alpha : float
        One-sided level of the PASS side, in (0, 0.5).
    fail_alpha : float, optional
        Level of the FAIL side, in (0, alpha]; alpha if left out.
    power : float
        In (fail_alpha, 1 - alpha).

    Raises
    ------
    ValueError
        For bad arguments, and for ``power >= 1 - alpha``, which no tolerance reaches.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Why four pairs are few".
    """
    units = count("units", units, minimum=MIN_UNITS)
    alpha, side = both_levels(alpha, fail_alpha)
    power = _reachable(power, alpha, side)
    return _multiplier(units, alpha, side, power)


@lru_cache(maxsize=256)
def _multiplier(units: int, alpha: float, side: float, power: float) -> float:
    def lacking(margin: float) -> float:
        return _unit_rates(units, margin, margin, alpha, side).failed - power

    low = high = unit_multiplier(units, alpha=side, power=power)
    while lacking(high) < 0:
        low, high = high, 1.5 * high
    return high if low == high else root(lacking, low, high)


def deciding_units(
    tolerance: float, *, sd: float, alpha: float = 0.05, fail_alpha: float | None = None, power: float = 0.9
) -> int:
    """Smallest number of independent units that FAIL a harm of the size of the tolerance with the given power.

    Parameters
    ----------
    tolerance : float
        > 0, on the scale of the differences (cost: ``log(1 + tolerance)``).
    sd : float
        Standard deviation of one unit's difference, > 0.
    alpha, fail_alpha, power : float
        As in `deciding_multiplier`.

    Returns
    -------
    int
        The smallest J >= 3 with ``deciding_multiplier(J) * sd <= tolerance``; at least `required_units`.

    Raises
    ------
    ValueError
        For bad arguments, and if more than a million units would be needed.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Why four pairs are few".
    """
    ratio = real("tolerance", tolerance, above=0.0) / real("sd", sd, above=0.0)
    alpha, side = both_levels(alpha, fail_alpha)
    power = _reachable(power, alpha, side)

    units = smallest(
        lambda units: _unit_rates(units, ratio, ratio, alpha, side).failed >= power,
        start=required_units(tolerance, sd=sd, alpha=side, power=power),
        most=MAX_UNITS,
    )
    if units is None:
        raise out_of_reach(tolerance, sd)
    return units


def deciding_pairs(
    tolerance: float,
    *,
    discordance: float,
    alpha: float = 0.05,
    fail_alpha: float | None = None,
    power: float = 0.9,
) -> int:
    """Pairs with which a binary gate FAILs a harm of the size of the tolerance with the given power.

    `required_pairs`, and where the exact rate of the rule (`verdict_rates`) is below the power with so few pairs, the
    next larger number that reaches it. Beyond 400 pairs the formula stands alone.

    Parameters
    ----------
    tolerance, discordance
        As in `required_pairs`.
    alpha, fail_alpha, power
        As in `deciding_multiplier`.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Why few pairs of successes are guarded". Connor (1987), Biometrics
    43, 207-211 (the formula).
    """
    alpha, side = both_levels(alpha, fail_alpha)
    power = _reachable(power, alpha, side)
    n = required_pairs(tolerance, discordance=discordance, alpha=side, power=power)
    return n if n > GUARDED_PAIRS else _exact_pairs(n, tolerance, discordance, alpha, side, power)


@lru_cache(maxsize=256)
def _exact_pairs(
    n: int, tolerance: float, discordance: float, alpha: float, side: float, power: float
) -> int:
    while n <= GUARDED_PAIRS:
        rates = verdict_rates(
            n, harm=tolerance, discordance=discordance, tolerance=tolerance, alpha=alpha, fail_alpha=side
        )
        if rates.failed >= power:
            break
        n += 1
    return n
