"""pass^k: the probability that k trials of a task all succeed, averaged over tasks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ._check import FloatArray, IntArray, count, counts, fail, fraction, real
from ._quantiles import normal_quantile, t_quantile
from .harm import HarmEstimate, drifted_tango
from .interval import Interval
from .proportions import wilson_limits

MIN_ACTIVE_TASKS = 20
"""A contrast of active pass^k on fewer common tasks stays inconclusive."""


def _table(
    successes: ArrayLike, trials: ArrayLike, k: int, suffix: str = ""
) -> tuple[IntArray, IntArray, int]:
    k = count("k", k, minimum=1)
    c_name, n_name = "successes" + suffix, "trials" + suffix
    c = np.atleast_1d(counts(c_name, successes))
    if c.ndim != 1 or c.size == 0:
        raise fail(c_name, successes, "one count per task, at least one task")
    n = counts(n_name, trials)
    if n.ndim > 1 or (n.ndim == 1 and n.size != c.size):
        raise fail(n_name, trials, f"a number or one per task ({c.size} tasks)")
    n = np.broadcast_to(n, c.shape)
    if bool((c > n).any()):
        t = int(np.argmax(c > n))
        raise ValueError(f"{c_name} must be at most {n_name}, got {c[t]} of {n[t]} for task {t}")
    if bool((n < k).any()):
        t = int(np.argmax(n < k))
        raise ValueError(
            f"k must be at most the trials of every task, got k={k} and {n[t]} trials for task {t}"
        )
    return c, n, k


def _all_succeed(c: IntArray, n: IntArray, k: int) -> FloatArray:
    u = np.ones(c.shape)
    for i in range(k):  # C(c, k) / C(n, k) without large numbers
        u *= np.maximum(c - i, 0) / (n - i)
    return u


def pass_hat_k(successes: ArrayLike, trials: ArrayLike, k: int) -> float:
    """Estimate, without bias, the probability that k trials of a task all succeed, averaged over tasks.

    Parameters
    ----------
    successes : array_like of int, shape (T,)
        Successes c_t of each task.
    trials : int or array_like of int, shape (T,)
        Trials n_t of each task.
    k : int
        >= 1 and <= every n_t.

    Returns
    -------
    float
        Mean over tasks of ``C(c_t, k) / C(n_t, k)``.

    Raises
    ------
    ValueError
        No task, k < 1, k > n_t or c_t > n_t for any task: nothing is dropped.

    References
    ----------
    Chen et al. (2021), arXiv:2107.03374 (the estimator); Yao et al. (2024), arXiv:2406.12045 (pass^k).
    """
    return float(_all_succeed(*_table(successes, trials, k)).mean())


def pass_hat_k_interval(
    successes: ArrayLike, trials: ArrayLike, k: int, *, confidence: float = 0.95
) -> Interval:
    """Interval of one arm's pass^k: Wilson with an effective sample size.

    ``n_eff = u (1 - u) / (s_u^2 / T)`` clipped to [T, sum n_t], and Student's t with T - 1 degrees of
    freedom in place of the normal quantile.

    Parameters
    ----------
    successes, trials : array_like of int, shape (T,), T >= 2
        As in `pass_hat_k`.
    k : int
        >= 1 and <= every n_t.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212; Korn and Graubard (1998), Survey
    Methodology 24, 193-201 (effective sample size with Student's t).
    """
    c, n, k = _table(successes, trials, k)
    if c.size < 2:
        raise fail("successes", successes, "counts of at least 2 tasks")
    u = _all_succeed(c, n, k)
    mean, tasks = float(u.mean()), c.size
    # rounding must not turn "every task alike" into a tiny variance
    variance = 0.0 if float(np.ptp(u)) < 1e-12 else float(u.var(ddof=1)) / tasks
    binomial = mean * (1 - mean)
    if variance > 0:
        effective = min(max(binomial / variance, tasks), float(n.sum()))
    else:
        effective = float(tasks if binomial < 1e-12 else n.sum())
    t = t_quantile(0.5 + fraction("confidence", confidence) / 2, tasks - 1)
    return wilson_limits(mean, effective, t)


def pass_hat_k_difference(
    successes_baseline: ArrayLike,
    trials_baseline: ArrayLike,
    successes_candidate: ArrayLike,
    trials_candidate: ArrayLike,
    k: int,
    *,
    alpha: float = 0.05,
    tau2: float = 0.0,
    sessions: int = 1,
    sd_aa: float | None = None,
) -> HarmEstimate:
    """Paired harm on pass^k: baseline minus candidate over the same tasks.

    Parameters
    ----------
    successes_baseline, trials_baseline, successes_candidate, trials_candidate : array_like of int, shape (T,)
        Counts of the same T >= 3 tasks in both arms.
    k : int
        >= 1 and <= every number of trials.
    alpha, tau2, sessions, sd_aa
        As in `continuous_harm`.

    Returns
    -------
    HarmEstimate
        t interval over task differences. If all tasks have the same difference there is no spread to measure:
        with n = k in every task the outcome is binary and Tango's interval is used; else the interval is
        [-1, 1] and `undecided_because` says so.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Student (1908), Biometrika 6, 1-25; Tango (1998), Statistics in Medicine 17, 891-908. What stays undecided is
    the gate's own rule; docs/statistics.md, "pass^k".
    """
    c0, n0, k = _table(successes_baseline, trials_baseline, k, "_baseline")
    c1, n1, _ = _table(successes_candidate, trials_candidate, k, "_candidate")
    if c0.size != c1.size or c0.size < 3:
        raise fail(
            "successes_candidate",
            successes_candidate,
            f"counts of the baseline's {c0.size} tasks, at least 3",
        )
    level = 1 - real("alpha", alpha, above=0.0, below=0.5)
    drift = real("tau2", tau2, at_least=0.0) / count("sessions", sessions, minimum=1)
    d = _all_succeed(c0, n0, k) - _all_succeed(c1, n1, k)
    tasks, harm = d.size, float(d.mean())
    t = t_quantile(level, tasks - 1)
    reason: str | None = None
    df: int | None = tasks - 1
    if float(np.ptp(d)) > 1e-12:
        sd = float(d.std(ddof=1))
        half = t * math.sqrt(sd * sd / tasks + drift)
        interval = Interval(harm - half, harm + half)
    else:
        sd = 0.0
        if bool((n0 == k).all()) and bool((n1 == k).all()):
            df = None
            b, c = int((d > 0.5).sum()), int((d < -0.5).sum())
            interval = drifted_tango(b, c, tasks, normal_quantile(level), drift)
        else:
            interval = Interval(-1.0, 1.0)
            reason = f"all {tasks} tasks show the same difference: its spread was not measured"
    floor_sd = sd if sd_aa is None else real("sd_aa", sd_aa, at_least=0.0)
    return HarmEstimate(
        harm=harm,
        interval=interval,
        se=math.sqrt(sd * sd / tasks + drift),
        floor=t * math.sqrt(floor_sd * floor_sd / tasks + drift),
        n=tasks,
        sd=sd,
        df=df,
        undecided_because=reason,
    )
