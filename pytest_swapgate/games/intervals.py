"""Intervals of attributions: t over tasks, and Tango's score interval for differences of single successes.

Leaving one agent out of a team that succeeds or fails gives -1, 0 or 1 a task. With few tasks these are often
all alike, and a t-interval of no width covers nothing; such figures are paired binary outcomes.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.games._check import FloatArray, fail, numbers, player, whole
from pytest_swapgate.games._check import level as check_level

if TYPE_CHECKING:
    from pytest_swapgate.stats import Interval


class Comparison(NamedTuple):
    """A difference of two figures that were measured on the same tasks.

    Attributes
    ----------
    difference
        Mean over tasks of first minus second.
    interval
        Confidence interval of the difference.
    standard_error
        Of the difference, over tasks.
    """

    difference: float
    interval: Interval
    standard_error: float


def t_multiplier(level: float, df: float) -> float:
    """Return the two-sided quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))


def interval(centre: float, standard_error: float, *, level: float, df: float) -> Interval:
    """Return centre +- t * standard error."""
    from pytest_swapgate.stats import Interval

    half = t_multiplier(level, df) * standard_error
    return Interval(centre - half, centre + half)


def mean_interval(per_task: ArrayLike, *, level: float = 0.95) -> tuple[float, Interval]:
    """Return the mean of one figure a task and its t-interval over tasks.

    Parameters
    ----------
    per_task
        Shape (tasks,), at least 2 tasks.
    level
        Confidence, > 0 and < 1.
    """
    figures = _per_task(per_task, 1)
    return _over_tasks(figures, check_level(level), binary=False)[:2]


def value_intervals(
    per_task: ArrayLike, *, level: float = 0.95, paired_binary: bool | None = None
) -> list[Interval]:
    """Return an interval over tasks for the value of each player.

    A value is linear, so the value of the mean game is the mean of the values of the
    tasks' games: compute a value on the (tasks, 2**n) array and hand the result over.

    Parameters
    ----------
    per_task
        Values by task, shape (tasks, n), at least 2 tasks.
    level
        Confidence, > 0 and < 1.
    paired_binary
        True: the values are differences of two outcomes that are 0 or 1 (leave-one-out, one
        trial a task), and the interval is Tango's. False: t with tasks - 1 degrees of freedom.
        None: True if every value is -1, 0 or 1.

    Returns
    -------
    list of Interval
        One a player, for the population of tasks that these were drawn from.

    Raises
    ------
    ValueError
        For fewer than two tasks, NaN or infinity, a level outside (0, 1), or values that are
        not paired binary although that was said.

    Notes
    -----
    Source: statistics of this package, sections 2 and 9. The percentile bootstrap covers .82 at 5 tasks.
    """
    figures = _per_task(per_task, 2)
    confidence = check_level(level)
    binary = _is_paired_binary(figures, paired_binary)
    return [_over_tasks(column, confidence, binary)[1] for column in figures.T]


def compare_players(per_task: ArrayLike, first: int, second: int, *, level: float = 0.95) -> Comparison:
    """Compare two players, paired by task: first minus second.

    Parameters
    ----------
    per_task
        Values by task, shape (tasks, n), at least 2 tasks.
    first, second
        Two different players.
    level
        Confidence, > 0 and < 1.
    """
    figures = _per_task(per_task, 2)
    i, j = (player(name, who, figures.shape[1]) for name, who in (("first", first), ("second", second)))
    if i == j:
        raise fail("second", second, "another player than first")
    return compare_tasks(figures[:, i], figures[:, j], level=level)


def compare_tasks(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Comparison:
    """Compare two figures measured on the same tasks, paired by task: first minus second.

    Parameters
    ----------
    first, second
        Shape (tasks,), the same tasks in the same order, at least 2.
    level
        Confidence, > 0 and < 1.

    Returns
    -------
    Comparison
        With a t-interval, or Tango's if every difference is -1, 0 or 1.
    """
    a, b = _per_task(first, 1), _per_task(second, 1)
    if a.shape != b.shape:
        raise ValueError(f"second must have one figure a task like first, {a.shape}, got shape {b.shape}")
    difference = a - b
    return Comparison(*_over_tasks(difference, check_level(level), _is_paired_binary(difference, None)))


def _per_task(values: ArrayLike, ndim: int) -> FloatArray:
    figures = numbers("per_task", values, (ndim,))
    whole("the number of tasks in per_task", figures.shape[0], 2)
    return figures


def _is_paired_binary(figures: FloatArray, said: bool | None) -> bool:
    possible = bool(np.isin(figures, (-1.0, 0.0, 1.0)).all())
    if said and not possible:
        raise fail("paired_binary", said, "False or None for values other than -1, 0 and 1")
    return possible if said is None else said


def _over_tasks(figures: FloatArray, level: float, binary: bool) -> tuple[float, Interval, float]:
    """Return mean, interval and standard error of one figure a task."""
    tasks = len(figures)
    centre = float(np.mean(figures))
    error = float(np.std(figures, ddof=1)) / sqrt(tasks)
    if not binary:
        return centre, interval(centre, error, level=level, df=tasks - 1), error
    from pytest_swapgate.stats import tango_interval

    up, down = int(np.sum(figures > 0)), int(np.sum(figures < 0))
    return centre, tango_interval(up, down, tasks, confidence=level), error
