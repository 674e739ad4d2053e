"""How many pairs a binary gate needs, and what a given plan can show (one-sided levels)."""

from __future__ import annotations

import math

from ._check import both_levels, count, fail, level_and_power, probability, real
from ._quantiles import normal_quantile, t_quantile
from ._search import smallest
from .few_pairs import GUARDED_PAIRS
from .harm import HarmEstimate, drifted_limits, gate_limits
from .verdict import rule

_MAX_PAIRS = 1_000_000


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

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

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
    alpha, power = level_and_power(alpha, power)
    root = normal_quantile(1 - alpha) * math.sqrt(pd) + normal_quantile(power) * math.sqrt(
        max(pd - m * m, 0.0)
    )
    pairs = root / m  # its square may overflow
    if pairs > 1e9:
        raise fail("tolerance", tolerance, "large enough that fewer than 1e18 pairs show it")
    return max(1, math.ceil(pairs**2 - 1e-9))


def detectable_effect_pairs(n: int, *, discordance: float, alpha: float = 0.05, power: float = 0.9) -> float:
    """Smallest harm that n pairs detect with the given power: the inverse of `required_pairs`.

    Parameters
    ----------
    n : int
        Pairs, >= 1.
    discordance : float
        Expected share of discordant pairs, in (0, 1].
    alpha : float
        One-sided level in (0, 0.5).
    power : float
        In (alpha, 1).

    Returns
    -------
    float
        In (0, discordance].

    Raises
    ------
    ValueError
        If n pairs cannot detect even a harm as large as the discordance.

    References
    ----------
    Connor (1987), Biometrics 43, 207-211.
    """
    n = count("n", n, minimum=1)
    pd = _discordance(discordance)
    alpha, power = level_and_power(alpha, power)
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


def pairs_to_decide(
    estimate: HarmEstimate, margin: float, *, alpha: float = 0.05, fail_alpha: float | None = None
) -> int | None:
    """Total number of pairs (or units) at which the rule would decide, if the estimate stayed as it is.

    Parameters
    ----------
    estimate : HarmEstimate
        Of an inconclusive gate.
    margin : float
        The declared tolerance, > 0.
    alpha, fail_alpha : float
        The levels of its PASS side, in (0, 0.5), and of its FAIL side, in (0, alpha]; the same if only one is given.

    Returns
    -------
    int or None
        None if a million would not decide it, as when the drift between sessions alone is too large. This is a
        projection for planning a new run, not a licence to add pairs to this one.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Why inconclusive is red".
    """
    margin = real("margin", margin, above=0.0)
    alpha, side = both_levels(alpha, fail_alpha)
    harm, spread = estimate.harm, estimate.sd**2
    drift = estimate.se**2 - spread / estimate.n
    drift = drift if drift > 1e-12 * estimate.se**2 else 0.0

    def decided(n: int) -> bool:
        if estimate.df is None:
            share = spread + harm * harm  # of discordant pairs
            counts = n * (share + harm) / 2, n * (share - harm) / 2
            if n <= GUARDED_PAIRS:
                b = round(counts[0])
                c = min(round(counts[1]), n - b)
                guarded = gate_limits(b, c, n, alpha=alpha, fail_alpha=side, margin=margin, drift=drift)
                passed, failed = rule(*guarded, margin)
                return bool(passed | failed)
            low = drifted_limits(*counts, n, normal_quantile(1 - side), drift).low
            high = drifted_limits(*counts, n, normal_quantile(1 - alpha), drift).high
            passed, failed = rule(low, high, margin)
        else:
            se = math.sqrt(spread / n + drift)
            ends = (harm - t_quantile(1 - side, n - 1) * se, harm + t_quantile(1 - alpha, n - 1) * se)
            passed, failed = rule(*ends, margin)
        return bool(passed | failed)

    return smallest(decided, start=estimate.n, most=_MAX_PAIRS)
