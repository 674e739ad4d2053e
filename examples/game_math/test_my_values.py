"""Property tests of one's own game math: draw games, state axioms, let hypothesis shrink what breaks them.

pytest examples/game_math
"""

from __future__ import annotations

import pytest
from hypothesis import find, given
from hypothesis import strategies as st
from my_values import shapley, shapley_with_a_bug

from pytest_swapgate.games import Game
from pytest_swapgate.games import shapley as reference
from pytest_swapgate.strategies import (
    additive_games,
    games,
    games_with_null_player,
    games_with_symmetric_players,
)

ANY = games(max_players=4, empty=st.integers(-9, 9))


def is_efficient(value, game: Game) -> bool:
    worths = game.to_dict()
    everybody = max(worths, key=len)
    return sum(value(worths).values()) == worths[everybody] - worths[()]


@given(ANY)
def test_efficiency(game):
    assert is_efficient(shapley, game)


@given(games_with_null_player(max_players=4))
def test_null_player(case):
    game, nobody = case
    assert shapley(game.to_dict())[nobody] == 0


@given(games_with_symmetric_players(max_players=4))
def test_symmetry(case):
    game, one, other = case
    value = shapley(game.to_dict())
    assert value[one] == value[other]


@given(additive_games(max_players=4))
def test_additive_games(game):
    worths = game.to_dict()
    assert all(share == worths[player,] for player, share in shapley(worths).items())


@given(ANY)
def test_against_the_package(game):
    assert list(shapley(game.to_dict()).values()) == reference(game, exact=True).tolist()


def test_the_bug_passes_on_a_textbook_game():
    assert is_efficient(shapley_with_a_bug, Game([0, 0, 0, 1, 0, 1, 0, 1]))


def test_the_bug_is_found_and_shrinks_to_one_player():
    smallest = find(ANY, lambda game: not is_efficient(shapley_with_a_bug, game))
    assert repr(smallest) == "Game([1, 0])"


def test_the_bug_fails_as_a_property_test():
    @given(ANY)
    def efficiency(game):
        assert is_efficient(shapley_with_a_bug, game)

    with pytest.raises(AssertionError):
        efficiency()
