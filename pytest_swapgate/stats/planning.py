"""How many pairs or teams a gate needs, and what a given plan can show (one-sided levels)."""

from __future__ import annotations

import math

from scipy import special

from ._check import count, fraction, probability, real
from ._quantiles import normal_quantile, root, t_quantile
from .harm import MIN_UNITS, HarmEstimate, drifted_limits
from .verdict import rule

_MAX_UNITS = 1_000_000


def _level_and_power(alpha: float, power: float) -> tuple[float, float]:
    alpha = real("alpha", fraction("alpha", alpha), above=0.0, below=0.5)
    return alpha, real("power", power, above=alpha, below=1.0)


def _discordance(discordance: float) -> float:
    return real("discordance", probability("discordance", discordance), above=0.0, at_most=1.0)


def required_pairs(tolerance: float, *, discordance: float, alpha: float = 0.05, power: float = 0.9) -> int:
    """Pairs for a binary gate to detect a harm of the size of the tolerance.

    Parameters
    ----------
    tolerance : float
        Harm M in (0, discordance]: a harm cannot exceed the share of discordant pairs.
    discordance : float
        Expected share of discordant pairs, in (0, 1].
    alpha : float
        One-sided level in (0, 0.5). Two-sided tables use half their level.
    power : float
        In (alpha, 1).

    Returns
    -------
    int
        ``ceil((z_{1-alpha} sqrt(pd) + z_{power} sqrt(pd - M^2))^2 / M^2)``.

    References
    ----------
    Connor (1987), Biometrics 43, 207-211.
    """
    pd = _discordance(discordance)
    m = real("tolerance", tolerance, above=0.0)
    if m > pd:
        raise ValueError(
            f"tolerance must be at most the discordance {pd:g} (no harm can exceed it), got {m:g}: "
            "declare a smaller tolerance"
        )
    alpha, power = _level_and_power(alpha, power)
    root = normal_quantile(1 - alpha) * math.sqrt(pd) + normal_quantile(power) * math.sqrt(
        max(pd - m * m, 0.0)
    )
    return max(1, math.ceil((root / m) ** 2 - 1e-9))


def detectable_effect_pairs(n: int, *, discordance: float, alpha: float = 0.05, power: float = 0.9) -> float:
    """Smallest harm that n pairs detect with the given power: the inverse of `required_pairs`.

    Returns
    -------
    float
        In (0, discordance].

    Raises
    ------
    ValueError
        If n pairs cannot detect even a harm as large as the discordance.
    """
    n = count("n", n, minimum=1)
    pd = _discordance(discordance)
    alpha, power = _level_and_power(alpha, power)
    za, zb = normal_quantile(1 - alpha), normal_quantile(power)
    inner = n + zb * zb - za * za
    effect = (
        math.sqrt(pd) * (math.sqrt(n) * za + zb * math.sqrt(inner)) / (n + zb * zb)
        if inner >= 0
        else math.inf
    )
    if effect > pd:
        least = required_pairs(pd, discordance=pd, alpha=alpha, power=power)
        raise ValueError(f"n must be at least {least} pairs to show any harm at discordance {pd:g}, got {n}")
    return effect


def unit_power(units: int, *, effect: float, sd: float, alpha: float = 0.05) -> float:
    """Power of the one-sided t test over J units at a true mean `effect` (noncentral t)."""
    units = count("units", units, minimum=MIN_UNITS)
    sd = real("sd", sd, above=0.0)
    alpha, _ = _level_and_power(alpha, 0.999)
    return _t_power(units, real("effect", effect) / sd, alpha)


def _t_power(units: int, ratio: float, alpha: float) -> float:
    critical = t_quantile(1 - alpha, units - 1)
    return 1.0 - float(special.nctdtr(units - 1, ratio * math.sqrt(units), critical))


def unit_multiplier(units: int, *, alpha: float = 0.05, power: float = 0.9) -> float:
    """Effect that J units detect, in standard deviations of one unit.

    The ratio M / sd at which the one-sided t test has exactly the given power (noncentral t). At power .8
    and alpha .05: J = 3 2.30, 4 1.65, 5 1.36, 6 1.19, 8 .98, 12 .77.
    """
    units = count("units", units, minimum=MIN_UNITS)
    alpha, power = _level_and_power(alpha, power)
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
    """
    ratio = real("tolerance", tolerance, above=0.0) / real("sd", sd, above=0.0)
    alpha, power = _level_and_power(alpha, power)
    low = high = MIN_UNITS
    while _t_power(high, ratio, alpha) < power:
        low, high = high, 2 * high
        if high > _MAX_UNITS:
            raise ValueError(
                f"tolerance must be reachable with {_MAX_UNITS} units, got {tolerance:g} at sd {sd:g}"
            )
    while high - low > 1:
        middle = (low + high) // 2
        if _t_power(middle, ratio, alpha) < power:
            low = middle
        else:
            high = middle
    return high


def detectable_effect_units(units: int, *, sd: float, alpha: float = 0.05, power: float = 0.9) -> float:
    """Smallest mean difference that J units detect with the given power: ``unit_multiplier(J) sd``."""
    return unit_multiplier(units, alpha=alpha, power=power) * real("sd", sd, above=0.0)


def pairs_to_decide(estimate: HarmEstimate, margin: float, *, alpha: float = 0.05) -> int | None:
    """Total number of pairs (or units) at which the rule would decide, if the estimate stayed as it is.

    Parameters
    ----------
    estimate : HarmEstimate
        Of an inconclusive gate.
    margin : float
        The declared tolerance, > 0.
    alpha : float
        The level it was made with.

    Returns
    -------
    int or None
        None if a million would not decide it, as when the drift between sessions alone is too large. This is a
        projection for planning a new run, not a licence to add pairs to this one.
    """
    margin = real("margin", margin, above=0.0)
    alpha, _ = _level_and_power(alpha, 0.999)
    harm, spread = estimate.harm, estimate.sd**2
    drift = estimate.se**2 - spread / estimate.n
    drift = drift if drift > 1e-12 * estimate.se**2 else 0.0

    def decided(n: int) -> bool:
        if estimate.df is None:
            share = spread + harm * harm  # of discordant pairs
            counts = n * (share + harm) / 2, n * (share - harm) / 2
            passed, failed = rule(*drifted_limits(*counts, n, normal_quantile(1 - alpha), drift), margin)
        else:
            half = t_quantile(1 - alpha, n - 1) * math.sqrt(spread / n + drift)
            passed, failed = rule(harm - half, harm + half, margin)
        return bool(passed | failed)

    if decided(estimate.n):
        return estimate.n
    low, high = estimate.n, 2 * estimate.n
    while not decided(high):
        low, high = high, 2 * high
        if high > _MAX_UNITS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high
