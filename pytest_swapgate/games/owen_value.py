"""The Owen value: unions bargain first, then the players inside each union."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import factorial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_swapgate.games import _check
from pytest_swapgate.games._bits import size_table, spread
from pytest_swapgate.games._check import FloatArray, IntArray, Player
from pytest_swapgate.games._stores import as_fractions, common_denominator
from pytest_swapgate.games.game import Game, as_game
from pytest_swapgate.games.values import shapley_numerators

Unions: TypeAlias = tuple[tuple[int, ...], ...]

_PLAN_ENTRIES = 1 << 17  # weights kept for repeated calls: at most 1 MB a structure


def owen(game: Game | ArrayLike, unions: Iterable[Iterable[Player]], *, exact: bool = False) -> NDArray[Any]:
    r"""Return the Owen value under a priori unions.

    .. math::
        \phi_i = \sum_{H \subseteq M \setminus k} \sum_{S \subseteq B_k \setminus i}
        \frac{h!(m-h-1)!}{m!} \frac{s!(b_k-s-1)!}{b_k!} [v(Q_H + S + i) - v(Q_H + S)]

    with m unions, k the union of i, b_k its size and Q_H the players of the unions in H.

    Parameters
    ----------
    game
        A game, or its table (2**n,), or (tasks, 2**n).
    unions
        A partition of the players: every player in exactly one union, no union empty.
    exact
        Return Fractions; the worths must be whole numbers or Fractions.

    Returns
    -------
    ndarray
        Shape (n,) or (tasks, n); float, or object (Fractions) with ``exact``.

    Raises
    ------
    ValueError
        If unions overlap, miss a player or name an unknown one.

    Notes
    -----
    Source: Owen (1977), "Values of games with a priori unions". Reads
    ``coalitions_needed("owen", n, unions)`` worths: with unions of 4, 1,152 of the
    1,048,576 at 20 players.
    """
    game = as_game(game)
    parts, plan = _prepare(unions, game)
    if exact:
        return _exact(game, parts)
    if plan is not None:
        masks, weights = plan
        planned: FloatArray = game.worths(masks) @ weights
        return planned
    lead = () if game.tasks is None else (game.tasks,)
    value = np.empty((*lead, game.n))
    for k, part in enumerate(parts):
        masks, outer = union_coalitions(parts, k)
        inside = np.tensordot(game.worths(masks), outer.astype(np.float64), axes=([-2], [0]))
        scale = float(factorial(len(parts)) * factorial(len(part)))
        value[..., list(part)] = shapley_numerators(inside) / scale
    return value


def union_coalitions(parts: Unions, k: int) -> tuple[IntArray, NDArray[Any]]:
    """Return the coalitions that one union's game reads, and the weights of the sets of other unions.

    Returns
    -------
    tuple of ndarray
        Bitmasks, shape (2**(m-1), 2**b): other unions H by row, subset of union k by column;
        and h!(m-h-1)! for each row, object (ints).
    """
    others = [p for j, p in enumerate(parts) if j != k]
    whole = np.zeros(1, dtype=np.int64)
    for part in others:
        whole = np.concatenate([whole, whole | sum(1 << player for player in part)])
    inside = spread(np.arange(1 << len(parts[k])), parts[k])
    m = len(parts)
    outer = np.array([factorial(h) * factorial(m - h - 1) for h in range(m)], dtype=object)
    return whole[:, None] | inside, outer[size_table(m - 1)]


def owen_count(parts: Unions) -> int:
    """Count the distinct coalitions that the value reads, the empty one among them."""
    m = len(parts)
    return (1 << m) + sum((1 << (m - 1)) * ((1 << len(part)) - 2) for part in parts)


def owen_coalitions(parts: Unions) -> IntArray:
    """Return the distinct coalitions that the value reads, ascending."""
    return np.unique(np.concatenate([union_coalitions(parts, k)[0].ravel() for k in range(len(parts))]))


def _prepare(
    unions: Iterable[Iterable[Player]], game: Game
) -> tuple[Unions, tuple[IntArray, FloatArray] | None]:
    """Check the unions; find the plan of unions seen before without checking them again."""
    if isinstance(unions, Iterable) and not isinstance(unions, str):
        unions = [
            part if isinstance(part, str) or not isinstance(part, Iterable) else tuple(part)
            for part in unions
        ]
        key = tuple(unions)
        if {type(part) for part in key} == {tuple} and {type(p) for part in key for p in part} == {int}:
            return _known(game.n, key)
    return _known(game.n, _check.unions(unions, game.n, game.names))


@lru_cache(maxsize=8)
def _known(n: int, key: Unions) -> tuple[Unions, tuple[IntArray, FloatArray] | None]:
    parts = _check.unions(key, n)
    return parts, _plan(parts) if owen_count(parts) * n <= _PLAN_ENTRIES else None


def _plan(parts: Unions) -> tuple[IntArray, FloatArray]:
    """Return the coalitions read and the weight matrix (coalitions, n): value = worths @ weights."""
    masks = owen_coalitions(parts)
    m = len(parts)
    weights = np.zeros((masks.size, sum(map(len, parts))))
    for k, part in enumerate(parts):
        b = len(part)
        read, outer = union_coalitions(parts, k)
        rows = np.searchsorted(masks, read)
        inner = np.array([factorial(s) * factorial(b - s - 1) for s in range(b)], dtype=np.float64)
        size = size_table(b)
        scale = outer.astype(np.float64) / float(factorial(m) * factorial(b))
        for position, player in enumerate(part):
            inside = (np.arange(1 << b) >> position & 1).astype(bool)
            joined = np.where(inside, inner[size - 1], -inner[np.minimum(size, b - 1)])
            weights[rows, player] = scale[:, None] * joined
    for array in (masks, weights):
        array.flags.writeable = False
    return masks, weights


def _exact(game: Game, parts: Unions) -> NDArray[Any]:
    lead = () if game.tasks is None else (game.tasks,)
    value = np.empty((*lead, game.n), dtype=object)
    for k, part in enumerate(parts):
        masks, outer = union_coalitions(parts, k)
        worths, denominator = common_denominator(game.rational_worths(masks))
        inside = (worths * outer[:, None]).sum(axis=-2)
        scale = denominator * factorial(len(parts)) * factorial(len(part))
        value[..., list(part)] = as_fractions(shapley_numerators(inside), scale)
    return value
