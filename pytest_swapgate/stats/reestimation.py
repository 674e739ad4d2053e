"""Unknown discordance: re-estimate the size once, from the count of discordant pairs alone."""

from __future__ import annotations

import math

from ._check import count, fail, fraction, real
from ._quantiles import chi2_quantile
from .planning import required_pairs

_CAP = 4  # times the first plan


def first_stage_pairs(planned: int) -> int:
    """Pairs n1 after which the size is re-estimated: ``max(30, planned / 2)``, at most the plan itself.

    Parameters
    ----------
    planned : int
        Pairs of the first plan, >= 1.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Saving money". Friede and Kieser (2006), Biometrical Journal 48,
    537-555 (blinded re-estimation).
    """
    planned = count("planned", planned, minimum=1)
    return min(planned, max(30, math.ceil(planned / 2)))


def reestimated_pairs(
    discordant: int,
    first_stage: int,
    *,
    planned: int,
    tolerance: float,
    alpha: float = 0.05,
    power: float = 0.9,
) -> int:
    """Size of the whole run, recomputed after the first stage without looking at the direction of any pair.

    Parameters
    ----------
    discordant : int
        Discordant pairs m = b + c among the first stage, in [0, n1]; b and c apart are not to be looked at.
    first_stage : int
        Pairs n1 of the first stage, >= 1.
    planned : int
        Pairs n0 of the first plan, >= 1.
    tolerance, alpha, power
        As in `required_pairs`.

    Returns
    -------
    int
        `required_pairs` at ``pd = (m + 1) / (n1 + 2)``, at least n1, at most 4 n0. The verdict is taken once, at
        this size.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Friede and Kieser (2006), Biometrical Journal 48, 537-555 (blinded sample size re-estimation).
    """
    n1 = count("first_stage", first_stage, minimum=1)
    m = count("discordant", discordant)
    if m > n1:
        raise fail("discordant", discordant, f"at most first_stage={n1}")
    n0 = count("planned", planned, minimum=1)
    margin = real("tolerance", tolerance, above=0.0, at_most=1.0)
    share = (m + 1) / (n1 + 2)
    # below the tolerance the formula has no meaning: plan for the least discordance that allows such a harm
    n = required_pairs(margin, discordance=max(share, margin), alpha=alpha, power=power)
    return max(n1, min(n, _CAP * n0))


def sd_upper_bound(sd: float, units: int, *, confidence: float = 0.8) -> float:
    """Upper confidence bound of a standard deviation from a small pilot, to plan with instead of the estimate.

    Parameters
    ----------
    sd : float
        Sample standard deviation of the pilot's units, > 0.
    units : int
        Pilot units J >= 2.
    confidence : float
        In (0, 1); 0.8 by default.

    Returns
    -------
    float
        ``sd sqrt((J - 1) / chi2_{1 - confidence, J - 1})``.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Browne (1995), Statistics in Medicine 14, 1933-1940.
    """
    sd = real("sd", sd, above=0.0)
    df = count("units", units, minimum=2) - 1
    return sd * math.sqrt(df / chi2_quantile(1 - fraction("confidence", confidence), df))
