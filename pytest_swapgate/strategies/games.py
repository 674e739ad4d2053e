"""Strategies for cooperative games; whole-number games allow exact results."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pytest_swapgate.games import Game
from pytest_swapgate.strategies.structures import check_range, graphs, unions

WHOLE = st.integers(-9, 9)


def games(
    min_players: int = 1,
    max_players: int = 5,
    *,
    worths: SearchStrategy[Any] | None = None,
    empty: SearchStrategy[Any] | None = None,
) -> SearchStrategy[Game]:
    """Generate games without any structure; worths may be negative.

    Parameters
    ----------
    min_players, max_players
        Limits of the number of players, 1 to 22 (a game has 2**n worths: stay small).
    worths
        Strategy for one worth; default: whole numbers from -9 to 9.
    empty
        Strategy for the worth of the empty coalition; default: 0.

    Returns
    -------
    SearchStrategy[Game]
        ``game.to_dict()`` gives {tuple of players: worth} for code that knows nothing of `Game`.
    """
    check_range("players", min_players, max_players, 1, 22)
    worth = WHOLE if worths is None else worths
    nothing = st.just(0) if empty is None else empty

    def table(n: int) -> SearchStrategy[Game]:
        rest = st.lists(worth, min_size=2**n - 1, max_size=2**n - 1)
        return st.builds(lambda first, others: Game([first, *others]), nothing, rest)

    return st.integers(min_players, max_players).flatmap(table)


def float_games(
    min_players: int = 1, max_players: int = 5, *, low: float = -1.0, high: float = 1.0
) -> SearchStrategy[Game]:
    """Generate games of floats between two limits, v(empty) among them.

    Parameters
    ----------
    min_players, max_players
        As in `games`.
    low, high
        Limits of the worths; 0 and 1 make games of success rates.
    """
    worth = st.floats(low, high, allow_subnormal=False)
    return games(min_players, max_players, worths=worth, empty=worth)


@st.composite
def superadditive_games(
    draw: DrawFn, min_players: int = 1, max_players: int = 5, *, surplus: SearchStrategy[Any] | None = None
) -> Game:
    """Generate games in which no two disjoint coalitions lose by joining; v(empty) = 0.

    Parameters
    ----------
    min_players, max_players
        As in `games`.
    surplus
        Strategy for what a coalition adds to its best split in two, >= 0; default: 0 to 9.
    """
    check_range("players", min_players, max_players, 1, 22)
    n = draw(st.integers(min_players, max_players))
    extra = st.integers(0, 9) if surplus is None else surplus
    worths: list[Any] = [0]
    for mask in range(1, 1 << n):
        if mask & (mask - 1) == 0:
            worths.append(draw(WHOLE))
            continue
        best, part = None, (mask - 1) & mask
        while part:
            split = worths[part] + worths[mask ^ part]
            best = split if best is None else max(best, split)
            part = (part - 1) & mask
        worths.append(best + draw(extra))
    return Game(worths)


@st.composite
def simple_games(draw: DrawFn, min_players: int = 1, max_players: int = 5) -> Game:
    """Generate monotone games of 0 and 1, everybody together winning (voting games).

    Parameters are those of `games`.
    """
    check_range("players", min_players, max_players, 1, 22)
    n = draw(st.integers(min_players, max_players))
    winning = draw(st.lists(st.integers(1, 2**n - 1), max_size=4, unique=True))
    winning.append((1 << n) - 1)
    return Game([int(any(mask & w == w for w in winning)) for mask in range(1 << n)])


@st.composite
def additive_games(
    draw: DrawFn, min_players: int = 1, max_players: int = 5, *, worths: SearchStrategy[Any] | None = None
) -> Game:
    """Generate games in which a coalition is worth the sum of its players.

    Parameters are those of `games`; ``worths`` is the strategy for one player.
    """
    check_range("players", min_players, max_players, 1, 22)
    n = draw(st.integers(min_players, max_players))
    alone = draw(st.lists(WHOLE if worths is None else worths, min_size=n, max_size=n))
    return Game([sum((w for i, w in enumerate(alone) if mask >> i & 1), 0) for mask in range(1 << n)])


@st.composite
def games_with_null_player(
    draw: DrawFn, min_players: int = 2, max_players: int = 5, *, worths: SearchStrategy[Any] | None = None
) -> tuple[Game, int]:
    """Generate a game and a player of it that never changes a worth.

    Parameters are those of `games`, with at least 1 player.
    """
    check_range("players", min_players, max_players, 1, 22)
    n = draw(st.integers(min_players, max_players))
    nobody = draw(st.integers(0, n - 1))
    rest = draw(st.lists(WHOLE if worths is None else worths, min_size=2 ** (n - 1), max_size=2 ** (n - 1)))
    low = (1 << nobody) - 1
    return Game([rest[mask & low | mask >> 1 & ~low] for mask in range(1 << n)]), nobody


@st.composite
def games_with_symmetric_players(
    draw: DrawFn, min_players: int = 2, max_players: int = 5, *, worths: SearchStrategy[Any] | None = None
) -> tuple[Game, int, int]:
    """Generate a game and two players of it that can take each other's place in every coalition.

    Parameters are those of `games`, with at least 2 players.
    """
    check_range("players", min_players, max_players, 2, 22)
    n = draw(st.integers(min_players, max_players))
    first = draw(st.integers(0, n - 2))
    second = draw(st.integers(first + 1, n - 1))
    table = draw(st.lists(WHOLE if worths is None else worths, min_size=2**n, max_size=2**n))
    both = 1 << first | 1 << second
    return Game([table[m ^ both if m & both == 1 << second else m] for m in range(1 << n)]), first, second


def games_with_unions(
    min_players: int = 1, max_players: int = 5, *, worths: SearchStrategy[Any] | None = None
) -> SearchStrategy[tuple[Game, tuple[tuple[int, ...], ...]]]:
    """Generate a game and a partition of its players. Parameters are those of `games`."""
    check_range("players", min_players, max_players, 1, 22)
    return st.integers(min_players, max_players).flatmap(
        lambda n: st.tuples(games(n, n, worths=worths, empty=worths), unions(n))
    )


def games_with_graphs(
    min_players: int = 1,
    max_players: int = 5,
    *,
    worths: SearchStrategy[Any] | None = None,
    connected: bool = False,
) -> SearchStrategy[tuple[Game, tuple[tuple[int, int], ...]]]:
    """Generate a game and a communication graph of its players. Parameters are those of `games` and `graphs`."""
    check_range("players", min_players, max_players, 1, 22)
    return st.integers(min_players, max_players).flatmap(
        lambda n: st.tuples(games(n, n, worths=worths, empty=worths), graphs(n, connected=connected))
    )
