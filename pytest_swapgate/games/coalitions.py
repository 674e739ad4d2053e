"""Which coalitions a method reads, and how many: the price of an attribution before it is paid."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pytest_swapgate.games import _check
from pytest_swapgate.games._check import IntArray, Player
from pytest_swapgate.games.game import Game
from pytest_swapgate.games.graphs import connected_coalitions, is_complete
from pytest_swapgate.games.owen_value import Unions, owen_coalitions, owen_count

METHODS = ("leave_one_out", "shapley", "banzhaf", "owen", "myerson")


def coalitions_needed(
    method: str,
    n: int,
    unions: Iterable[Iterable[Player]] | None = None,
    edges: Iterable[tuple[Player, Player]] | None = None,
    *,
    intervened: bool = False,
    empty_known: bool | None = None,
) -> int:
    """Count the fewest distinct coalitions that a method has to evaluate.

    Parameters
    ----------
    method
        leave_one_out (n + 1), shapley or banzhaf (2**n), owen (by unions), myerson
        (the connected coalitions).
    n
        Number of players, 1 to 22.
    unions, edges
        What `owen` and `myerson` take; needed for these two only.
    intervened
        As in `leave_one_out`.
    empty_known
        Whether v(empty) is known without an evaluation (given as ``empty`` to
        `Game.from_callable`). None: the convention that a method is usually priced by:
        unknown, except for myerson, which is defined for games with v(empty) = 0.
        With False, myerson counts one more.

    Returns
    -------
    int
        What lazy evaluation asks for, for one task and one replicate.

    Raises
    ------
    ValueError
        For an unknown method, unions or edges that are missing, out of place or wrong.
    """
    parts, neighbours = _arguments(method, n, unions, edges)
    empty = _asks_for_empty(method, n, intervened, empty_known)
    if method == "leave_one_out":
        return n + 1 - (_reads_empty(method, n, intervened) and not empty)
    if parts is not None:
        return owen_count(parts) - (not empty)
    if neighbours is not None and not is_complete(neighbours):
        return int(connected_coalitions(neighbours).size) + empty
    return (1 << n) - (not empty)


def coalitions_read(
    method: str,
    n: int,
    unions: Iterable[Iterable[Player]] | None = None,
    edges: Iterable[tuple[Player, Player]] | None = None,
    *,
    intervened: bool = False,
    empty_known: bool | None = None,
) -> IntArray:
    """Return the bitmasks that `coalitions_needed` counts, ascending; parameters are the same."""
    parts, neighbours = _arguments(method, n, unions, edges)
    if method == "leave_one_out":
        one = 1 << np.arange(n)
        masks = np.append(one, 0) if intervened else np.append((1 << n) - 1 ^ one, (1 << n) - 1)
    elif parts is not None:
        masks = owen_coalitions(parts)
    elif neighbours is not None:
        masks = np.append(0, connected_coalitions(neighbours))
    else:
        masks = np.arange(1 << n)
    masks = np.unique(masks)
    return masks if _asks_for_empty(method, n, intervened, empty_known) else masks[masks != 0]


def coalitions_to_ask(
    game: Game,
    method: str,
    unions: Iterable[Iterable[Player]] | None = None,
    edges: Iterable[tuple[Player, Player]] | None = None,
    *,
    intervened: bool = False,
) -> IntArray:
    """Return the bitmasks that a method reads and this game does not know yet, ascending.

    Parameters are those of `coalitions_needed`. The number of them is what the method will
    ask this game's function for.
    """
    if unions is not None:
        unions = _check.unions(unions, game.n, game.names)
    if edges is not None:
        near = _check.edges(edges, game.n, game.names)
        edges = [(i, j) for i, mask in enumerate(near) for j in range(i) if mask >> j & 1]
    masks = coalitions_read(method, game.n, unions, edges, intervened=intervened, empty_known=False)
    return masks[~game.known(masks)]


def _arguments(
    method: str,
    n: int,
    unions: Iterable[Iterable[Player]] | None,
    edges: Iterable[tuple[Player, Player]] | None,
) -> tuple[Unions | None, tuple[int, ...] | None]:
    """Check; return the unions for owen and the neighbours for myerson."""
    if method not in METHODS:
        raise _check.fail("method", method, "one of " + ", ".join(repr(m) for m in METHODS))
    _check.players("n", n)
    if unions is not None and method != "owen":
        raise _check.fail("unions", unions, f"None for method {method!r}")
    if edges is not None and method != "myerson":
        raise _check.fail("edges", edges, f"None for method {method!r}")
    return (
        _check.unions(unions, n) if method == "owen" else None,
        _check.edges(edges, n) if method == "myerson" else None,
    )


def _reads_empty(method: str, n: int, intervened: bool) -> bool:
    return method != "leave_one_out" or intervened or n == 1


def _asks_for_empty(method: str, n: int, intervened: bool, empty_known: bool | None) -> bool:
    if empty_known is None:
        empty_known = method == "myerson"
    return _reads_empty(method, n, intervened) and not empty_known
