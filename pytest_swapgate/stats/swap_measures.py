"""What a swap study reports, from the means of its conditions: V, Pi, rho, W, Sigma."""

from __future__ import annotations

from dataclasses import dataclass

from ._check import real


@dataclass(frozen=True, slots=True)
class SwapMeasures:
    """Quantities of the swap test (arXiv 2609.05279, section 3), larger meaning worse for the changed team.

    Attributes
    ----------
    value : float
        V, what the team's experience is worth: placebo against naive.
    penalty : float
        Pi, what the swap costs: placebo against swap.
    ratio : float or None
        rho = Pi / V; None where V is 0. It is interpretable only where the interval of V lies clear of 0.
    amnesia : float or None
        W, what deleting the own partner notes costs.
    amnesia_share : float or None
        W / Pi; None where Pi is 0.
    interference : float or None
        Sigma, what a newcomer's partner notes cost: swap_cleared against swap.
    """

    value: float
    penalty: float
    ratio: float | None
    amnesia: float | None = None
    amnesia_share: float | None = None
    interference: float | None = None


def swap_measures(
    *,
    placebo: float,
    swap: float,
    naive: float,
    amnesia: float | None = None,
    swap_cleared: float | None = None,
    cost: bool = False,
    scale: float = 1.0,
) -> SwapMeasures:
    """Form the quantities from condition means of one team (or of a table).

    Parameters
    ----------
    placebo, swap, naive : float
        Condition means, in points of the benchmark, finite.
    amnesia, swap_cleared : float, optional
        The same of the other conditions.
    cost : bool
        The means are costs: larger is worse, so the signs reverse.
    scale : float
        Points that make 1 (100 for percent, 25 for Hanabi), > 0.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The swap test (arXiv 2609.05279, section 3).
    """
    sign = (-1.0 if cost else 1.0) / real("scale", scale, above=0.0)
    base = real("placebo", placebo)
    changed = real("swap", swap)
    value = sign * (base - real("naive", naive))
    penalty = sign * (base - changed)
    lost = None if amnesia is None else sign * (base - real("amnesia", amnesia))
    return SwapMeasures(
        value=value,
        penalty=penalty,
        ratio=penalty / value if value else None,
        amnesia=lost,
        amnesia_share=None if lost is None or not penalty else lost / penalty,
        interference=None if swap_cleared is None else sign * (real("swap_cleared", swap_cleared) - changed),
    )
