"""What the game strategies promise, and that failing examples shrink to something readable."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from pytest_swapgate.games import Game, is_monotone, is_superadditive
from pytest_swapgate.strategies import (
    PairedTable,
    additive_games,
    float_games,
    games,
    games_with_graphs,
    games_with_null_player,
    games_with_symmetric_players,
    games_with_unions,
    graphs,
    paired_outcomes,
    paired_tables,
    simple_games,
    superadditive_games,
    unions,
)

MODEST = settings(deadline=None, max_examples=50)
MAKERS = [games, float_games, superadditive_games, simple_games, additive_games]


@pytest.mark.parametrize("maker", MAKERS)
def test_number_of_players_leaves_its_limits(maker):
    @MODEST
    @given(maker(2, 4))
    def check(game):
        assert isinstance(game, Game)
        assert 2 <= game.n <= 4

    check()


@MODEST
@given(superadditive_games(), simple_games(), additive_games())
def test_structure_is_not_there(superadditive, simple, additive):
    assert is_superadditive(superadditive)
    assert is_monotone(simple)
    assert simple.table()[-1] == 1
    worths = additive.to_dict()
    assert all(worth == sum(worths[player,] for player in players) for players, worth in worths.items())


@MODEST
@given(games_with_null_player(), games_with_symmetric_players())
def test_special_player_is_not_special(null, symmetric):
    game, nobody = null
    v = list(game.to_dict().values())
    assert all(v[m | 1 << nobody] == v[m & ~(1 << nobody)] for m in range(len(v)))
    game, i, j = symmetric
    v = list(game.to_dict().values())
    rest = [m for m in range(len(v)) if not m >> i & 1 and not m >> j & 1]
    assert i != j
    assert all(v[m | 1 << i] == v[m | 1 << j] for m in rest)


@MODEST
@given(games_with_unions(1, 6), games_with_graphs(1, 6), games_with_graphs(2, 6, connected=True))
def test_structure_does_not_fit_the_game(with_unions, with_graph, with_connected):
    game, parts = with_unions
    assert sorted(player for part in parts for player in part) == list(range(game.n))
    assert all(parts)
    game, edges = with_graph
    assert all(0 <= i < j < game.n for i, j in edges)
    assert len(set(edges)) == len(edges)
    game, edges = with_connected
    reached = {0}
    for _ in range(game.n):
        reached |= {p for edge in edges for p in edge if reached & set(edge)}
    assert reached == set(range(game.n))


@MODEST
@given(paired_tables(3, 40), paired_outcomes(2, 9))
def test_pairs_leave_their_limits(table, outcomes):
    assert 3 <= table.pairs == table.both + table.harm + table.benefit + table.neither <= 40
    assert min(table) >= 0
    assert 2 <= len(outcomes) <= 9
    assert {value for pair in outcomes for value in pair} <= {0, 1}


@pytest.mark.parametrize(
    ("strategy", "fails", "smallest"),
    [
        (games(), lambda g: True, "Game([0, 0])"),
        (games(), lambda g: g.n >= 2 and g.table()[3] < g.table()[1] + g.table()[2], "Game([0, 0, 0, -1])"),
        (games(empty=st.integers(-9, 9)), lambda g: g.table()[0] != 0, "Game([1, 0])"),
        (superadditive_games(), lambda g: g.n == 3 and g.table()[-1] > 0, None),
        (simple_games(3, 3), lambda g: True, "Game([0, 0, 0, 0, 0, 0, 0, 1])"),
        (additive_games(), lambda g: g.table()[-1] >= 5, "Game([0, 5])"),
        (unions(4), lambda parts: True, "((0, 1, 2, 3),)"),
        (unions(3), lambda parts: len(parts) == 3, "((0,), (1,), (2,))"),
        (graphs(4), lambda edges: True, "()"),
        (graphs(4, connected=True), lambda edges: True, "((0, 1), (0, 2), (0, 3))"),
        (graphs(1), lambda edges: True, "()"),
        (graphs(1, connected=True), lambda edges: True, "()"),
        (paired_tables(), lambda table: True, "PairedTable(both=1, harm=0, benefit=0, neither=0)"),
        (
            paired_tables(),
            lambda table: table.harm > table.benefit + 2,
            "PairedTable(both=0, harm=3, benefit=0, neither=0)",
        ),
        (games_with_null_player(), lambda case: True, "(Game([0, 0, 0, 0]), 0)"),
        (games_with_symmetric_players(), lambda case: True, "(Game([0, 0, 0, 0]), 0, 1)"),
    ],
)
def test_failing_example_shrinks_badly(strategy, fails, smallest):
    found = find(strategy, fails, settings=settings(deadline=None, database=None, derandomize=True))
    if smallest is None:
        assert sum(abs(worth) for worth in found.to_dict().values()) <= 3
    else:
        assert repr(found) == smallest


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: games(0), "limits of players must be from 1 to 22, got 0"),
        (lambda: games(1, 23), "got 23"),
        (lambda: games(3, 2), "in order, got 3 > 2"),
        (lambda: games(True), "whole numbers, got True"),
        (lambda: graphs(0), "limits of n must be >= 1, got 0"),
        (lambda: paired_outcomes(-1), "limits of pairs must be >= 0, got -1"),
        (lambda: games_with_unions(1.0, 2), "whole numbers, got 1.0"),
        (lambda: games_with_graphs(4, 3), "in order"),
        (lambda: find(unions(0), bool), "limits of n must be >= 1"),
        (lambda: find(superadditive_games(5, 4), bool), "in order"),
        (lambda: find(simple_games(0), bool), "from 1 to 22"),
        (lambda: find(additive_games(1, 30), bool), "from 1 to 22"),
        (lambda: find(games_with_null_player(0), bool), "from 1 to 22"),
        (lambda: find(games_with_symmetric_players(1), bool), "from 2 to 22"),
        (lambda: find(paired_tables(2, 1), bool), "in order"),
    ],
)
def test_wrong_limits_are_accepted(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_paired_table_adds_up_wrongly():
    assert PairedTable(1, 2, 3, 4).pairs == 10
