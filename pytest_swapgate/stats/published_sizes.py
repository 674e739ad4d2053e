"""Sizes as published tables print them: two-sided, for two independent arms beside paired ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ._check import fail, fraction, real
from ._quantiles import normal_quantile
from .planning import required_pairs


def two_proportion_size(gain: float, *, p1: float = 0.5, alpha: float = 0.05, power: float = 0.8) -> int:
    """Trials per arm of two independent arms, two-sided z test with pooled variance.

    Parameters
    ----------
    gain : float
        Difference to detect, in (0, 1 - p1].
    p1 : float
        Rate of the lower arm, in (0, 1).
    alpha : float
        Two-sided level, in (0, 1).
    power : float
        In (alpha, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Fleiss (1981), Statistical Methods for Rates and Proportions, chapter 3.
    """
    p1 = fraction("p1", p1)
    gain = real("gain", gain, above=0.0)
    if gain > 1 - p1:
        raise fail("gain", gain, f"at most 1 - p1 = {1 - p1:g}")
    alpha = fraction("alpha", alpha)
    power = real("power", power, above=alpha, below=1.0)
    p2 = p1 + gain
    mean = (p1 + p2) / 2
    root = normal_quantile(1 - alpha / 2) * math.sqrt(2 * mean * (1 - mean))
    root += normal_quantile(power) * math.sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    return math.ceil((root / gain) ** 2 - 1e-9)


class SizeRow(NamedTuple):
    """One row of the table: the gain, trials per independent arm, pairs."""

    gain: float
    independent: int
    paired: int


def two_sided_table(
    gains: Sequence[float] = (0.05, 0.10, 0.15, 0.18, 0.20, 0.25),
    *,
    discordance: float = 0.32,
    p1: float = 0.5,
    alpha: float = 0.05,
    power: float = 0.8,
) -> tuple[SizeRow, ...]:
    """Sample sizes as in Table 3 of the paired noise-floor study (arXiv 2606.20695), whose defaults these are.

    Parameters
    ----------
    gains : sequence of float
        Differences to detect, each in (0, min(1 - p1, discordance)].
    discordance : float
        Share of discordant pairs, in (0, 1].
    p1 : float
        Rate of the lower arm, in (0, 1).
    alpha : float
        Two-sided level, in (0, 1).
    power : float
        In (alpha, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The paired noise-floor study (arXiv 2606.20695), Table 3; the sizes are those of `two_proportion_size` and
    `required_pairs`.
    """
    fraction("alpha", alpha)
    return tuple(
        SizeRow(
            gain,
            two_proportion_size(gain, p1=p1, alpha=alpha, power=power),
            required_pairs(gain, discordance=discordance, alpha=alpha / 2, power=power),
        )
        for gain in gains
    )
