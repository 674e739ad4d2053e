"""Estimates under a budget, and where replicates go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.games import (
    Game,
    allocate_replicates,
    coalitions_read,
    influence,
    leave_one_out,
    myerson,
    owen,
    permutation_shapley,
    regression_budget,
    regression_shapley,
    shapley,
)
from pytest_swapgate.games.permutations import two_way_variance
from pytest_swapgate.strategies import additive_games, games, graphs, unions

MODEST = settings(deadline=None, max_examples=40)


def counting(n: int, tasks: int | None = None):
    calls: list[tuple[int, ...]] = []
    table = np.random.default_rng(n).normal(size=(tasks or 1, 2**n))

    def worth(coalition):
        calls.append(coalition)
        column = table[:, sum(1 << player for player in coalition)].tolist()
        return column if tasks else column[0]

    return Game.from_callable(worth, n, tasks=tasks), calls, table if tasks else table[0]


# permutations


@MODEST
@given(games(1, 6, empty=st.integers(-9, 9)), st.integers(2, 5), st.integers(0, 99))
def test_permutation_estimate_is_inefficient(game, pairs, seed):
    result = permutation_shapley(game, rng=np.random.default_rng(seed), pairs=pairs)
    assert result.values.sum() == pytest.approx(game.table()[-1] - game.table()[0], abs=1e-9)
    assert result.pairs == pairs
    assert result.df == pairs - 1


@MODEST
@given(additive_games(), st.integers(0, 99))
def test_permutation_estimate_of_an_additive_game_has_an_error(game, seed):
    result = permutation_shapley(game, rng=np.random.default_rng(seed), pairs=2)
    assert result.values == pytest.approx(shapley(game), abs=1e-12)
    assert result.standard_errors.max() < 1e-12


def test_permutation_estimate_misses_the_value():
    _, _, table = counting(6)
    results = [permutation_shapley(table, rng=np.random.default_rng(s), pairs=16) for s in range(200)]
    found = np.mean([r.values for r in results], axis=0)
    error = np.std([r.values for r in results], axis=0) / np.sqrt(200)
    assert (np.abs(found - shapley(table)) < 4 * error).all()
    typical = np.mean([r.standard_errors**2 for r in results], axis=0)
    assert typical == pytest.approx(np.var([r.values for r in results], axis=0), rel=0.35)


def test_reverse_permutation_is_not_the_other_half():
    """Two players: one pair holds both orders, so every pair gives the value itself."""
    result = permutation_shapley([0.5, 1.0, 3.0, 7.0], rng=np.random.default_rng(0), pairs=3)
    assert result.values == pytest.approx([2.25, 4.25], abs=1e-12)
    assert result.standard_errors == pytest.approx([0.0, 0.0], abs=1e-12)
    assert result.coalitions == 4


@pytest.mark.parametrize(("n", "budget"), [(1, 2), (2, 4), (2, 6), (5, 18), (5, 31), (10, 38), (10, 200)])
def test_permutation_budget_is_overspent(n, budget):
    game, calls, _ = counting(n)
    result = permutation_shapley(game, rng=np.random.default_rng(1), budget=budget)
    assert len(calls) == result.coalitions <= budget
    assert len(set(calls)) == len(calls)


def test_permutation_estimate_by_task_is_another_than_at_once():
    game, calls, table = counting(4, tasks=3)
    result = permutation_shapley(game, rng=np.random.default_rng(5), pairs=8)
    assert result.per_task.shape == (3, 4)
    assert result.values == pytest.approx(result.per_task.mean(axis=0))
    assert result.df == 2
    for task in range(3):
        alone = permutation_shapley(table[task], rng=np.random.default_rng(5), pairs=8)
        assert alone.values == pytest.approx(result.per_task[task], abs=1e-12)
    assert len(calls) == result.coalitions
    for value, error, interval in zip(result.values, result.standard_errors, result.intervals, strict=True):
        assert (interval.low, interval.high) == pytest.approx(
            (value - 4.302652729749464 * error, value + 4.302652729749464 * error)
        )


def test_two_way_variance_of_known_components():
    """Only tasks differ: the variance is that of task means; only pairs: that of pair means; never below either."""
    tasks = np.array([0.0, 1.0, 5.0])
    only_tasks = np.broadcast_to(tasks[None, :, None], (4, 3, 1))
    assert two_way_variance(only_tasks)[0] == pytest.approx(tasks.var(ddof=1) / 3)
    only_pairs = np.swapaxes(only_tasks, 0, 1)
    assert two_way_variance(only_pairs)[0] == pytest.approx(tasks.var(ddof=1) / 3)
    rng = np.random.default_rng(3)
    array = rng.normal(size=(6, 5, 2)) + rng.normal(size=(6, 1, 2)) + 2 * rng.normal(size=(1, 5, 2))
    variance, df = two_way_variance(array)
    assert df == 4
    grand = array.mean(axis=(0, 1))
    rest = array - array.mean(axis=0)[None] - array.mean(axis=1)[:, None] + grand
    expected = (
        array.mean(axis=1).var(axis=0, ddof=1) / 6
        + array.mean(axis=0).var(axis=0, ddof=1) / 5
        - (rest**2).sum(axis=(0, 1)) / (5 * 4 * 6 * 5)
    )
    assert variance == pytest.approx(expected)
    assert (two_way_variance(rng.normal(size=(3, 3, 200)))[0] > 0).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"pairs": 1}, "pairs must be a whole number >= 2, got 1"),
        ({"pairs": 2, "budget": 40}, "budget must be None where pairs are given"),
        ({"budget": 13}, "budget must be a whole number >= 14, got 13"),
        ({"budget": 14.0}, "got 14.0"),
        ({"level": 0}, "level must be"),
        ({"rng": 3}, "rng must be a numpy.random.Generator, got 3"),
    ],
)
def test_wrong_argument_of_permutations_is_accepted(arguments, says):
    with pytest.raises(ValueError, match=says):
        permutation_shapley(np.zeros(16), **{"rng": np.random.default_rng(0), **arguments})


# regression


@MODEST
@given(st.integers(1, 8), st.data(), st.integers(0, 99))
def test_regression_repeats_a_coalition_or_leaves_its_budget(n, data, seed):
    budget = data.draw(st.integers(regression_budget(n), 2**n + 3))
    game, calls, table = counting(n)
    result = regression_shapley(game, budget=budget, rng=np.random.default_rng(seed))
    assert len(calls) == len(set(calls)) == result.coalitions.size
    assert sorted(game.mask(s) for s in calls) == result.coalitions.tolist()
    assert budget - 1 <= len(calls) <= budget or len(calls) == 2**n
    assert result.values.sum() == pytest.approx(table[-1] - table[0], abs=1e-9)
    complements = (2**n - 1 - result.coalitions)[::-1]
    assert complements.tolist() == result.coalitions.tolist()


@MODEST
@given(games(1, 6, empty=st.integers(-9, 9)))
def test_regression_with_all_coalitions_is_inexact(game):
    result = regression_shapley(game, budget=2**game.n, rng=np.random.default_rng(0))
    assert result.values == pytest.approx(shapley(game), abs=1e-12)


@pytest.mark.parametrize("n", range(2, 9))
def test_regression_just_below_all_coalitions_is_far_off(n):
    """One pair short of everything: the fit is no longer the exact road, and nearly the same value."""
    _, _, table = counting(n)
    if 2**n - 2 >= regression_budget(n):
        result = regression_shapley(table, budget=2**n - 2, rng=np.random.default_rng(0))
        assert np.abs(result.values - shapley(table)).max() < 0.5 * np.abs(shapley(table)).max()


@pytest.mark.parametrize("n", [3, 5, 8, 12])
def test_least_budget_leaves_the_fit_singular(n):
    """Additive and pairwise games are fitted without error from any set of pairs that determines the fit."""
    rng = np.random.default_rng(n)
    bits = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
    pairwise = np.einsum("si,ij,sj->s", bits, rng.normal(size=(n, n)), bits) + 3.0
    for seed in range(5):
        result = regression_shapley(pairwise, budget=regression_budget(n), rng=np.random.default_rng(seed))
        assert result.values == pytest.approx(shapley(pairwise), abs=1e-9)


def test_regression_misses_the_value_on_average():
    _, _, table = counting(7)
    found = np.array(
        [regression_shapley(table, budget=64, rng=np.random.default_rng(s)).values for s in range(300)]
    )
    error = found.std(axis=0) / np.sqrt(300)
    assert (np.abs(found.mean(axis=0) - shapley(table)) < 5 * error).all()


def test_regression_by_task_is_another_than_at_once():
    game, calls, table = counting(6, tasks=3)
    result = regression_shapley(game, budget=30, rng=np.random.default_rng(2))
    assert result.per_task.shape == (3, 6)
    assert len(calls) == 30
    for task in range(3):
        alone = regression_shapley(table[task], budget=30, rng=np.random.default_rng(2))
        assert alone.values == pytest.approx(result.per_task[task], abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"budget": 11}, "budget must be a whole number >= 12, got 11"),
        ({"budget": True}, "got True"),
        ({"rng": None}, "rng must be a numpy.random.Generator"),
    ],
)
def test_wrong_argument_of_the_regression_is_accepted(arguments, says):
    with pytest.raises(ValueError, match=says):
        regression_shapley(np.zeros(32), **{"budget": 20, "rng": np.random.default_rng(0), **arguments})


# replicates


@MODEST
@given(st.integers(1, 5), st.data(), st.booleans())
def test_influence_differs_from_the_squared_weights(n, data, intervened):
    """Weights are read off by unit games: the value is linear in each worth."""
    parts, edges = data.draw(unions(n)), data.draw(graphs(n))
    units = np.eye(2**n)
    for method, weights, structure in (
        ("leave_one_out", leave_one_out(units, intervened=intervened), {"intervened": intervened}),
        ("shapley", shapley(units), {}),
        ("owen", owen(units, parts), {"unions": parts}),
        ("myerson", myerson(units, edges), {"edges": edges}),
    ):
        masks, found = influence(method, n, **structure)
        assert masks.tolist() == coalitions_read(method, n, empty_known=False, **structure).tolist()
        assert found == pytest.approx((weights[masks] ** 2).sum(axis=1), abs=1e-12)


def test_variance_sits_in_the_ends():
    """Empty coalition, singletons, all but one, all: most of the variance (package statistics, section 9)."""
    shares = []
    for n in range(4, 13):
        masks, weights = influence("shapley", n)
        size = np.array([bin(m).count("1") for m in masks.tolist()])
        ends = np.isin(size, (0, 1, n - 1, n))
        shares.append(float(weights[ends].sum() / weights.sum()))
    assert min(shares) > 0.83
    assert min(abs(share - 0.86) for share in shares) < 0.01


@MODEST
@given(st.integers(1, 3), st.integers(0, 12), st.data())
def test_allocation_is_not_the_best_of_all(n, extra, data):
    sds = data.draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=2**n, max_size=2**n))
    budget = 2**n + extra
    result = allocate_replicates("shapley", n, budget, sd=sds)
    assert result.counts.sum() == budget
    assert result.counts.min() >= 1
    parts = influence("shapley", n)[1] * np.square(sds)
    greedy = np.ones(2**n, dtype=int)
    for _ in range(extra):
        greedy[np.argmax(parts / (greedy * (greedy + 1)))] += 1
    assert result.variance == pytest.approx(float((parts / greedy).sum()), abs=1e-12)


def test_money_goes_where_no_variance_is():
    result = allocate_replicates("shapley", 6, 640)
    by_mask = dict(zip(result.coalitions.tolist(), result.counts.tolist(), strict=True))
    assert by_mask[0] == by_mask[63] > by_mask[1] >= by_mask[0b111] >= 1
    flat = float((influence("shapley", 6)[1] / 10).sum())
    assert result.variance < 0.6 * flat


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"budget": 7}, "budget must be a whole number >= 8, got 7"),
        ({"budget": 9, "sd": [1.0]}, "sd must be one number >= 0 for each of 8 coalitions"),
        ({"budget": 9, "sd": [-1.0] * 8}, "sd must be one number >= 0"),
        ({"budget": 9, "sd": [float("nan")] * 8}, "sd must be"),
        ({"budget": 9, "method": "core"}, "method must be"),
    ],
)
def test_wrong_argument_of_an_allocation_is_accepted(arguments, says):
    with pytest.raises(ValueError, match=says):
        allocate_replicates(**{"method": "shapley", "n": 3, **arguments})
