"""The price of a method: the number of coalitions it says it needs is the number it asks for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.games import (
    Game,
    banzhaf,
    coalitions_needed,
    coalitions_read,
    coalitions_to_ask,
    leave_one_out,
    myerson,
    owen,
    shapley,
)
from pytest_swapgate.strategies import graphs, unions

MODEST = settings(deadline=None, max_examples=30)


def asked(run, n, **arguments) -> set[int]:
    calls: list[int] = []

    def worth(coalition):
        calls.append(sum(1 << player for player in coalition))
        return float(len(coalition))

    run(Game.from_callable(worth, n, **arguments))
    assert len(set(calls)) == len(calls)
    return set(calls)


def test_owen_with_5_unions_of_4_asks_for_another_number_than_1152():
    fours = [range(4 * k, 4 * k + 4) for k in range(5)]
    assert coalitions_needed("owen", 20, fours) == 1152
    assert len(asked(lambda game: owen(game, fours), 20)) == 1152


def test_myerson_on_a_path_of_20_asks_for_another_number_than_210():
    path = [(i, i + 1) for i in range(19)]
    assert coalitions_needed("myerson", 20, edges=path) == 210
    assert len(asked(lambda game: myerson(game, path), 20, empty=0.0)) == 210
    assert coalitions_needed("myerson", 20, edges=path, empty_known=False) == 211
    assert len(asked(lambda game: myerson(game, path), 20)) == 211


@MODEST
@given(st.integers(1, 6), st.booleans(), st.booleans(), st.data())
def test_needed_read_and_asked_disagree(n, empty_known, intervened, data):
    parts = data.draw(unions(n))
    edges = data.draw(graphs(n))
    given_empty = {"empty": 0.0} if empty_known else {}
    for method, run, structure in (
        ("shapley", shapley, {}),
        ("banzhaf", banzhaf, {}),
        (
            "leave_one_out",
            lambda game: leave_one_out(game, intervened=intervened),
            {"intervened": intervened},
        ),
        ("owen", lambda game: owen(game, parts), {"unions": parts}),
        ("myerson", lambda game: myerson(game, edges), {"edges": edges}),
    ):
        calls = asked(run, n, **given_empty)
        assert coalitions_read(method, n, empty_known=empty_known, **structure).tolist() == sorted(calls)
        assert coalitions_needed(method, n, empty_known=empty_known, **structure) == len(calls)
        fresh = Game.from_callable(len, n, **given_empty)
        assert coalitions_to_ask(fresh, method, **structure).tolist() == sorted(calls)
        run(fresh)
        assert coalitions_to_ask(fresh, method, **structure).size == 0


def test_counts_follow_the_formulas():
    assert [coalitions_needed("leave_one_out", n) for n in (1, 5, 22)] == [2, 6, 23]
    assert [coalitions_needed("shapley", n) for n in (1, 5, 22)] == [2, 32, 2**22]
    assert coalitions_needed("shapley", 4, empty_known=True) == 15
    assert coalitions_needed("owen", 5, [[0, 1, 2, 3], [4]]) == 2 * 14 + 4
    star = [(0, i) for i in range(1, 6)]
    assert coalitions_needed("myerson", 6, edges=star) == 2**5 + 5
    complete = [(i, j) for i in range(22) for j in range(i)]
    assert coalitions_needed("myerson", 22, edges=complete) == 2**22 - 1
    assert coalitions_needed("myerson", 3, edges=[]) == 3


def test_names_of_players_are_not_understood():
    game = Game.from_callable(len, names=["a", "b", "c"])
    assert coalitions_to_ask(game, "owen", [["a", "b"], ["c"]]).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert coalitions_to_ask(game, "myerson", edges=[("a", "b")]).tolist() == [0, 1, 2, 3, 4]


def test_every_read_coalition_could_be_left_out():
    """Fewest: change one read worth and the value changes; change another and it does not."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=64)
    parts, edges = [[0, 1, 2], [3, 4], [5]], [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)]
    for method, run, structure in (
        ("leave_one_out", leave_one_out, {}),
        ("shapley", shapley, {}),
        ("owen", lambda t: owen(t, parts), {"unions": parts}),
        ("myerson", lambda t: myerson(t, edges), {"edges": edges}),
    ):
        read = set(coalitions_read(method, 6, empty_known=False, **structure).tolist())
        for mask in range(64):
            changed = table.copy()
            changed[mask] += 1.0
            moved = np.abs(run(changed) - run(table)).max() > 1e-9
            assert moved == (mask in read), (method, mask)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nucleolus", 3), "method must be one of 'leave_one_out'"),
        (("shapley", 0), "n must be a whole number from 1 to 22, got 0"),
        (("shapley", 23), "got 23"),
        (("shapley", 2.0), "got 2.0"),
        (("owen", 3), "unions must be a partition of the players 0 to 2, got None"),
        (("myerson", 3), "edges must be a collection"),
        (("shapley", 3, [[0, 1, 2]]), "unions must be None for method 'shapley'"),
        (("owen", 3, [[0, 1, 2]], [(0, 1)]), "edges must be None for method 'owen'"),
    ],
)
def test_wrong_argument_is_priced(arguments, says):
    with pytest.raises(ValueError, match=says):
        coalitions_needed(*arguments)
    with pytest.raises(ValueError, match=says):
        coalitions_read(*arguments)
