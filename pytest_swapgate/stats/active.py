"""Coordination-active pass^k: only trials that had something to coordinate with, on tasks both arms share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import IntArray, count, counts, fail, probability
from .harm import HarmEstimate
from .interval import Interval
from .pass_hat_k import MIN_ACTIVE_TASKS, pass_hat_k, pass_hat_k_difference, pass_hat_k_interval


def active_tasks(active: ArrayLike, k: int) -> NDArray[np.bool_]:
    """Tasks T_k with at least k active trials.

    Parameters
    ----------
    active : array_like of int, shape (T,)
        Trials of each task that began with a non-empty trace store.
    k : int
        >= 1.

    Returns
    -------
    ndarray of bool, shape (T,)

    Raises
    ------
    ValueError
        If no task is left: a figure over nothing does not exist.

    References
    ----------
    The gate's own rule; docs/statistics.md, "pass^k".
    """
    a = counts("active", active, ndim=1)
    mask: NDArray[np.bool_] = a >= count("k", k, minimum=1)
    if not bool(mask.any()):
        raise fail("active", active, f"counts with at least one task of {k} or more active trials")
    return mask


def _subset(successes: ArrayLike, active: ArrayLike, k: int) -> tuple[NDArray[np.bool_], IntArray, IntArray]:
    mask = active_tasks(active, k)
    c, a = counts("successes", successes, ndim=1), counts("active", active, ndim=1)
    if c.size != a.size:
        raise fail("successes", successes, f"one count per task ({a.size} tasks)")
    if bool((c > a).any()):
        t = int(np.argmax(c > a))
        raise ValueError(f"successes must be at most active, got {c[t]} of {a[t]} in task {t}")
    return mask, c, a


def active_pass_hat_k(successes: ArrayLike, active: ArrayLike, k: int) -> float:
    """pass^k over active trials: mean over T_k of ``C(c_t, k) / C(a_t, k)``.

    Parameters
    ----------
    successes : array_like of int, shape (T,)
        Successes among the active trials of each task.
    active : array_like of int, shape (T,)
        Active trials a_t of each task; tasks with a_t < k are outside T_k (see `active_tasks` for its size).
    k : int
        >= 1.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    Notes
    -----
    "Active in each of trials 1..k", counted over trials in which it can hold: with a store that is written
    after a failure only, trial 0 is never active.

    References
    ----------
    The gate's own rule; docs/statistics.md, "pass^k". The estimator is that of `pass_hat_k`.
    """
    mask, c, a = _subset(successes, active, k)
    return pass_hat_k(c[mask], a[mask], k)


def active_pass_hat_k_interval(
    successes: ArrayLike, active: ArrayLike, k: int, *, confidence: float = 0.95
) -> Interval:
    """Interval of `active_pass_hat_k` for one arm, as `pass_hat_k_interval` over T_k.

    Parameters
    ----------
    successes, active : array_like of int, shape (T,)
        As in `active_pass_hat_k`.
    k : int
        >= 1.
    confidence : float
        In (0, 1). At least 2 tasks must be in T_k.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "pass^k". The interval is that of `pass_hat_k_interval`.
    """
    mask, c, a = _subset(successes, active, k)
    return pass_hat_k_interval(c[mask], a[mask], k, confidence=confidence)


def active_pass_hat_k_difference(
    successes_baseline: ArrayLike,
    active_baseline: ArrayLike,
    successes_candidate: ArrayLike,
    active_candidate: ArrayLike,
    k: int,
    *,
    common: ArrayLike,
    alpha: float = 0.05,
    tau2: float = 0.0,
    sessions: int = 1,
    sd_aa: float | None = None,
) -> HarmEstimate:
    """Paired harm on active pass^k over one common set of tasks.

    Parameters
    ----------
    successes_baseline, active_baseline, successes_candidate, active_candidate : array_like of int, shape (T,)
        Successes among active trials, and active trials, of each task and arm.
    k : int
        >= 1.
    common : array_like of bool, shape (T,)
        The tasks T_k, fixed from the state that both arms shared before they forked. Each arm's own active
        subset would select easy tasks for one and hard tasks for the other.
    alpha, tau2, sessions, sd_aa
        As in `continuous_harm`.

    Returns
    -------
    HarmEstimate
        Undecided with fewer than `MIN_ACTIVE_TASKS` common tasks, or where `pass_hat_k_difference` is.

    Raises
    ------
    ValueError
        If a common task has fewer than k active trials in either arm, or fewer than 3 tasks are common.

    References
    ----------
    The gate's own rule; docs/statistics.md, "pass^k". The interval is that of `pass_hat_k_difference`.
    """
    mask = np.asarray(common)
    if mask.dtype != np.bool_ or mask.ndim != 1:
        raise fail("common", common, "one bool per task")
    if not bool(mask.any()):
        raise fail("common", common, "a set of tasks that is not empty")
    parts = {
        "successes_baseline": successes_baseline,
        "active_baseline": active_baseline,
        "successes_candidate": successes_candidate,
        "active_candidate": active_candidate,
    }
    arrays = {name: counts(name, values, ndim=1) for name, values in parts.items()}
    for name, array in arrays.items():
        if array.size != mask.size:
            raise fail(name, parts[name], f"one count per task ({mask.size} tasks)")
    for name in ("active_baseline", "active_candidate"):
        short = mask & (arrays[name] < count("k", k, minimum=1))
        if bool(short.any()):
            t = int(np.argmax(short))
            raise ValueError(
                f"{name} must be at least k={k} in every common task, got {arrays[name][t]} in task {t}"
            )
    estimate = pass_hat_k_difference(
        arrays["successes_baseline"][mask],
        arrays["active_baseline"][mask],
        arrays["successes_candidate"][mask],
        arrays["active_candidate"][mask],
        k,
        alpha=alpha,
        tau2=tau2,
        sessions=sessions,
        sd_aa=sd_aa,
    )
    tasks = int(mask.sum())
    if tasks < MIN_ACTIVE_TASKS and estimate.undecided_because is None:
        reason = (
            f"only {tasks} coordination-active tasks are common to both arms, {MIN_ACTIVE_TASKS} are needed"
        )
        return replace(estimate, undecided_because=reason)
    return estimate


def require_valid_trials(valid: int, planned: int, *, minimum: float = 0.95) -> float:
    """Share of planned trials that were not lost to infrastructure errors.

    Parameters
    ----------
    valid, planned : int
        0 <= valid <= planned, planned >= 1.
    minimum : float
        Least share, in [0, 1].

    Raises
    ------
    ValueError
        If the share is below `minimum` (in [0, 1]): lost trials are neither failures nor dropped quietly.

    References
    ----------
    The gate's own rule; docs/statistics.md, "pass^k".
    """
    planned = count("planned", planned, minimum=1)
    valid = count("valid", valid)
    if valid > planned:
        raise fail("valid", valid, f"at most planned={planned}")
    minimum = probability("minimum", minimum)
    share = valid / planned
    if share < minimum:
        raise ValueError(
            f"valid must be at least {minimum:.0%} of planned, got {valid} of {planned} ({share:.1%}): "
            "too many were lost to infrastructure errors"
        )
    return share
