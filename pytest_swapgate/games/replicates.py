"""Where to put replicates: coalitions that move the values most, and are noisiest, first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from math import comb, factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.games import _check
from pytest_swapgate.games._bits import size_table, sizes
from pytest_swapgate.games._check import FloatArray, IntArray, Player, fail, numbers, whole
from pytest_swapgate.games.coalitions import coalitions_read
from pytest_swapgate.games.graphs import is_complete, neighbours_of
from pytest_swapgate.games.myerson_value import myerson, share_table
from pytest_swapgate.games.owen_value import Unions, owen_coalitions, union_coalitions


class Replicates(NamedTuple):
    """An allocation of evaluations to coalitions.

    Attributes
    ----------
    coalitions
        Bitmasks, ascending.
    counts
        Evaluations of each, >= 1; they sum to the budget.
    variance
        Sum over players of the variance of their values: sum of influence * sd**2 / counts.
    """

    coalitions: IntArray
    counts: IntArray
    variance: float


def influence(
    method: str,
    n: int,
    unions: Iterable[Iterable[Player]] | None = None,
    edges: Iterable[tuple[Player, Player]] | None = None,
    *,
    intervened: bool = False,
) -> tuple[IntArray, FloatArray]:
    """Return the coalitions that a method reads and how strongly each moves the values.

    Parameters are those of `coalitions_needed`.

    Returns
    -------
    tuple of ndarray
        Bitmasks, ascending, the empty coalition included where it is read; and for each the sum over
        players of its squared weight: times the variance of its worth, its part of the values' variance.
    """
    masks = coalitions_read(method, n, unions, edges, intervened=intervened, empty_known=False)
    if method == "leave_one_out":
        pivot = 0 if intervened else (1 << n) - 1
        return masks, np.where(masks == pivot, float(n), 1.0)
    if method == "owen":
        assert unions is not None
        return masks, _owen(_check.unions(unions, n))
    if method == "myerson":
        assert edges is not None
        neighbours = _check.edges(edges, n)
        if not is_complete(neighbours):
            return masks, _myerson(masks, neighbours)
    return masks, _by_size(n, banzhaf=method == "banzhaf")[size_table(n)]


def allocate_replicates(
    method: str,
    n: int,
    budget: int,
    unions: Iterable[Iterable[Player]] | None = None,
    edges: Iterable[tuple[Player, Player]] | None = None,
    *,
    intervened: bool = False,
    sd: ArrayLike | None = None,
) -> Replicates:
    """Divide a number of evaluations over coalitions so that the values' variance is smallest.

    Parameters
    ----------
    method, n, unions, edges, intervened
        As in `coalitions_needed`.
    budget
        Evaluations in all, at least one a coalition.
    sd
        Standard deviation of one evaluation of each coalition that `influence` returns, in
        that order, from a pilot, >= 0; None: the same for all.

    Returns
    -------
    Replicates
        Optimal among whole numbers: a coalition's count is close to proportional to
        sd * sqrt(influence) (Neyman), with at least one.

    Raises
    ------
    ValueError
        If the budget is too small, or ``sd`` does not fit the coalitions.
    """
    masks, weights = influence(method, n, unions, edges, intervened=intervened)
    whole("budget", budget, masks.size)
    spread = np.ones(masks.size) if sd is None else numbers("sd", sd)
    if spread.shape != masks.shape or (spread < 0).any():
        raise fail("sd", sd, f"one number >= 0 for each of {masks.size} coalitions")
    parts = weights * spread**2
    counts = _divide(parts, budget)
    return Replicates(masks, counts, float(np.sum(parts / counts)))


def _divide(parts: FloatArray, budget: int) -> IntArray:
    """Minimise sum(parts / counts): start below the continuous optimum, then give where it helps most."""
    roots = np.sqrt(parts) if parts.any() else np.ones(parts.size)
    counts = np.ones(parts.size, dtype=np.int64)
    free = roots > 0
    for _ in range(parts.size):
        share = (budget - np.sum(~free)) * np.where(free, roots, 0.0) / roots[free].sum()
        small = free & (share < 1.0)
        if not small.any():
            break
        free &= ~small
    counts[free] = np.maximum(1, share[free].astype(np.int64))
    left = budget - int(counts.sum())
    gain = [(-(roots[k] ** 2) / (counts[k] * (counts[k] + 1)), k) for k in range(parts.size)]
    heapq.heapify(gain)
    for _ in range(left):
        _, k = heapq.heappop(gain)
        counts[k] += 1
        heapq.heappush(gain, (-(roots[k] ** 2) / (counts[k] * (counts[k] + 1)), k))
    return counts


def _by_size(n: int, *, banzhaf: bool = False) -> FloatArray:
    """Sum the squared weights of a coalition of each size over the players, Shapley or Banzhaf."""
    one = np.array([0.5 ** (n - 1) if banzhaf else 1.0 / (n * comb(n - 1, s)) for s in range(n)])
    size = np.arange(n + 1)
    total: FloatArray = size * np.append(0.0, one) ** 2 + (n - size) * np.append(one, 0.0) ** 2
    return total


def _owen(parts: Unions) -> FloatArray:
    masks = owen_coalitions(parts)
    total = np.zeros(masks.size)
    m = len(parts)
    for k, part in enumerate(parts):
        read, _ = union_coalitions(parts, k)
        outer = np.array([1.0 / (m * comb(m - 1, h)) for h in range(m)])[size_table(m - 1)]
        inner = _by_size(len(part))[size_table(len(part))]
        np.add.at(total, np.searchsorted(masks, read), outer[:, None] ** 2 * inner)
    return total


def _myerson(masks: IntArray, neighbours: tuple[int, ...]) -> FloatArray:
    n = len(neighbours)
    near = neighbours_of(masks, neighbours)
    c, d = sizes(masks), sizes(near)
    to_members, to_neighbours = ((t / factorial(n)).astype(np.float64) for t in share_table(n))
    total: FloatArray = c * to_members[c, d] ** 2 + d * to_neighbours[c, d] ** 2
    # v(empty) is subtracted from every connected coalition: its weight is minus the value of a game of ones.
    ones = np.append(0.0, np.ones((1 << n) - 1))
    edges = [(i, j) for i, mask in enumerate(neighbours) for j in range(i) if mask >> j & 1]
    total[0] = float(np.sum(myerson(ones, edges) ** 2))
    return total
