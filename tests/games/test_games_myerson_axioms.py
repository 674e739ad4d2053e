"""The Myerson value's axioms by name, exactly; and one that it does not have."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from games_oracles import components, myerson_by_orders
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.games import Game, myerson, myerson_value, shapley
from pytest_swapgate.games.graphs import _scan, connected_coalitions
from pytest_swapgate.strategies import additive_games, games_with_graphs, graphs

MODEST = settings(deadline=None, max_examples=40)
CASES = games_with_graphs(1, 5, worths=st.integers(-9, 9))


def exact(game: Game, edges) -> list[Fraction]:
    return myerson(game, edges, exact=True).tolist()


def worths(game: Game) -> list[int]:
    return list(game.to_dict().values())


@MODEST
@given(CASES)
def test_definition_by_the_restricted_game(case):
    game, edges = case
    assert exact(game, edges) == myerson_by_orders(worths(game), edges)


@MODEST
@given(CASES)
def test_component_efficiency(case):
    game, edges = case
    v, values = worths(game), exact(game, edges)
    for part in components((1 << game.n) - 1, edges):
        assert sum(values[i] for i in range(game.n) if part >> i & 1) == v[part] - v[0]


@MODEST
@given(CASES, st.data())
def test_fairness(case, data):
    """Both ends of a link gain the same from it."""
    game, edges = case
    if not edges:
        return
    link = data.draw(st.sampled_from(edges))
    before, after = exact(game, [e for e in edges if e != link]), exact(game, edges)
    i, j = link
    assert after[i] - before[i] == after[j] - before[j]


@MODEST
@given(CASES)
def test_complete_graph_gives_shapley(case):
    game, _ = case
    everything = list(combinations(range(game.n), 2))
    assert exact(game, everything) == shapley(game, exact=True).tolist()


@MODEST
@given(CASES)
def test_empty_graph_gives_own_worth(case):
    game, _ = case
    v = worths(game)
    assert exact(game, []) == [v[1 << i] - v[0] for i in range(game.n)]


def test_null_player_axiom_does_not_hold():
    """The middle of a path adds nothing to any coalition, and is paid for connecting the ends."""
    together = Game([int(mask & 0b101 == 0b101) for mask in range(8)])
    assert shapley(together, exact=True).tolist() == [Fraction(1, 2), 0, Fraction(1, 2)]
    assert exact(together, [(0, 1), (1, 2)]) == [Fraction(1, 3)] * 3


@MODEST
@given(additive_games(), st.data())
def test_additive_game_gives_weights_on_any_graph(game, data):
    weights = [worth for players, worth in game.to_dict().items() if len(players) == 1]
    assert exact(game, data.draw(graphs(game.n))) == weights


@MODEST
@given(games_with_graphs(1, 5, worths=st.floats(-1, 1)), st.floats(-10, 10))
def test_floats_differ_from_the_definition(case, shift):
    game, edges = case
    table = game.table() + shift
    expected = np.array(myerson_by_orders([Fraction(x) for x in table.tolist()], edges), dtype=float)
    assert np.abs(myerson(table, edges) - expected).max() <= 1e-12 * (1 + abs(shift))


@MODEST
@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), graphs(n))))
def test_connected_coalitions_are_those_with_one_component(case):
    n, edges = case
    neighbours = [0] * n
    for i, j in edges:
        neighbours[i] |= 1 << j
        neighbours[j] |= 1 << i
    expected = [mask for mask in range(1, 1 << n) if len(components(mask, edges)) == 1]
    assert connected_coalitions(tuple(neighbours)).tolist() == expected
    assert _scan(tuple(neighbours)).tolist() == expected


@pytest.mark.parametrize("edges", [[(0, i) for i in range(1, 11)], [(i, (i + 1) % 11) for i in range(11)]])
def test_many_connected_coalitions_take_another_road_to_the_same_value(edges, monkeypatch):
    array = np.random.default_rng(8).normal(size=(2, 2**11))
    by_plan = myerson(array, edges)
    monkeypatch.setattr(myerson_value, "_PLAN_ENTRIES", 0)
    assert np.abs(myerson(array, edges) - by_plan).max() <= 1e-13
    assert np.abs(myerson(array[1], edges) - by_plan[1]).max() <= 1e-13
    whole = Game(np.arange(2**11) % 7)
    assert np.abs(myerson(whole, edges) - myerson(whole, edges, exact=True).astype(float)).max() <= 1e-12


def test_connected_coalitions_of_a_large_star_are_lost():
    """More of them than growing one neighbour at a time is for."""
    star = tuple([(1 << 17) - 2] + [1] * 16)
    found = connected_coalitions(star)
    assert found.size == 2**16 + 16
    assert (np.diff(found) > 0).all()
    assert ((found & 1 == 1) | (found & (found - 1) == 0)).all()


def test_edges_by_name_and_in_any_direction():
    game = Game([0, 0, 0, 12, 0, 6, 6, 12], names=["ann", "bob", "cat"])
    assert exact(game, [("bob", "ann"), ("ann", "bob"), ("cat", "ann")]) == [7, 4, 1]


@pytest.mark.parametrize(
    ("edges", "says"),
    [
        ([(1, 1)], "no self-loop"),
        ([(0, 3)], "a player from 0 to 2, got 3"),
        ([(0, -1)], "got -1"),
        ([(False, 1)], "got False"),
        ([(0, 1, 2)], "a pair of players"),
        ([0], "a pair of players, got 0"),
        (["01"], "a player from 0 to 2, got '0'"),
        (None, "got None"),
        (3, "got 3"),
    ],
)
def test_wrong_edges_are_accepted(edges, says):
    with pytest.raises(ValueError, match=says):
        myerson([0, 1, 2, 3, 4, 5, 6, 7], edges)
