"""Independent units: t intervals on their means, the two-way standard error, cost ratios of totals."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ._check import FloatArray, fail, fraction, reals, same_length
from ._quantiles import t_quantile
from .harm import MIN_UNITS, unit_sd
from .interval import Interval


def t_interval(differences: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Student interval of the mean of independent units.

    Parameters
    ----------
    differences : array_like, shape (J,), J >= 3
        One number per unit. Repeated trials of a unit are averaged first.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        With fewer than 3 units or identical units.

    References
    ----------
    Student (1908), Biometrika 6, 1-25.
    """
    d = reals("differences", differences, minimum_size=MIN_UNITS, what="unit differences")
    half = t_quantile(0.5 + fraction("confidence", confidence) / 2, d.size - 1)
    half *= unit_sd(d, "differences") / math.sqrt(d.size)
    mean = float(d.mean())
    return Interval(mean - half, mean + half)


class TwoWay(NamedTuple):
    """Mean of a tasks x pairs table with a standard error that holds for new tasks and new pairs."""

    mean: float
    se: float
    df: int

    def interval(self, *, confidence: float = 0.95) -> Interval:
        """Student interval with the smaller degrees of freedom."""
        half = t_quantile(0.5 + fraction("confidence", confidence) / 2, self.df) * self.se
        return Interval(self.mean - half, self.mean + half)


def two_way_mean(table: ArrayLike) -> TwoWay:
    """Mean of crossed tasks and pairs, for a claim about a population of both.

    Parameters
    ----------
    table : array_like, shape (T, P), both >= 3
        Difference of task t in pair p.

    Returns
    -------
    TwoWay
        ``se^2 = (MS_tasks + MS_pairs - MS_interaction) / (T P)``, never below ``MS_interaction / (T P)``;
        ``df = min(T, P) - 1``.

    Raises
    ------
    ValueError
        For fewer than 3 tasks or pairs, or a table of identical values.

    References
    ----------
    Cornfield and Tukey (1956), Annals of Mathematical Statistics 27, 907-949 (crossed random factors).
    """
    x = reals("table", table, ndim=2, what="differences, tasks x pairs")
    tasks, pairs = x.shape
    if min(tasks, pairs) < MIN_UNITS:
        raise fail("table", table, f"at least {MIN_UNITS} tasks x {MIN_UNITS} pairs")
    unit_sd(x.ravel(), "table")
    mean = float(x.mean())
    rows, columns = x.mean(axis=1), x.mean(axis=0)
    ms_tasks = pairs * float(rows.var(ddof=1))
    ms_pairs = tasks * float(columns.var(ddof=1))
    rest = x - rows[:, None] - columns[None, :] + mean
    ms_rest = float((rest**2).sum()) / ((tasks - 1) * (pairs - 1))
    variance = max(ms_tasks + ms_pairs - ms_rest, ms_rest) / (tasks * pairs)
    return TwoWay(mean, math.sqrt(variance), min(tasks, pairs) - 1)


def log_cost_ratio(
    messages_candidate: ArrayLike,
    subtasks_candidate: ArrayLike,
    messages_baseline: ArrayLike,
    subtasks_baseline: ArrayLike,
) -> FloatArray:
    """Log ratio of the candidate's to the baseline's cost, one per unit, from totals.

    Parameters
    ----------
    messages_candidate, subtasks_candidate, messages_baseline, subtasks_baseline : array_like, shape (J,)
        Totals over all episodes of a unit (swap pair, or task) and an arm; each > 0. Totals, not per-episode
        ratios: dropping episodes without progress biases the ratio.

    Returns
    -------
    ndarray, shape (J,)
        ``log(messages_candidate / subtasks_candidate) - log(messages_baseline / subtasks_baseline)``: harms
        for `continuous_harm`, to be held against ``log(1 + tolerance)``.

    Raises
    ------
    ValueError
        If a total is zero: a cost per sub-task does not exist there, and leaving the unit out would hide it.

    References
    ----------
    The gate's own rule; docs/statistics.md, "What counts as one unit".
    """
    totals = {
        "messages_candidate": messages_candidate,
        "subtasks_candidate": subtasks_candidate,
        "messages_baseline": messages_baseline,
        "subtasks_baseline": subtasks_baseline,
    }
    arrays = {name: np.atleast_1d(reals(name, value, ndim=None)) for name, value in totals.items()}
    same_length(**arrays)
    for name, array in arrays.items():
        if not bool((array > 0).all()):
            first = int(np.argmin(array > 0))
            raise ValueError(f"{name} must be > 0 in every unit, got {array.flat[first]:g} in unit {first}")
    logs = {name: np.log(array) for name, array in arrays.items()}
    ratio: FloatArray = (
        logs["messages_candidate"]
        - logs["subtasks_candidate"]
        - logs["messages_baseline"]
        + logs["subtasks_baseline"]
    )
    return ratio
