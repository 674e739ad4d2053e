"""Shapley values under a budget: antithetic permutation sampling with an honest interval.

A permutation and its reverse make a pair. Utilities are evaluated once a coalition and
task and then reused by every pair that meets the coalition, so pairs are not independent
given noise: the variance is that of a pairs x tasks array, not of the pairs alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.games._check import FloatArray, fail, generator, whole
from pytest_swapgate.games._check import level as check_level
from pytest_swapgate.games.game import Game, as_game
from pytest_swapgate.games.intervals import interval

if TYPE_CHECKING:
    from pytest_swapgate.stats import Interval


class PermutationEstimate(NamedTuple):
    """A sampled Shapley value.

    Attributes
    ----------
    values
        Shape (n,); they sum to v(N) - v(empty).
    standard_errors
        Shape (n,), of `values` around the Shapley value of the expected game.
    intervals
        One a player, t with ``df`` degrees of freedom.
    df
        min(pairs, tasks) - 1; pairs - 1 for a game without tasks.
    per_task
        Values by task, shape (tasks, n); (1, n) for a game without tasks.
    pairs, coalitions
        Pairs drawn and distinct coalitions that they read.
    """

    values: FloatArray
    standard_errors: FloatArray
    intervals: list[Interval]
    df: int
    per_task: FloatArray
    pairs: int
    coalitions: int


def permutation_shapley(
    game: Game | ArrayLike,
    *,
    rng: np.random.Generator,
    pairs: int | None = None,
    budget: int | None = None,
    level: float = 0.95,
) -> PermutationEstimate:
    """Estimate the Shapley value from pairs of a random permutation and its reverse.

    Parameters
    ----------
    game
        A game, or its table (2**n,), or (tasks, 2**n).
    rng
        Source of the permutations.
    pairs
        Number of pairs, >= 2 (default 32).
    budget
        Instead of ``pairs``: most distinct coalitions to evaluate (for each task), at least
        that of two pairs, 4 n - 2. No coalition is evaluated twice.
    level
        Confidence of the intervals.

    Returns
    -------
    PermutationEstimate
        Without tasks the interval covers the Shapley value of the worths as they are, and says
        nothing about noise in them; that needs tasks (or replicates as rows).

    Raises
    ------
    ValueError
        For fewer than 2 pairs, a budget that is too small, or both given.

    Notes
    -----
    Variance of the mean of pairs x tasks contributions: V_pairs + V_tasks - V_interaction, and not
    less than V_pairs or V_tasks; df = min(pairs, tasks) - 1. Sources: statistics of this package, section 9;
    antithetic pairs after Mitchell et al. (2022), "Sampling permutations for Shapley value estimation".
    """
    game = as_game(game)
    rng = generator(rng)
    confidence = check_level(level)
    count = _pairs(game.n, pairs, budget)
    order = rng.permuted(np.tile(np.arange(game.n), (count, 1)), axis=1)
    bits = np.int64(1) << order
    forward = np.concatenate([np.zeros((count, 1), dtype=np.int64), np.cumsum(bits, axis=1)], axis=1)
    backward = (1 << game.n) - 1 ^ forward  # the reverse permutation meets the complements
    ways = np.stack([forward, backward])
    worths = game.worths(ways)
    steps = np.diff(worths, axis=-1)
    halves = (steps[..., 0, :, :] - steps[..., 1, :, :]) / 2
    by_pair = np.atleast_3d(halves) if game.tasks is None else np.moveaxis(halves, 0, -1)
    contributions = np.empty((count, by_pair.shape[-1], game.n))
    np.put_along_axis(contributions, order[:, None, :], np.swapaxes(by_pair, 1, 2), axis=2)
    variance, df = two_way_variance(contributions)
    values = contributions.mean(axis=(0, 1))
    errors = np.sqrt(variance)
    return PermutationEstimate(
        values,
        errors,
        [interval(float(v), float(e), level=confidence, df=df) for v, e in zip(values, errors, strict=True)],
        df,
        contributions.mean(axis=0),
        count,
        int(np.unique(ways).size),
    )


def two_way_variance(contributions: FloatArray) -> tuple[FloatArray, int]:
    """Return the variance of the grand mean of a (pairs, tasks, n) array, and its degrees of freedom."""
    pairs, tasks, _ = contributions.shape
    by_pair = contributions.mean(axis=1)
    of_pairs = by_pair.var(axis=0, ddof=1) / pairs
    if tasks == 1:
        return of_pairs, pairs - 1
    by_task = contributions.mean(axis=0)
    of_tasks = by_task.var(axis=0, ddof=1) / tasks
    rest = contributions - by_pair[:, None] - by_task[None] + contributions.mean(axis=(0, 1))
    of_interaction = (rest**2).sum(axis=(0, 1)) / ((pairs - 1) * (tasks - 1) * pairs * tasks)
    total = np.maximum(of_pairs + of_tasks - of_interaction, np.maximum(of_pairs, of_tasks))
    return total, min(pairs, tasks) - 1


def _pairs(n: int, pairs: int | None, budget: int | None) -> int:
    if pairs is not None and budget is not None:
        raise fail("budget", budget, "None where pairs are given")
    if budget is None:
        return whole("pairs", 32 if pairs is None else pairs, 2)
    # A pair reads n - 1 prefixes, their complements, the empty coalition and everybody.
    least = min(4 * n - 2, 1 << n)
    return max(2, (whole("budget", budget, least) - 2) // max(1, 2 * (n - 1)))
