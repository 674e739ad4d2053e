"""Values by their definitions over orders of arrival, in Fractions: slow, and nothing shared with the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations, product

Table = Sequence[int | Fraction]


def players_of(v: Table) -> int:
    return len(v).bit_length() - 1


def _average(v: Table, orders: Iterable[Sequence[int]]) -> list[Fraction]:
    n = players_of(v)
    total, count = [Fraction(0)] * n, 0
    for order in orders:
        mask = 0
        for player in order:
            total[player] += Fraction(v[mask | 1 << player]) - Fraction(v[mask])
            mask |= 1 << player
        count += 1
    return [t / count for t in total]


def shapley_by_orders(v: Table) -> list[Fraction]:
    return _average(v, permutations(range(players_of(v))))


def owen_by_orders(v: Table, unions: Iterable[Iterable[int]]) -> list[Fraction]:
    """Only orders in which the members of a union arrive one after the other."""
    blocks = [list(permutations(union)) for union in unions]
    orders = (
        [player for part in inside for player in part]
        for arrangement in permutations(blocks)
        for inside in product(*arrangement)
    )
    return _average(v, orders)


def components(mask: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The connected components of a coalition, as bitmasks."""
    edges = list(edges)
    left, found = mask, []
    while left:
        part = left & -left
        while True:
            grown = part
            for i, j in edges:
                if mask >> i & mask >> j & 1 and (part >> i | part >> j) & 1:
                    grown |= 1 << i | 1 << j
            if grown == part:
                break
            part = grown
        found.append(part)
        left &= ~part
    return found


def restricted(v: Table, edges: Iterable[tuple[int, int]]) -> list[Fraction]:
    """The graph-restricted game of the zero-normalised game."""
    edges = list(edges)
    return [
        sum((Fraction(v[c]) - Fraction(v[0]) for c in components(mask, edges)), Fraction(0))
        for mask in range(len(v))
    ]


def myerson_by_orders(v: Table, edges: Iterable[tuple[int, int]]) -> list[Fraction]:
    return shapley_by_orders(restricted(v, edges))


def banzhaf_by_definition(v: Table) -> list[Fraction]:
    n = players_of(v)
    return [
        sum((Fraction(v[m | 1 << i]) - Fraction(v[m]) for m in range(1 << n) if not m >> i & 1), Fraction(0))
        / 2 ** (n - 1)
        for i in range(n)
    ]


def subgame(v: Table, keep: Sequence[int]) -> list[int | Fraction]:
    """The game among some of the players, renumbered in the given order."""
    return [
        v[sum(1 << player for position, player in enumerate(keep) if mask >> position & 1)]
        for mask in range(1 << len(keep))
    ]
