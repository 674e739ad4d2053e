"""A user's own Shapley code: it knows nothing of pytest-swapgate, only dicts of coalitions."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

Worths = dict[tuple[int, ...], int]


def shapley(worths: Worths) -> dict[int, Fraction]:
    """Give each player the weighted mean of what it adds to the coalitions without it."""
    players = max(worths, key=len)
    n = len(players)
    value = dict.fromkeys(players, Fraction(0))
    for coalition, worth in worths.items():
        for player in players:
            if player not in coalition:
                joined = tuple(sorted((*coalition, player)))
                weight = Fraction(factorial(len(coalition)) * factorial(n - len(coalition) - 1), factorial(n))
                value[player] += weight * (worths[joined] - worth)
    return value


def shapley_with_a_bug(worths: Worths) -> dict[int, Fraction]:
    """Do the same, but take for granted that nobody is worth nothing. Textbook games never show it."""
    return shapley({**worths, (): 0})
