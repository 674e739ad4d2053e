"""Strategies for what stands around the players: unions and communication graphs."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy


@st.composite
def unions(draw: DrawFn, n: int) -> tuple[tuple[int, ...], ...]:
    """Generate partitions of the players 0..n-1 into non-empty unions; shrinks to one union.

    Parameters
    ----------
    n
        Number of players, >= 1.
    """
    check_range("n", n, n, 1, None)
    parts: list[list[int]] = [[0]]
    for player in range(1, n):
        union = draw(st.integers(0, len(parts)))
        if union == len(parts):
            parts.append([])
        parts[union].append(player)
    return tuple(map(tuple, parts))


@st.composite
def _connected(draw: DrawFn, n: int) -> tuple[tuple[int, int], ...]:
    tree = {(draw(st.integers(0, player - 1)), player) for player in range(1, n)}
    return tuple(sorted(tree | set(draw(graphs(n)))))


def graphs(n: int, *, connected: bool = False) -> SearchStrategy[tuple[tuple[int, int], ...]]:
    """Generate undirected graphs of the players 0..n-1 as sorted pairs; shrinks to few edges.

    Parameters
    ----------
    n
        Number of players, >= 1.
    connected
        Only graphs in which every player reaches every other.
    """
    check_range("n", n, n, 1, None)
    if connected:
        return _connected(n)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    if not pairs:
        return st.just(())
    return st.lists(st.sampled_from(pairs), unique=True).map(lambda edges: tuple(sorted(edges)))


def check_range(name: str, low: object, high: object, least: int, most: int | None) -> None:
    """Refuse limits that are no whole numbers, out of bounds or in the wrong order."""
    for value in (low, high):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"the limits of {name} must be whole numbers, got {value!r}")
        if value < least or (most is not None and value > most):
            bounds = f">= {least}" if most is None else f"from {least} to {most}"
            raise ValueError(f"the limits of {name} must be {bounds}, got {value}")
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise ValueError(f"the limits of {name} must be in order, got {low} > {high}")
