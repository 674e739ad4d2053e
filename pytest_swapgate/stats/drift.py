"""Drift between sessions, and the noise floor: the gap that two identical arms show by chance."""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy.typing import ArrayLike

from ._check import FloatArray, count, fail, fraction, probability, real, reals, same_length
from ._quantiles import chi2_tail, normal_quantile, t_quantile

MIN_DRIFT_SESSIONS = 6
"""Fewer A/A sessions say nothing about drift: a gate then uses tau2 = 0 and says so."""


class Heterogeneity(NamedTuple):
    """Cochran's Q of several gaps, its degrees of freedom and chi-square p-value."""

    q: float
    df: int
    p: float


def _sessions(
    gaps: ArrayLike, variances: ArrayLike, *, minimum_size: int = 2
) -> tuple[FloatArray, FloatArray]:
    g = reals("gaps", gaps, minimum_size=minimum_size)
    v = reals("variances", variances, minimum_size=minimum_size)
    same_length(gaps=g, variances=v)
    if not bool((v > 0).all()):
        raise fail("variances", variances, "numbers > 0")
    return g, v


def cochran_q(gaps: ArrayLike, variances: ArrayLike) -> Heterogeneity:
    """Test whether the gaps of several sessions scatter more than their sampling variances say.

    Parameters
    ----------
    gaps, variances : array_like, shape (S,), S >= 2
        A/A gap of each session and its sampling variance (> 0).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Cochran (1954), Biometrics 10, 101-129.
    """
    g, v = _sessions(gaps, variances)
    w = 1 / v
    mean = float(w @ g / w.sum())
    q = float(w @ (g - mean) ** 2)
    return Heterogeneity(q, g.size - 1, chi2_tail(q, g.size - 1))


def session_drift(gaps: ArrayLike, variances: ArrayLike) -> float:
    """Variance tau^2 of the true gap between sessions (DerSimonian-Laird).

    Parameters
    ----------
    gaps, variances : array_like, shape (S,), S >= 2
        A/A gap of each session and its sampling variance (> 0), e.g. ``(pd - H^2) / n``.

    Returns
    -------
    float
        ``max(0, (Q - (S - 1)) / (sum w - sum w^2 / sum w))`` with ``w = 1 / v``. With fewer than
        `MIN_DRIFT_SESSIONS` sessions this is a description, not an estimate to gate on: see `assessed_drift`.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    DerSimonian and Laird (1986), Controlled Clinical Trials 7, 177-188.
    """
    g, v = _sessions(gaps, variances)
    w = 1 / v
    total = float(w.sum())
    return max(0.0, (cochran_q(g, v).q - (g.size - 1)) / (total - float(w @ w) / total))


def assessed_drift(gaps: ArrayLike, variances: ArrayLike) -> float | None:
    """Session variance for a gate, or None ("not assessed", use 0) below `MIN_DRIFT_SESSIONS` sessions.

    Parameters
    ----------
    gaps, variances : array_like, shape (S,)
        A/A gap of each session and its sampling variance (> 0); S may be small, even 0.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    DerSimonian and Laird (1986), Controlled Clinical Trials 7, 177-188 (the estimate). The least number of
    sessions is the gate's own rule; docs/statistics.md, "Drift between sessions".
    """
    # checked first: too few sessions are no reason to let bad ones pass
    g, v = _sessions(gaps, variances, minimum_size=0)
    return None if g.size < MIN_DRIFT_SESSIONS else session_drift(g, v)


def noise_floor(
    n: int, *, discordance: float, alpha: float = 0.05, tau2: float = 0.0, sessions: int = 1
) -> float:
    """Gap that n pairs of two identical arms exceed with probability alpha.

    Parameters
    ----------
    n : int
        Pairs, >= 1.
    discordance : float
        Share of pairs in [0, 1] on which two identical arms disagree (A/A).
    alpha : float
        One-sided level in (0, 1).
    tau2 : float
        Session variance, >= 0.
    sessions : int
        Sessions S over which the pairs are spread, >= 1.

    Returns
    -------
    float
        ``z_{1-alpha} sqrt(discordance / n + tau2 / S)``. It is printed beside a harm; it is never the margin.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Why the margin is not the floor". The term is that of the paired
    noise-floor study (arXiv 2606.20695).
    """
    n = count("n", n, minimum=1)
    z = normal_quantile(1 - fraction("alpha", alpha))
    spread = probability("discordance", discordance) / n + _drift_part(tau2, sessions)
    return z * math.sqrt(spread)


def noise_floor_units(
    units: int, *, sd: float, alpha: float = 0.05, tau2: float = 0.0, sessions: int = 1
) -> float:
    """Mean difference that J units of two identical arms exceed with probability alpha.

    ``t_{1-alpha, J-1} sqrt(sd^2 / J + tau2 / S)``.

    Parameters
    ----------
    units : int
        Independent units J >= 3.
    sd : float
        Standard deviation of an A/A difference between units, >= 0.
    alpha, tau2, sessions
        As in `noise_floor`.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "Why the margin is not the floor". Student (1908), Biometrika 6, 1-25
    (the quantile).
    """
    units = count("units", units, minimum=3)
    sd = real("sd", sd, at_least=0.0)
    t = t_quantile(1 - fraction("alpha", alpha), units - 1)
    return t * math.sqrt(sd * sd / units + _drift_part(tau2, sessions))


def _drift_part(tau2: float, sessions: int) -> float:
    return real("tau2", tau2, at_least=0.0) / count("sessions", sessions, minimum=1)
