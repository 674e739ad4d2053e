"""Each axiom of the Shapley value by name, exactly, on random whole-number games with any v(empty)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from games_oracles import banzhaf_by_definition, shapley_by_orders, subgame
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.games import Game, banzhaf, leave_one_out, shapley
from pytest_swapgate.strategies import (
    additive_games,
    float_games,
    games,
    games_with_null_player,
    games_with_symmetric_players,
)

MODEST = settings(deadline=None, max_examples=40)
ANY = games(1, 5, empty=st.integers(-9, 9))
TWO_GAMES = st.integers(1, 5).flatmap(
    lambda n: st.tuples(*(games(n, n, empty=st.integers(-9, 9)) for _ in range(2)))
)


def exact(game: Game) -> list[Fraction]:
    return shapley(game, exact=True).tolist()


def worths(game: Game) -> list[int]:
    return list(game.to_dict().values())


@MODEST
@given(ANY)
def test_definition_over_orders_of_arrival(game):
    assert exact(game) == shapley_by_orders(worths(game))


@MODEST
@given(ANY)
def test_efficiency(game):
    v = worths(game)
    assert sum(exact(game)) == v[-1] - v[0]


@MODEST
@given(games_with_symmetric_players())
def test_symmetry(case):
    game, i, j = case
    values = exact(game)
    assert values[i] == values[j]


@MODEST
@given(games_with_null_player())
def test_null_player(case):
    game, player = case
    assert exact(game)[player] == 0


@MODEST
@given(TWO_GAMES, st.fractions(-3, 3, max_denominator=7), st.fractions(-3, 3, max_denominator=7))
def test_linearity(pair, a, b):
    v, w = (worths(game) for game in pair)
    mixed = Game([a * x + b * y for x, y in zip(v, w, strict=True)])
    assert exact(mixed) == [a * x + b * y for x, y in zip(exact(pair[0]), exact(pair[1]), strict=True)]


@MODEST
@given(ANY, st.data())
def test_carrier(game, data):
    """A carrier K holds everything: v(S) = v(S in K). Its members share v(K), others get nothing."""
    n = game.n
    carrier = data.draw(st.integers(1, 2**n - 1))
    v = worths(game)
    carried = [v[mask & carrier] for mask in range(1 << n)]
    values = exact(Game(carried))
    inside = [i for i in range(n) if carrier >> i & 1]
    assert sum(values[i] for i in inside) == carried[-1] - carried[0]
    assert all(values[i] == 0 for i in range(n) if i not in inside)
    assert [values[i] for i in inside] == exact(Game(subgame(v, inside)))


@MODEST
@given(ANY, st.data())
def test_strong_monotonicity(game, data):
    """If no marginal contribution of i falls, its value does not fall (Young 1985)."""
    n = game.n
    i = data.draw(st.integers(0, n - 1))
    v = worths(game)
    other = games(n, n, empty=st.integers(-9, 9))
    base = worths(data.draw(other))
    rise = data.draw(st.lists(st.integers(0, 5), min_size=1 << n, max_size=1 << n))
    w = list(base)
    for mask in range(1 << n):
        if mask >> i & 1:
            w[mask] = base[mask ^ 1 << i] + v[mask] - v[mask ^ 1 << i] + rise[mask]
    assert exact(Game(w))[i] >= exact(game)[i]


@MODEST
@given(games(2, 5, empty=st.integers(-9, 9)), st.data())
def test_balanced_contributions(game, data):
    """What i loses when j leaves is what j loses when i leaves (Myerson 1980)."""
    n = game.n
    i, j = data.draw(st.permutations(range(n)))[:2]
    v = worths(game)

    def without(gone: int, player: int) -> Fraction:
        keep = [p for p in range(n) if p != gone]
        return exact(Game(subgame(v, keep)))[keep.index(player)]

    values = exact(game)
    assert values[i] - without(j, i) == values[j] - without(i, j)


@MODEST
@given(ANY)
def test_self_duality(game):
    """The dual game u(S) = v(N) + v(empty) - v(N minus S) has the same value; interventions change its sign."""
    v = worths(game)
    dual = Game([v[-1] + v[0] - x for x in reversed(v)])
    assert exact(dual) == exact(game)
    assert exact(game.complement()) == [-x for x in exact(game)]
    assert banzhaf(game.complement(), exact=True).tolist() == [-x for x in banzhaf(game, exact=True).tolist()]


@MODEST
@given(ANY)
def test_banzhaf_definition(game):
    assert banzhaf(game, exact=True).tolist() == banzhaf_by_definition(worths(game))


@MODEST
@given(additive_games(), st.integers(-5, 5))
def test_every_player_of_an_additive_game_gets_its_weight(game, empty):
    weights = [worth for players, worth in game.to_dict().items() if len(players) == 1]
    shifted = Game([x + empty for x in worths(game)])
    for value in (shapley, banzhaf, leave_one_out):
        assert value(shifted, exact=True).tolist() == weights
    assert leave_one_out(shifted, exact=True, intervened=True).tolist() == weights


@MODEST
@given(ANY)
def test_leave_one_out_conventions_mirror_each_other(game):
    """Removing i from everybody is intervening on i alone, with the opposite sign."""
    mirrored = leave_one_out(game.complement(), intervened=True, exact=True).tolist()
    assert leave_one_out(game, exact=True).tolist() == [-x for x in mirrored]


@MODEST
@given(float_games(), st.floats(-100, 100))
def test_floats_are_efficient_whatever_the_empty_coalition_is_worth(game, shift):
    table = game.table() + shift
    values = shapley(table)
    assert abs(values.sum() - (table[-1] - table[0])) <= 1e-12 * (1 + abs(shift))
    assert np.abs(values - shapley(game)).max() <= 1e-12 * (1 + abs(shift))


@MODEST
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_tasks_at_once_differ_from_tasks_one_by_one(n, tasks, seed):
    array = np.random.default_rng(seed).normal(size=(tasks, 2**n))
    for value in (shapley, banzhaf, leave_one_out):
        together = value(array)
        assert together.shape == (tasks, n)
        assert np.abs(together - [value(row) for row in array]).max() <= 1e-12
        assert np.abs(together.mean(axis=0) - value(Game(array).mean())).max() <= 1e-12
