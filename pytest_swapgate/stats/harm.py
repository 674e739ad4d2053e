"""The harm of a change with everything a gate prints beside it: interval, standard error, floor."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._check import count, discordant, fraction, probability, real, reals
from ._quantiles import normal_quantile, t_quantile
from .drift import noise_floor, noise_floor_units
from .few_pairs import critical_values
from .interval import Interval, Intervals
from .tango import tango_limits
from .verdict import Verdict, decide

MIN_UNITS = 3
"""Fewer independent units give no usable interval."""


@dataclass(frozen=True, slots=True)
class HarmEstimate:
    """An estimated harm.

    Attributes
    ----------
    harm : float
        Baseline minus candidate; larger is worse.
    interval : Interval
        Two-sided 1 - 2 alpha interval.
    se : float
        Standard error, session drift included.
    floor : float
        Harm that identical arms of this size exceed with probability alpha.
    n : int
        Pairs (binary) or independent units (continuous).
    sd : float
        Standard deviation of one pair's or unit's difference.
    df : int or None
        Degrees of freedom of the t interval; None for a score interval.
    undecided_because : str or None
        Why no verdict may be taken whatever the interval says; None if it may.
    """

    harm: float
    interval: Interval
    se: float
    floor: float
    n: int
    sd: float
    df: int | None = None
    undecided_because: str | None = None

    def verdict(self, margin: float) -> Verdict:
        """`decide` on this interval, or INCONCLUSIVE if there is a reason not to."""
        verdict = decide(self.interval, margin)
        return verdict if self.undecided_because is None else Verdict.INCONCLUSIVE


def drifted_limits(b: ArrayLike, c: ArrayLike, n: ArrayLike, z: ArrayLike, drift: float) -> Intervals:
    """Tango limits at critical value z, widened for a session variance ``drift = tau2 / S`` (unchecked)."""
    b, c, n, z = (np.asarray(x, np.float64) for x in (b, c, n, z))
    limits = tango_limits(b, c, n, z)
    if drift == 0.0:
        return limits
    harm = (b - c) / n
    se2 = ((b + c) / n - harm * harm) / n
    # Without any observed spread kappa has no value: there the widths add in quadrature instead
    spread = se2 > 1e-15
    kappa = np.sqrt(1 + drift / np.where(spread, se2, 1.0))
    low, high = (
        np.where(spread, kappa * width, np.hypot(width, z * math.sqrt(drift)))
        for width in (harm - limits.low, limits.high - harm)
    )
    return Intervals(np.maximum(harm - low, -1.0), np.minimum(harm + high, 1.0))


def gate_limits(
    b: ArrayLike, c: ArrayLike, n: int, *, alpha: float, fail_alpha: float, margin: float, drift: float = 0.0
) -> Intervals:
    """Limits that a binary gate decides from (unchecked).

    `drifted_limits` whose low end keeps the level `fail_alpha` at harm 0, and whose high end keeps `alpha` at a harm of
    the margin, with few pairs too (`critical_values`).
    """
    discordant = np.asarray(b, np.int64) + np.asarray(c, np.int64)
    low = critical_values(n, discordant, alpha=fail_alpha, harm=0.0)
    high = critical_values(n, discordant, alpha=alpha, harm=min(margin, 1.0))
    return Intervals(drifted_limits(b, c, n, low, drift).low, drifted_limits(b, c, n, high, drift).high)


def drifted_tango(b: int, c: int, n: int, z: float, drift: float) -> Interval:
    """`drifted_limits` of one table."""
    limits = drifted_limits(b, c, n, z, drift)
    return Interval(float(limits.low), float(limits.high))


def binary_harm(
    b: int,
    c: int,
    n: int,
    *,
    alpha: float = 0.05,
    tau2: float = 0.0,
    sessions: int = 1,
    discordance_aa: float | None = None,
    margin: float | None = None,
) -> HarmEstimate:
    """Harm of paired binary outcomes.

    Parameters
    ----------
    b, c, n : int
        Pairs where only the candidate failed, pairs where only the baseline failed, all pairs; b + c <= n, n >= 1.
    alpha : float
        One-sided level in (0, 0.5); the interval has confidence 1 - 2 alpha.
    tau2, sessions : float, int
        Session variance (>= 0) and the number of sessions (>= 1) these pairs come from: the Tango limits are
        stretched from the estimate by ``kappa = sqrt(1 + tau2 / (S se^2))``, ``se^2 = (pd - H^2) / n``.
    discordance_aa : float, optional
        Discordance of identical arms, in [0, 1], for the floor; the observed one where none was measured.
    margin : float, optional
        The declared tolerance, in (0, 1]. With it the interval is the gate's: with at most 400 pairs its ends are
        moved out where the normal approximation would not keep the level, so that FAIL at harm 0 and PASS at a harm
        of the margin each have an exact probability of at most 1.1 alpha. Without it, it is Tango's.

    Returns
    -------
    HarmEstimate
        ``df`` is None, ``sd = sqrt(pd - H^2)``.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908 (the interval). Drift and guard are the gate's own rules;
    docs/statistics.md, "Drift between sessions" and "Why few pairs of successes are guarded".
    """
    b, c, n = discordant(b, c, n)
    alpha = _alpha(alpha)
    drift = real("tau2", tau2, at_least=0.0) / count("sessions", sessions, minimum=1)
    if margin is None:
        interval = drifted_tango(b, c, n, normal_quantile(1 - alpha), drift)
    else:
        margin = real("margin", margin, above=0.0, at_most=1.0)
        ends = gate_limits(b, c, n, alpha=alpha, fail_alpha=alpha, margin=margin, drift=drift)
        interval = Interval(float(ends.low), float(ends.high))
    harm, discordance = (b - c) / n, (b + c) / n
    variance = max(discordance - harm * harm, 0.0)
    aa = discordance if discordance_aa is None else probability("discordance_aa", discordance_aa)
    return HarmEstimate(
        harm=harm,
        interval=interval,
        se=math.sqrt(variance / n + drift),
        floor=noise_floor(n, discordance=aa, alpha=alpha, tau2=tau2, sessions=sessions),
        n=n,
        sd=math.sqrt(variance),
    )


def continuous_harm(
    differences: ArrayLike,
    *,
    alpha: float = 0.05,
    tau2: float = 0.0,
    sessions: int = 1,
    sd_aa: float | None = None,
    sd_if_alike: float | None = None,
) -> HarmEstimate:
    """Harm of a continuous outcome over independent units.

    Parameters
    ----------
    differences : array_like, shape (J,), J >= 3
        One harm per independent unit: per swap pair when teams are swapped, per task for two plain arms.
    alpha : float
        One-sided level in (0, 0.5); the interval has confidence 1 - 2 alpha.
    tau2, sessions : float, int
        Session variance (>= 0) and the number of sessions (>= 1).
    sd_aa : float, optional
        Standard deviation of a unit's difference between identical arms, >= 0, for the floor; else the observed one.
    sd_if_alike : float, optional
        Standard deviation to assume, > 0, where all units are identical: the planned one.

    Returns
    -------
    HarmEstimate
        Interval ``H +- t_{1-alpha, J-1} sqrt(s^2 / J + tau2 / S)``.

    Raises
    ------
    ValueError
        With fewer than 3 units, or if all units are identical and ``sd_if_alike`` is not given: then the spread was not
        measured (a constant outcome, or the same episodes counted twice), and any interval would be of zero width.

    References
    ----------
    Student (1908), Biometrika 6, 1-25 (the interval). The session variance is the gate's own rule;
    docs/statistics.md, "Drift between sessions".
    """
    d = reals("differences", differences, minimum_size=MIN_UNITS, what="unit differences")
    level = 1 - _alpha(alpha)
    drift = real("tau2", tau2, at_least=0.0) / count("sessions", sessions, minimum=1)
    assumed = None if sd_if_alike is None else real("sd_if_alike", sd_if_alike, above=0.0)
    sd = assumed if assumed is not None and alike(d) else unit_sd(d, "differences")
    df = d.size - 1
    harm = float(d.mean())
    se = math.sqrt(sd * sd / d.size + drift)
    half = t_quantile(level, df) * se
    floor_sd = sd if sd_aa is None else real("sd_aa", sd_aa, at_least=0.0)
    return HarmEstimate(
        harm=harm,
        interval=Interval(harm - half, harm + half),
        se=se,
        floor=noise_floor_units(d.size, sd=floor_sd, alpha=alpha, tau2=tau2, sessions=sessions),
        n=d.size,
        sd=sd,
        df=df,
    )


def alike(d: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    """Whether units are identical up to rounding, so that nothing was measured about their spread."""
    return float(np.ptp(d)) <= 1e-12 * float(np.abs(d).max())


def unit_sd(d: np.ndarray[tuple[int, ...], np.dtype[np.float64]], name: str) -> float:
    """Sample standard deviation; an error if the units are identical up to rounding."""
    if alike(d):
        raise ValueError(
            f"{name} must differ between units, got {d.size} identical values {float(d[0]):g}: "
            "nothing was measured about their spread (constant outcome, or the same episodes counted twice)"
        )
    return float(d.std(ddof=1))


def _alpha(alpha: float) -> float:
    value = fraction("alpha", alpha)
    return real("alpha", value, above=0.0, below=0.5)
