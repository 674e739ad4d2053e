"""Shapley values under a budget: least squares on coalitions drawn by leverage score.

The Shapley value is the weighted least-squares fit of an additive game that keeps
efficiency. A coalition of size s has leverage 1 / C(n, s) in it, so every size gets the
same share of the budget until all of its coalitions are in. Coalitions come with their
complement and never twice.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.games._bits import member_rows, size_table
from pytest_swapgate.games._check import FloatArray, IntArray, generator, whole
from pytest_swapgate.games.game import Game, as_game
from pytest_swapgate.games.values import shapley


class RegressionEstimate(NamedTuple):
    """A Shapley value fitted to a part of the coalitions.

    Attributes
    ----------
    values
        Shape (n,); they sum to v(N) - v(empty).
    per_task
        Values by task, shape (tasks, n); (1, n) for a game without tasks.
    coalitions
        The bitmasks that were evaluated, ascending; all different.
    """

    values: FloatArray
    per_task: FloatArray
    coalitions: IntArray


def regression_budget(n: int) -> int:
    """Return the smallest budget of `regression_shapley`: the empty coalition, singletons and complements."""
    return min(2 * n + 2, 1 << n)


def regression_shapley(
    game: Game | ArrayLike, *, budget: int, rng: np.random.Generator
) -> RegressionEstimate:
    """Estimate the Shapley value by leverage-score regression.

    Parameters
    ----------
    game
        A game, or its table (2**n,), or (tasks, 2**n).
    budget
        Most coalitions to evaluate (for each task), at least 2 n + 2 (or 2**n if that is
        less); used up to an odd one. At 2**n or more the value is exact.
    rng
        Source of the coalitions.

    Returns
    -------
    RegressionEstimate
        All tasks share the coalitions, so a t-interval of ``per_task`` covers tasks and noise,
        not the choice of coalitions: where that matters, use `permutation_shapley`.

    Raises
    ------
    ValueError
        If the budget is below the minimum.

    Notes
    -----
    Source: Musco and Witter (2025), "Provably accurate Shapley value estimation via leverage
    score sampling", algorithm 1 with fixed counts a size; the singletons and their complements are
    always in, so that the fit is never singular.
    """
    game = as_game(game)
    rng = generator(rng)
    n = game.n
    whole("budget", budget, regression_budget(n))
    if budget >= 1 << n:
        exact = np.atleast_2d(shapley(game))
        return RegressionEstimate(exact.mean(axis=0), exact, np.arange(1 << n))
    everyone = (1 << n) - 1
    chosen, weights = _draw(n, (budget - 2) // 2, rng)
    sizes = size_table(n)[chosen]
    ends = np.atleast_2d(game.worths(np.array([0, everyone])))
    pair_worths = np.atleast_3d(game.worths(np.stack([chosen, everyone ^ chosen])).T)  # (pairs, 2, tasks)
    share = (ends[:, 1] - ends[:, 0]) / n
    # A coalition and its complement say the same about an additive game: one row, half the difference.
    target = (pair_worths[:, 0] - pair_worths[:, 1]) / 2 - np.outer(sizes - n / 2, share)
    rows = member_rows(chosen, n) - sizes[:, None] / n
    root = np.sqrt(weights)[:, None]
    fit = np.linalg.lstsq(rows * root, target * root, rcond=None)[0]
    per_task: FloatArray = fit.T - fit.mean(axis=0)[:, None] + share[:, None]
    read = np.concatenate([chosen, everyone ^ chosen, [0, everyone]])
    return RegressionEstimate(per_task.mean(axis=0), per_task, np.sort(read))


def _draw(n: int, pairs: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Draw coalitions of at most half of the players; return them and their weights in the fit."""
    counts = _counts(n, pairs)
    table = size_table(n)
    chosen, weights = [], []
    for size, count in enumerate(counts, start=1):
        layer = np.flatnonzero(table == size)
        if 2 * size == n:
            layer = layer[layer & 1 == 1]  # one of each two complements
        if count < layer.size:
            layer = rng.choice(layer, size=count, replace=False, shuffle=False)
        chosen.append(layer)
        kernel = 1.0 / (size * (n - size))
        weights.append(np.full(layer.size, (kernel / 2 if 2 * size == n else kernel) / max(count, 1)))
    return np.concatenate(chosen), np.concatenate(weights)


def _counts(n: int, pairs: int) -> list[int]:
    """Share pairs over the sizes 1..n//2: equal (half for the middle size), none above its layer."""
    half = n // 2
    room = [comb(n, s) // (2 if 2 * s == n else 1) for s in range(1, half + 1)]
    want = [0.5 if 2 * s == n else 1.0 for s in range(1, half + 1)]
    counts = [0] * half
    counts[0] = room[0]
    left = pairs - room[0]
    open_sizes = [k for k in range(half) if k]
    while left > 0 and open_sizes:
        unit = left / sum(want[k] for k in open_sizes)
        full = [k for k in open_sizes if want[k] * unit >= room[k]]
        if not full:
            shares = {k: want[k] * unit for k in open_sizes}
            for k, share in shares.items():
                counts[k] = int(share)
            for k in sorted(open_sizes, key=lambda k: shares[k] - int(shares[k]), reverse=True):
                if sum(counts) == pairs:
                    break
                counts[k] += 1
            return counts
        for k in full:
            counts[k] = room[k]
            left -= room[k]
            open_sizes.remove(k)
    return counts
