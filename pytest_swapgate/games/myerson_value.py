"""The Myerson value: only players that a communication graph connects can create worth."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_swapgate.games import _check
from pytest_swapgate.games._bits import member_rows, membership, sizes
from pytest_swapgate.games._check import FloatArray, IntArray, Player
from pytest_swapgate.games._stores import as_fractions, common_denominator
from pytest_swapgate.games.game import Game, as_game
from pytest_swapgate.games.graphs import connected_coalitions, is_complete, neighbours_of
from pytest_swapgate.games.values import shapley

_PLAN_ENTRIES = 1 << 17
_CHUNK = 1 << 12


def myerson(
    game: Game | ArrayLike, edges: Iterable[tuple[Player, Player]], *, exact: bool = False
) -> NDArray[Any]:
    r"""Return the Myerson value: the Shapley value of the graph-restricted game.

    The restricted game gives a coalition the sum of v(C) - v(empty) over its connected
    components C. Each connected coalition C with c players and d neighbours outside adds

    .. math::
        \frac{(c-1)!\,d!}{(c+d)!} [v(C) - v(\emptyset)] \text{ to its members,} \quad
        -\frac{c!\,(d-1)!}{(c+d)!} [v(C) - v(\emptyset)] \text{ to its neighbours}

    (it is a component of the coalition of a player's predecessors only if its members came
    and its neighbours did not), so that only connected coalitions are read.

    Parameters
    ----------
    game
        A game, or its table (2**n,), or (tasks, 2**n).
    edges
        Pairs of players that communicate; direction does not matter.
    exact
        Return Fractions; the worths must be whole numbers or Fractions.

    Returns
    -------
    ndarray
        Shape (n,) or (tasks, n); float, or object (Fractions) with ``exact``. The values of
        a connected component sum to its worth minus v(empty). A null player of the game
        can have a value: it connects others.

    Raises
    ------
    ValueError
        For a self-loop or an unknown player.

    Notes
    -----
    Source: Myerson (1977), "Graphs and cooperation in games". For teams (attribution study,
    appendix A): a star for centralised teams, the complete graph for all others.
    """
    game = as_game(game)
    neighbours = _check.edges(edges, game.n, game.names)
    if is_complete(neighbours):
        return shapley(game, exact=exact)
    if exact:
        return _exact(game, neighbours)
    masks = connected_coalitions(neighbours)
    worths = game.worths(masks) - game.worths(np.zeros(1, dtype=np.int64))
    if masks.size * game.n <= _PLAN_ENTRIES:
        planned: FloatArray = worths @ _plan(neighbours)
        return planned
    to_members, to_neighbours, near = _shares(masks, neighbours)
    rows = [
        _sum_by_player(masks, row * to_members, game.n) - _sum_by_player(near, row * to_neighbours, game.n)
        for row in np.atleast_2d(worths)
    ]
    return rows[0] if game.tasks is None else np.array(rows)


def share_table(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return n! times the shares of members and of neighbours, by c and d, object (ints)."""
    to_members = np.zeros((n + 1, n + 1), dtype=object)
    to_neighbours = np.zeros((n + 1, n + 1), dtype=object)
    for c in range(1, n + 1):
        for d in range(n - c + 1):
            whole = factorial(n) // factorial(c + d)
            to_members[c, d] = factorial(c - 1) * factorial(d) * whole
            to_neighbours[c, d] = factorial(c) * factorial(d - 1) * whole if d else 0
    return to_members, to_neighbours


def _shares(masks: IntArray, neighbours: tuple[int, ...]) -> tuple[FloatArray, FloatArray, IntArray]:
    n = len(neighbours)
    near = neighbours_of(masks, neighbours)
    c, d = sizes(masks), sizes(near)
    to_members, to_neighbours = ((t / factorial(n)).astype(np.float64) for t in share_table(n))
    return to_members[c, d], to_neighbours[c, d], near


@lru_cache(maxsize=8)
def _plan(neighbours: tuple[int, ...]) -> FloatArray:
    """Return the weight matrix (connected coalitions, n): value = (worths - v(empty)) @ weights."""
    n = len(neighbours)
    masks = connected_coalitions(neighbours)
    to_members, to_neighbours, near = _shares(masks, neighbours)
    weights = member_rows(masks, n) * to_members[:, None] - member_rows(near, n) * to_neighbours[:, None]
    weights.flags.writeable = False
    return weights


def _sum_by_player(masks: IntArray, amounts: FloatArray, n: int) -> FloatArray:
    """Sum the amounts over the masks that hold each player, without a row a mask."""
    low = n // 2
    by_low = np.bincount(masks & (1 << low) - 1, weights=amounts, minlength=1 << low)
    by_high = np.bincount(masks >> low, weights=amounts, minlength=1 << (n - low))
    return np.concatenate([membership(low) @ by_low, membership(n - low) @ by_high])


def _exact(game: Game, neighbours: tuple[int, ...]) -> NDArray[Any]:
    n = game.n
    masks = connected_coalitions(neighbours)
    near = neighbours_of(masks, neighbours)
    to_members, to_neighbours = share_table(n)
    read, denominator = common_denominator(game.rational_worths(np.append(masks, 0)))
    worths = read[..., :-1] - read[..., -1:]
    total: NDArray[Any] = np.zeros((*worths.shape[:-1], n), dtype=object)
    for start in range(0, masks.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        c, d = sizes(masks[part]), sizes(near[part])
        inside = member_rows(masks[part], n).astype(np.int64).astype(object)
        outside = member_rows(near[part], n).astype(np.int64).astype(object)
        weights = inside * to_members[c, d][:, None] - outside * to_neighbours[c, d][:, None]
        total = total + worths[..., part] @ weights
    return as_fractions(total, denominator * factorial(n))
