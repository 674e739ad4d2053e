"""Superadditive, max-superadditive, monotone, convex: right answers, and the first pair that violates."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from pytest_swapgate.games import Game, is_convex, is_max_superadditive, is_monotone, is_superadditive
from pytest_swapgate.strategies import additive_games, games, simple_games, superadditive_games

MODEST = settings(deadline=None, max_examples=60)
CHECKS = [is_superadditive, is_max_superadditive, is_monotone, is_convex]


def mask(players) -> int:
    return sum(1 << player for player in players)


@MODEST
@given(games(1, 5))
def test_superadditivity_differs_from_its_definition(game):
    v = list(game.to_dict().values())
    pairs = [
        (s | t, s, t) for s in range(len(v)) for t in range(s, len(v)) if not s & t and v[s] + v[t] > v[s | t]
    ]
    answer = is_superadditive(game)
    assert bool(answer) == (not pairs)
    if pairs:
        union, s, t = min(pairs)
        assert tuple(map(mask, answer.violation)) == (s, t)
        assert answer.shortfall == v[s] + v[t] - v[union]


@MODEST
@given(games(1, 5))
def test_max_superadditivity_differs_from_its_definition(game):
    v = list(game.to_dict().values())
    full = range(1, len(v))
    violated = [(s, t) for s in full for t in full if not s & t and v[s | t] < max(v[s], v[t])]
    answer = is_max_superadditive(game)
    assert bool(answer) == (not violated)
    if violated:
        s, t = map(mask, answer.violation)
        assert s
        assert (s, t) in violated or (t, s) in violated
        assert answer.shortfall == v[s] - v[s | t]


@MODEST
@given(games(1, 5))
def test_monotonicity_differs_from_its_definition(game):
    v = list(game.to_dict().values())
    violated = [s for s in range(len(v)) for u in range(len(v)) if s & u == s and v[u] < v[s]]
    answer = is_monotone(game)
    assert bool(answer) == (not violated)
    if violated:
        s, t = map(mask, answer.violation)
        steps = [(m, 1 << i) for m in range(len(v)) for i in range(game.n) if not m >> i & 1]
        assert (s, t) == min(step for step in steps if v[step[0] | step[1]] < v[step[0]])


@MODEST
@given(games(1, 5))
def test_convexity_differs_from_its_definition(game):
    v = list(game.to_dict().values())
    violated = [(s, t) for s, t in combinations(range(len(v)), 2) if v[s | t] + v[s & t] < v[s] + v[t]]
    answer = is_convex(game)
    assert bool(answer) == (not violated)
    if violated:
        s, t = map(mask, answer.violation)
        assert (min(s, t), max(s, t)) in violated
        assert answer.shortfall == v[s] + v[t] - v[s | t] - v[s & t]


@MODEST
@given(additive_games())
def test_additive_game_is_not_convex(game):
    assert is_convex(game)
    assert is_superadditive(game)


@MODEST
@given(superadditive_games())
def test_superadditive_strategy_makes_another_game(game):
    assert is_superadditive(game)


@MODEST
@given(simple_games())
def test_simple_strategy_makes_another_game(game):
    assert is_monotone(game)
    assert set(game.to_dict().values()) <= {0, 1}
    assert game.table()[-1] == 1


def test_worth_of_the_empty_coalition_is_counted_twice():
    """Additive but for v(empty) = 5: two disjoint coalitions both hold the 5."""
    assert is_superadditive([5, 6, 7, 8])
    assert is_max_superadditive([5, 1, 1, 1])
    assert not is_monotone([5, 1, 1, 1])


@pytest.mark.parametrize("n", [9, 10])
def test_pair_in_the_outer_part_of_a_large_game_is_missed(n):
    """More players than the vectorised part of the check takes at once."""
    size = np.array([bin(m).count("1") for m in range(2**n)], dtype=float)
    table = size**2
    assert is_superadditive(table)
    assert is_convex(table)
    union, part = (1 << n) - 1 - 0b110, 1 << (n - 1) | 1
    table[union] = table[part] + table[union ^ part] - 0.5
    answer = is_superadditive(table)
    brute = [s for s in range(1, union) if s & union == s and table[s] + table[union ^ s] > table[union]]
    assert tuple(map(mask, answer.violation)) == (min(brute), union ^ min(brute))


def test_rounding_is_a_violation():
    thirds = np.array([0.1, 0.2, 0.3])
    table = [sum(thirds[i] for i in range(3) if m >> i & 1) for m in range(8)]
    assert is_convex(table)
    assert is_superadditive(table)
    assert not is_superadditive([0, 1, 1, 1.9])
    assert is_superadditive([0, 1, 1, 1.9], tolerance=0.2)


def test_violation_without_names():
    answer = is_monotone(Game([0, 1, 1, 0], names=["ann", "bob"]))
    assert answer.violation == (("ann",), ("bob",))
    assert not answer.holds


@pytest.mark.parametrize("check", CHECKS)
def test_wrong_argument_is_accepted(check):
    with pytest.raises(ValueError, match=r"take game.mean\(\)"):
        check(np.zeros((2, 4)))
    for bad in (-1.0, float("nan"), True, "0"):
        with pytest.raises(ValueError, match="tolerance must be a finite number >= 0"):
            check([0, 1], tolerance=bad)
