"""coopgame-py as oracle on random games, v(empty) = 0 as it takes it."""

from __future__ import annotations

import coopgame
import numpy as np
import pytest

from pytest_swapgate.games import (
    Game,
    banzhaf,
    is_convex,
    is_superadditive,
    leave_one_out,
    myerson,
    owen,
    shapley,
)


def differ(ours, theirs) -> float:
    return float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())


@pytest.mark.parametrize("n", range(1, 13))
def test_value_differs_from_coopgame(n):
    rng = np.random.default_rng(n)
    for _ in range(4):
        table = rng.uniform(-1, 1, size=2**n)
        table[0] = 0.0
        theirs = coopgame.Game(table[1:].tolist())
        label = rng.integers(0, max(1, n // 2) + 1, size=n)
        unions = [np.flatnonzero(label == k).tolist() for k in np.unique(label)]
        edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.4]
        assert differ(shapley(table), coopgame.shapley(theirs)) <= 1e-12
        assert differ(banzhaf(table), coopgame.banzhaf(theirs)) <= 1e-12
        assert differ(owen(table, unions), coopgame.owen(theirs, unions)) <= 1e-12
        assert differ(myerson(table, edges), coopgame.myerson(theirs, edges)) <= 1e-12
        everybody = 2**n - 1
        assert differ(leave_one_out(table), [table[-1] - table[everybody ^ 1 << i] for i in range(n)]) == 0


@pytest.mark.parametrize("n", range(1, 9))
def test_answer_differs_from_coopgame(n):
    rng = np.random.default_rng(100 + n)
    for kind in range(6):
        size = np.array([bin(m).count("1") for m in range(2**n)])
        table = rng.integers(0, 3, size=2**n) + [0, 1, 4][kind % 3] * size**2
        table[0] = 0
        theirs = coopgame.Game(table[1:].tolist())
        assert bool(is_superadditive(Game(table))) == theirs.is_superadditive()
        assert bool(is_convex(Game(table))) == theirs.is_convex()
