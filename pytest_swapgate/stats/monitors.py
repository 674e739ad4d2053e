"""Monitors after a release: R1 CUSUM on active pass^k, R2 injected events, R3 key collisions.

They complete the rules that the paired noise-floor study (arXiv 2606.20695, section 6.5) names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_swapgate.stats import _special as special

from ._check import FloatArray, count, counts, fail, fraction, probability, real, reals, same_length
from .drift import session_drift
from .proportions import clopper_pearson_interval

MIN_BASELINE_RUNS = 20
MIN_BASELINE_INJECTIONS = 400

MAX_RUN_LENGTH_LIMIT = 100.0
"""Largest alarm limit h whose run length is computed: the equations grow with it."""


@dataclass(frozen=True, slots=True)
class CusumBaseline:
    """What the monitored rate is when nothing is wrong.

    Attributes
    ----------
    mean : float
        Expected rate mu0.
    variance : float
        Variance v0 of one task's outcome: a run on n tasks has the sampling variance v0 / n.
    tau2 : float
        Variance between runs beyond sampling.
    """

    mean: float
    variance: float
    tau2: float


def cusum_baseline(rates: ArrayLike, sizes: ArrayLike) -> CusumBaseline:
    """Estimate the baseline from at least 20 runs.

    Parameters
    ----------
    rates : array_like, shape (R,)
        Rate in [0, 1] of each run.
    sizes : array_like of int, shape (R,)
        Tasks of each run, >= 1.

    Returns
    -------
    CusumBaseline
        The mean over all tasks, ``v0 = mean (1 - mean)`` (the largest variance such outcomes can have), and the
        DerSimonian-Laird variance between runs.

    Raises
    ------
    ValueError
        With fewer than 20 runs, or rates that are all 0 or all 1: a rate that never varies cannot be monitored so.

    References
    ----------
    DerSimonian and Laird (1986), Controlled Clinical Trials 7, 177-188.
    """
    x = reals("rates", rates, minimum_size=MIN_BASELINE_RUNS, what="baseline runs")
    n = counts("sizes", sizes, minimum=1, ndim=1)
    same_length(rates=x, sizes=n)
    if not bool(((x >= 0) & (x <= 1)).all()):
        raise fail("rates", rates, "rates in [0, 1]")
    mean = float(x @ n / n.sum())
    variance = mean * (1 - mean)
    if variance <= 0:
        raise fail("rates", rates, "rates that are not all 0 or all 1")
    return CusumBaseline(mean, variance, session_drift(x, variance / n))


class CusumPath(NamedTuple):
    """State after each run, and where it alarmed."""

    low: FloatArray
    """Evidence of a fall, before a reset."""

    high: FloatArray
    """Evidence of a rise, before a reset."""

    alarms: NDArray[np.bool_]
    """A fall beyond the limit; the state restarts at 0 afterwards. (A rise resets its own side only.)"""


def cusum(
    rates: ArrayLike, sizes: ArrayLike, baseline: CusumBaseline, *, k: float = 0.75, h: float = 5.0
) -> CusumPath:
    """R1: cumulative sum of standardised falls of a rate.

    Parameters
    ----------
    rates : array_like, shape (R,) or (R, ...)
        Rate in [0, 1] of each run in time order along the first axis; further axes are monitored side by side.
    sizes : array_like of int, shape (R,)
        Tasks of each run.
    baseline : CusumBaseline
        A mean in [0, 1], a variance > 0 and tau2 >= 0.
    k : float
        Reference value in standard deviations, > 0: half of the shift to detect.
    h : float
        Alarm limit, > 0.

    Returns
    -------
    CusumPath
        ``S <- max(0, S + (mu0 - x) / sigma - k)`` with ``sigma^2 = v0 / n + tau2``; alarm at ``S > h``. With the
        defaults a false alarm comes every 9,008 runs and a fall by 1.5 sigma is found after 7.4 runs on average.

    Raises
    ------
    ValueError
        For rates outside [0, 1], and a baseline that is none: without a variance no fall can be told from noise, and
        a monitor of NaN would never alarm.

    References
    ----------
    Page (1954), Biometrika 41, 100-115.
    """
    x = reals("rates", rates, ndim=None, what="finite numbers in [0, 1]")
    if not bool(((x >= 0) & (x <= 1)).all()):
        raise fail("rates", rates, "in [0, 1]")
    n = counts("sizes", sizes, minimum=1, ndim=1)
    if x.ndim == 0 or x.shape[0] != n.size:
        raise fail("sizes", sizes, f"one size per run ({len(x) if x.ndim else 1} runs)")
    k, h = real("k", k, above=0.0), real("h", h, above=0.0)
    if not isinstance(baseline, CusumBaseline):
        raise fail("baseline", baseline, "a CusumBaseline")
    mean = probability("baseline.mean", baseline.mean)
    variance = real("baseline.variance", baseline.variance, above=0.0)
    sigma = np.sqrt(variance / n + real("baseline.tau2", baseline.tau2, at_least=0.0))
    fall = (mean - x) / sigma.reshape(-1, *[1] * (x.ndim - 1))
    low, high = np.empty_like(x), np.empty_like(x)
    down, up = np.zeros(x.shape[1:]), np.zeros(x.shape[1:])
    for t in range(x.shape[0]):
        down = np.maximum(0.0, down + fall[t] - k)
        up = np.maximum(0.0, up - fall[t] - k)
        low[t], high[t] = down, up
        down, up = np.where(down > h, 0.0, down), np.where(up > h, 0.0, up)
    return CusumPath(low, high, low > h)


def cusum_run_length(
    shift: float = 0.0, *, k: float = 0.75, h: float = 5.0, two_sided: bool = False
) -> float:
    """Average number of runs until an alarm, when the rate has fallen by `shift` standard deviations.

    Solves the integral equation of the run length with Gauss-Legendre quadrature. Two sides combine by
    ``1 / L = 1 / L_fall + 1 / L_rise``.

    Parameters
    ----------
    shift : float
        Fall of the rate in standard deviations; negative for a rise.
    k : float
        Reference value, > 0.
    h : float
        Alarm limit, > 0 and at most 100.
    two_sided : bool
        Whether a rise alarms too.

    Raises
    ------
    ValueError
        For an argument outside its range, and where the run length exceeds what a double can hold (shift far below
        k, or k or h too large).

    References
    ----------
    Goel and Wu (1971), Technometrics 13, 221-230; van Dobben de Bruyn (1968), Cumulative Sum Tests; Grassmann, Taksar
    and Heyman (1985), Operations Research 33, 1107-1116.
    """
    shift = real("shift", shift)
    k, h = real("k", k, above=0.0), real("h", h, above=0.0, at_most=MAX_RUN_LENGTH_LIMIT)
    one = _run_length(shift, k, h)
    return one if not two_sided else 1 / (1 / one + 1 / _run_length(-shift, k, h))


def _run_length(shift: float, k: float, h: float) -> float:
    x, w = np.polynomial.legendre.leggauss(32 + math.ceil(8 * h))
    y, w = h / 2 * (x + 1), h / 2 * w
    start = np.concatenate([[0.0], y])  # the state 0 is an atom
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        step = y[None, :] - start[:, None] + (k - shift)
        kernel = np.exp(-0.5 * step * step) / math.sqrt(2 * math.pi) * w
        moves = np.concatenate([special.ndtr(k - start - shift)[:, None], kernel], axis=1)
        alarm = special.ndtr(start - h + (shift - k))
        runs = np.ones(start.size)
        # Long run lengths are solutions of a nearly singular system. States are eliminated by the algorithm of
        # Grassmann, Taksar and Heyman, which takes "does not stay" as the sum of what leaves: nothing is subtracted.
        for last in range(start.size - 1, 0, -1):
            leaves = alarm[last] + moves[last, :last].sum()
            share = moves[:last, last] / leaves
            moves[:last, :last] += share[:, None] * moves[last, :last]
            alarm[:last] += share * alarm[last]
            runs[:last] += share * runs[last]
        length = float(runs[0] / alarm[0]) if alarm[0] > 0 else math.inf
    if not math.isfinite(length):
        raise ValueError(
            f"shift - k must be so large that an alarm has a probability a double can hold, "
            f"got shift={shift}, k={k}, h={h}"
        )
    return length


def injection_quantile(injected: ArrayLike) -> int:
    """Order statistic ``ceil(.95 N)`` of injected events per trial.

    Parameters
    ----------
    injected : array_like of int, shape (N,)
        Injected events of each trial, >= 0; N >= 1.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule, which completes the paired noise-floor study (arXiv 2606.20695, section 6.5).
    """
    x = np.sort(counts("injected", injected, ndim=1))
    if x.size == 0:
        raise fail("injected", injected, "at least one count")
    return int(x[math.ceil(0.95 * x.size - 1e-9) - 1])


def injection_baseline(injected: ArrayLike) -> int:
    """R2 baseline q0 from at least 400 trials of the released configuration.

    Parameters
    ----------
    injected : array_like of int, shape (N,)
        Injected events of each trial, >= 0; N >= 400.

    Raises
    ------
    ValueError
        With fewer trials, or if q0 = 0: 50 % above nothing is no limit, so the monitor does not fit this store.

    References
    ----------
    The gate's own rule, which completes the paired noise-floor study (arXiv 2606.20695, section 6.5).
    """
    x = counts("injected", injected, ndim=1)
    if x.size < MIN_BASELINE_INJECTIONS:
        raise fail("injected", injected, f"counts of at least {MIN_BASELINE_INJECTIONS} baseline trials")
    q0 = injection_quantile(x)
    if q0 == 0:
        raise fail("injected", injected, "counts whose 95th percentile is > 0")
    return q0


def injection_alarm(injected: ArrayLike, q0: int, *, window: int = 100, rise: float = 1.5) -> bool:
    """R2: tell whether the 95th percentile of injected events over the last trials is 1.5 times the baseline.

    Parameters
    ----------
    injected : array_like of int, shape (N,)
        Injected events of each trial, in time order.
    q0 : int
        From `injection_baseline`, >= 1.
    window : int
        Trials looked at, >= 1; no alarm before that many have been seen.
    rise : float
        Alarm factor, > 1.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule, which completes the paired noise-floor study (arXiv 2606.20695, section 6.5).
    """
    x = counts("injected", injected, ndim=1)
    window = count("window", window, minimum=1)
    limit = real("rise", rise, above=1.0) * count("q0", q0, minimum=1)
    return x.size >= window and injection_quantile(x[-window:]) >= limit


class CollisionState(StrEnum):
    """What R3 can say of the collision rate."""

    ALARM = "alarm"
    FINE = "fine"
    INSUFFICIENT = "insufficient"


def collision_state(
    collisions: int, keys: int, *, limit: float = 0.005, confidence: float = 0.95
) -> CollisionState:
    """R3: tell whether the rate of colliding coordination keys lies above the limit.

    Parameters
    ----------
    collisions, keys : int
        Collisions among the keys seen; 0 <= collisions <= keys, keys >= 1.
    limit : float
        Highest tolerable rate, in (0, 1).
    confidence : float
        Of each one-sided Clopper-Pearson bound, in (0.5, 1).

    Returns
    -------
    CollisionState
        ALARM if the lower bound lies above the limit, FINE if the upper bound lies below it (without a collision
        from 598 keys on), else INSUFFICIENT.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404-413 (the bounds). The gate's own rule, which completes the
    paired noise-floor study (arXiv 2606.20695, section 6.5).
    """
    limit = fraction("limit", limit)
    confidence = real("confidence", confidence, above=0.5, below=1.0)
    low, high = clopper_pearson_interval(collisions, keys, confidence=2 * confidence - 1)
    if low > limit:
        return CollisionState.ALARM
    return CollisionState.FINE if high < limit else CollisionState.INSUFFICIENT
