"""The Owen value's axioms by name, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from games_oracles import owen_by_orders
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.games import Game, owen, owen_value, shapley
from pytest_swapgate.strategies import additive_games, games_with_null_player, games_with_unions, unions

MODEST = settings(deadline=None, max_examples=40)
CASES = games_with_unions(1, 5, worths=st.integers(-9, 9))


def exact(game: Game, parts) -> list[Fraction]:
    return owen(game, parts, exact=True).tolist()


def worths(game: Game) -> list[int]:
    return list(game.to_dict().values())


@MODEST
@given(CASES)
def test_definition_over_orders_that_keep_unions_together(case):
    game, parts = case
    assert exact(game, parts) == owen_by_orders(worths(game), parts)


@MODEST
@given(CASES)
def test_efficiency(case):
    game, parts = case
    assert sum(exact(game, parts)) == worths(game)[-1] - worths(game)[0]


@MODEST
@given(CASES)
def test_quotient_game(case):
    """A union's members together get the Shapley value of the union in the game between unions."""
    game, parts = case
    v = worths(game)
    masks = [sum(1 << player for player in part) for part in parts]
    between = [
        v[sum(mask for k, mask in enumerate(masks) if chosen >> k & 1)] for chosen in range(1 << len(parts))
    ]
    values = exact(game, parts)
    totals = [sum(values[player] for player in part) for part in parts]
    assert totals == shapley(Game(between), exact=True).tolist()


@MODEST
@given(CASES, st.data())
def test_symmetry_inside_a_union(case, data):
    game, parts = case
    large = [part for part in parts if len(part) > 1]
    if not large:
        return
    part = data.draw(st.sampled_from(large))
    i, j = data.draw(st.permutations(part))[:2]
    both = 1 << i | 1 << j
    v = worths(game)
    alike = Game([v[m ^ both if m & both == 1 << j else m] for m in range(len(v))])
    values = exact(alike, parts)
    assert values[i] == values[j]


@MODEST
@given(games_with_null_player(), st.data())
def test_null_player(case, data):
    game, player = case
    assert exact(game, data.draw(unions(game.n)))[player] == 0


@MODEST
@given(CASES)
def test_singletons_give_shapley(case):
    game, _ = case
    assert exact(game, [[i] for i in range(game.n)]) == shapley(game, exact=True).tolist()


@MODEST
@given(CASES)
def test_one_union_gives_shapley(case):
    game, _ = case
    assert exact(game, [range(game.n)]) == shapley(game, exact=True).tolist()


@MODEST
@given(additive_games(), st.data())
def test_additive_game_gives_weights(game, data):
    weights = [worth for players, worth in game.to_dict().items() if len(players) == 1]
    assert exact(game, data.draw(unions(game.n))) == weights


@MODEST
@given(games_with_unions(1, 5, worths=st.floats(-1, 1)), st.floats(-10, 10))
def test_floats_differ_from_the_definition(case, shift):
    game, parts = case
    table = game.table() + shift
    expected = np.array(owen_by_orders([Fraction(x) for x in table.tolist()], parts), dtype=float)
    assert np.abs(owen(table, parts) - expected).max() <= 1e-12 * (1 + abs(shift))


@pytest.mark.parametrize("sizes", [[9, 1, 1], [1, 10], [4, 4, 4], [12], [1] * 12])
def test_large_unions_take_another_road_to_the_same_value(sizes, monkeypatch):
    players = iter(np.random.default_rng(3).permutation(sum(sizes)).tolist())
    parts = [[next(players) for _ in range(size)] for size in sizes]
    array = np.random.default_rng(4).normal(size=(3, 2 ** sum(sizes)))
    by_plan = owen(array, parts)
    owen_value._known.cache_clear()
    monkeypatch.setattr(owen_value, "_PLAN_ENTRIES", 0)
    by_unions = owen(array, parts)
    owen_value._known.cache_clear()
    assert np.abs(by_plan - by_unions).max() <= 1e-13
    assert np.abs(by_plan[0] - owen(array[0], parts)).max() <= 1e-13


def test_unions_by_name():
    game = Game([0, 0, 0, 80, 0, 100, 0, 100], names=["ann", "bob", "cat"])
    assert owen(game, [["ann", "bob"], ["cat"]], exact=True).tolist() == [70, 20, 10]


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([[0, 1], [1, 2]], "player 1 is there twice"),
        ([[0, 1]], r"without a union: \[2\]"),
        ([[0, 1, 2], []], "no union empty"),
        ([[0, 1], [3]], "a player from 0 to 2, got 3"),
        ([[0, True], [2]], "got True"),
        ([[0, 1.0], [2]], "got 1.0"),
        ([0, 1, 2], "a collection of players, not 0"),
        (["01", "2"], "not '01'"),
        ("012", "a partition of the players 0 to 2, got '012'"),
        (None, "got None"),
        ([], "without a union"),
    ],
)
def test_wrong_unions_are_accepted(parts, says):
    with pytest.raises(ValueError, match=says):
        owen([0, 1, 2, 3, 4, 5, 6, 7], parts)
