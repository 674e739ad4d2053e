"""Yes-or-no properties of a game, each with the first pair of coalitions that violates it."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_swapgate.games._bits import spread
from pytest_swapgate.games._check import FloatArray, IntArray, Player, fail, real
from pytest_swapgate.games.game import Game, as_game

_LOW = 8  # players of the inner, vectorised part of the superadditivity check


class Property(NamedTuple):
    """Whether a property holds; true and false in a condition.

    Attributes
    ----------
    holds
        The answer.
    violation
        The first pair of coalitions (tuples of players) that violates it, None if it holds.
    shortfall
        By how much that pair does; 0 if the property holds.
    """

    holds: bool
    violation: tuple[tuple[Player, ...], tuple[Player, ...]] | None
    shortfall: float

    def __bool__(self) -> bool:
        return self.holds


def is_superadditive(game: Game | ArrayLike, *, tolerance: float | None = None) -> Property:
    """Say whether v(S) + v(T) <= v(S + T) for all disjoint S and T, v(empty) subtracted from each.

    Parameters
    ----------
    game
        A game without tasks, or its table (2**n,).
    tolerance
        Shortfalls up to this are rounding, >= 0. None: 1e-12 times the largest worth.

    Returns
    -------
    Property
        Violation: S and T of the smallest violating union (by bitmask), smallest S first.

    Notes
    -----
    Looks at 3**n / 2 pairs: milliseconds up to 12 players, about ten seconds at 20.
    """
    game, table, slack = _prepare(game, tolerance)
    table = table - table[0]
    low = min(game.n, _LOW)
    inner = _splits(low)
    for high in range(1 << (game.n - low)):
        worst: tuple[int, int] | None = None
        for part in _subsets(high):
            if part > high ^ part:
                continue
            gap = table[(high << low) + inner[0]] - table[(part << low) + inner[1]]
            gap -= table[((high ^ part) << low) + inner[2]]
            bad = np.flatnonzero(gap < -slack)
            if bad.size:
                union = (high << low) + inner[0][bad]
                first = (part << low) + inner[1][bad]
                first = np.minimum(first, union ^ first)
                place = int(np.lexsort((first, union))[0])
                pair = int(union[place]), int(first[place])
                worst = pair if worst is None else min(worst, pair)
        if worst is not None:
            union_mask, s = worst
            t = union_mask ^ s
            return _violated(game, s, t, float(table[s] + table[t] - table[union_mask]))
    return _HOLDS


def is_max_superadditive(game: Game | ArrayLike, *, tolerance: float | None = None) -> Property:
    """Say whether v(S + T) >= max(v(S), v(T)) for all disjoint, non-empty S and T.

    For two players: whether the tax is at most zero. Parameters as in `is_superadditive`.

    Returns
    -------
    Property
        Violation: a coalition and the single player whose arrival makes it worth less, smallest
        coalition (by bitmask) first.

    Notes
    -----
    Source: collaboration-tax paper, proposition 2. One player at a time is enough.
    """
    return _monotone(game, tolerance, with_empty=False)


def is_monotone(game: Game | ArrayLike, *, tolerance: float | None = None) -> Property:
    """Say whether v(S + i) >= v(S) for all S and i, the empty S among them.

    Parameters as in `is_superadditive`.

    Returns
    -------
    Property
        Violation: S and the player i, smallest S (by bitmask) first.
    """
    return _monotone(game, tolerance, with_empty=True)


def is_convex(game: Game | ArrayLike, *, tolerance: float | None = None) -> Property:
    """Say whether v(S + T) + v(common part) >= v(S) + v(T) for all S and T.

    Parameters as in `is_superadditive`.

    Returns
    -------
    Property
        Violation: two coalitions that differ by one player each, smallest common part
        (by bitmask) first.

    Notes
    -----
    Two players joining one coalition are enough (Shapley 1971, "Cores of convex games").
    """
    game, table, slack = _prepare(game, tolerance)
    found: tuple[int, int, int] | None = None
    for i, j in combinations(range(game.n), 2):
        view = table.reshape(1 << (game.n - 1 - j), 2, 1 << (j - i - 1), 2, 1 << i)
        gap = view[:, 1, :, 1] - view[:, 1, :, 0] - view[:, 0, :, 1] + view[:, 0, :, 0]
        bad = np.flatnonzero(gap.ravel() < -slack)
        if bad.size:
            base = int(spread(bad[:1], tuple(p for p in range(game.n) if p not in (i, j)))[0])
            found = (base, i, j) if found is None else min(found, (base, i, j))
    if found is None:
        return _HOLDS
    base, i, j = found
    s, t = base | 1 << i, base | 1 << j
    return _violated(game, s, t, float(table[s] + table[t] - table[s | t] - table[base]))


_HOLDS = Property(True, None, 0.0)


def _monotone(game: Game | ArrayLike, tolerance: float | None, *, with_empty: bool) -> Property:
    game, table, slack = _prepare(game, tolerance)
    found: tuple[int, int] | None = None
    for i in range(game.n):
        view = table.reshape(1 << (game.n - 1 - i), 2, 1 << i)
        bad = np.flatnonzero((view[:, 1] - view[:, 0]).ravel() < -slack)
        if not with_empty and bad.size and bad[0] == 0:
            bad = bad[1:]
        if bad.size:
            base = int(spread(bad[:1], tuple(p for p in range(game.n) if p != i))[0])
            found = (base, i) if found is None else min(found, (base, i))
    if found is None:
        return _HOLDS
    base, i = found
    return _violated(game, base, 1 << i, float(table[base] - table[base | 1 << i]))


def _prepare(game: Game | ArrayLike, tolerance: float | None) -> tuple[Game, FloatArray, float]:
    game = as_game(game)
    if game.tasks is not None:
        raise fail("game", game, "a game of single numbers; take game.mean() of a game with tasks")
    table = game.table()
    if tolerance is None:
        return game, table, 1e-12 * float(np.abs(table).max())
    accepted = "a finite number >= 0"
    slack = real("tolerance", tolerance, accepted)
    if slack < 0:
        raise fail("tolerance", tolerance, accepted)
    return game, table, slack


def _violated(game: Game, s: int, t: int, shortfall: float) -> Property:
    return Property(False, (game.players_in(s), game.players_in(t)), shortfall)


def _splits(n: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return all ways to send each of n players to S, to T or to neither: masks of S + T, S, T."""
    s: NDArray[Any] = np.zeros(1, dtype=np.int64)
    t = s
    for player in range(n):
        bit = 1 << player
        s, t = np.concatenate([s, s | bit, s]), np.concatenate([t, t, t | bit])
    return s | t, s, t


def _subsets(mask: int) -> list[int]:
    subsets = [0]
    while subsets[-1] != mask:
        subsets.append((subsets[-1] - mask) & mask)
    return subsets
