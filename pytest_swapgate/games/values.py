"""Leave-one-out, Shapley and Banzhaf values from the sums of worths by size.

All three are linear in the worths with weights that depend on a coalition's size only
(semivalues). So it is enough to know, for each player and size, the sum of the worths of
the coalitions with that player: two thin matrix products over the table seen as a
square, without a temporary of its size.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_swapgate.games._bits import membership, size_classes, size_table
from pytest_swapgate.games._check import FloatArray
from pytest_swapgate.games._stores import as_fractions, common_denominator
from pytest_swapgate.games.game import Game, as_game

# Products under this many multiplications stay on one thread in OpenBLAS: on a busy machine its threads
# wait for each other ten times longer than the work takes.
_BLOCK = 1 << 18


def leave_one_out(game: Game | ArrayLike, *, intervened: bool = False, exact: bool = False) -> NDArray[Any]:
    """Return what each player adds alone, everybody else left as they are.

    Parameters
    ----------
    game
        A game, or its table (2**n,), or (tasks, 2**n).
    intervened
        False (S = agents present): v(N) - v(N minus i). True (S = agents intervened on):
        v({i}) - v(empty), the convention of the attribution study, section 3.2.
    exact
        Return Fractions; the worths must be whole numbers or Fractions.

    Returns
    -------
    ndarray
        Shape (n,) or (tasks, n); float, or object (Fractions) with ``exact``.
    """
    game = as_game(game)
    everyone = (1 << game.n) - 1
    one = 1 << np.arange(game.n)
    masks = np.append(one, 0) if intervened else np.append(everyone ^ one, everyone)
    if exact:
        worths, denominator = common_denominator(game.rational_worths(masks))
        change = worths[..., :-1] - worths[..., -1:]
        return as_fractions(change if intervened else -change, denominator)
    read = game.worths(masks)
    difference: FloatArray = read[..., :-1] - read[..., -1:]
    return difference if intervened else -difference


def shapley(game: Game | ArrayLike, *, exact: bool = False) -> NDArray[Any]:
    r"""Return the Shapley value.

    .. math:: \phi_i = \sum_{S \not\ni i} \frac{s!\,(n-s-1)!}{n!} [v(S+i) - v(S)]

    Parameters
    ----------
    game
        A game, or its table (2**n,), or (tasks, 2**n).
    exact
        Return Fractions; the worths must be whole numbers or Fractions.

    Returns
    -------
    ndarray
        Shape (n,) or (tasks, n); float, or object (Fractions) with ``exact``. The values of
        a player sum to v(N) - v(empty). The mean over tasks is the value of the mean game.

    Notes
    -----
    Source: Shapley (1953), "A value for n-person games". Reads all 2**n worths.
    """
    game = as_game(game)
    if exact:
        numerators, denominator = common_denominator(game.rational_worths(np.arange(1 << game.n)))
        return as_fractions(shapley_numerators(numerators), denominator * factorial(game.n))
    return shapley_numerators(game.table()) / factorial(game.n)


def banzhaf(game: Game | ArrayLike, *, normalised: bool = False, exact: bool = False) -> NDArray[Any]:
    r"""Return the Banzhaf value, the mean of v(S+i) - v(S) over the 2**(n-1) coalitions S without i.

    Parameters
    ----------
    game
        A game, or its table (2**n,), or (tasks, 2**n).
    normalised
        Divide by the sum, as the Banzhaf power index of a voting game does.
    exact
        Return Fractions; the worths must be whole numbers or Fractions.

    Returns
    -------
    ndarray
        Shape (n,) or (tasks, n); float, or object (Fractions) with ``exact``.

    Raises
    ------
    ValueError
        If ``normalised`` and the values sum to zero.

    Notes
    -----
    Source: Banzhaf (1965), "Weighted voting doesn't work"; Dubey and Shapley (1979).
    """
    game = as_game(game)
    n = game.n
    ones = [1] * n
    if exact:
        numerators, denominator = common_denominator(game.rational_worths(np.arange(1 << n)))
        value: NDArray[Any] = as_fractions(_weighted(numerators, ones), denominator << (n - 1))
    else:
        value = _weighted(game.table(), ones) / float(1 << (n - 1))
    if normalised:
        total = value.sum(axis=-1, keepdims=True)
        if (total == 0).any():
            raise ValueError("normalised must be False for a game whose Banzhaf values sum to 0, got True")
        value = value / total
    return value


def shapley_numerators(table: NDArray[Any]) -> NDArray[Any]:
    """Return n! times the Shapley value of a table (..., 2**n), float or object (ints)."""
    n = int(table.shape[-1]).bit_length() - 1
    return _weighted(table, [factorial(s) * factorial(n - s - 1) for s in range(n)])


def _weighted(table: NDArray[Any], weights: list[int]) -> NDArray[Any]:
    """Sum weights[|S|] * (v(S+i) - v(S)) over the coalitions S without i."""
    with_player, all_players = sums_by_size(table)
    kind = table.dtype
    joined = np.array([0, *weights], dtype=kind)  # v(S) as the coalition after i joined
    before = np.array([*weights, 0], dtype=kind)
    without = all_players[..., None, :] - with_player
    total: NDArray[Any] = with_player @ joined - without @ before
    return total


def sums_by_size(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum the worths of a table (..., 2**n) by size, for each player and in all.

    Returns
    -------
    tuple of ndarray
        Shapes (..., n, n + 1): sum over the coalitions of size k with player i; and
        (..., n + 1): sum over the coalitions of size k. Same kind of numbers as the table.
    """
    n = int(table.shape[-1]).bit_length() - 1
    high = n // 2
    low = n - high
    lead = table.shape[:-1]
    kind = table.dtype
    square = table.reshape(*lead, 1 << high, 1 << low)
    low_classes, high_classes = _as(size_classes(low), kind), _as(size_classes(high).T, kind)
    rows = np.empty((*lead, 1 << high, low + 1), dtype=kind)  # by high part, size of the low part
    columns = np.zeros((*lead, high + 1, 1 << low), dtype=kind)  # size of the high part, by low part
    step = max(1, _BLOCK // ((low + 1) << low))
    for start in range(0, 1 << high, step):
        block = slice(start, start + step)
        rows[..., block, :] = square[..., block, :] @ low_classes
        columns += high_classes[:, block] @ square[..., block, :]
    by_high = np.zeros((*lead, 1 << high, n + 1), dtype=kind)
    by_low = np.zeros((*lead, 1 << low, n + 1), dtype=kind)
    for size in range(high + 1):
        which = np.flatnonzero(size_table(high) == size)
        by_high[..., which, size : size + low + 1] = rows[..., which, :]
    for size in range(low + 1):
        which = np.flatnonzero(size_table(low) == size)
        by_low[..., which, size : size + high + 1] = np.swapaxes(columns[..., which], -1, -2)
    with_low = _as(membership(low), kind) @ by_low
    with_high = _as(membership(high), kind) @ by_high
    return np.concatenate([with_low, with_high], axis=-2), by_high.sum(axis=-2)


def _as(matrix: FloatArray, kind: np.dtype[Any]) -> NDArray[Any]:
    """Give a 0/1 matrix the kind of numbers of the table (Python ints for exact tables)."""
    return matrix.astype(np.int64).astype(object) if kind.kind == "O" else matrix
