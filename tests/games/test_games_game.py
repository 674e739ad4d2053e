"""The game itself: how worths come in, that none is asked for twice, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pytest_swapgate.games import Game, banzhaf, leave_one_out, myerson, owen, shapley

GLOVES = [0, 0, 0, 1, 0, 1, 0, 1]
VALUES = [Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]


def test_bit_i_is_not_player_i():
    game = Game([0, 1, 20, 300], names=["a", "b"])
    assert (game["a",], game["b",], game["a", "b"], game[()]) == (1.0, 20.0, 300.0, 0.0)
    assert (game[1], game[0b10], game[0, 1]) == (1.0, 20.0, 300.0)
    assert game.mask(["b", "a"]) == 3
    assert game.players_in(2) == ("b",)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Game(GLOVES),
        lambda: Game(np.array(GLOVES)),
        lambda: Game(tuple(map(Fraction, GLOVES))),
        lambda: Game.from_dict(dict(enumerate(GLOVES)), n=3),
        lambda: Game.from_dict({Game(GLOVES).players_in(m): w for m, w in enumerate(GLOVES)}, n=3),
        lambda: Game.from_dict(
            {frozenset("xyz"[i] for i in Game(GLOVES).players_in(m)): w for m, w in enumerate(GLOVES)},
            names=["x", "y", "z"],
        ),
        lambda: Game.from_callable(lambda s: int(0 in s and len(s) > 1), 3),
        lambda: Game.from_callable(lambda s: int("x" in s and len(s) > 1), names=["x", "y", "z"]),
        lambda: Game(GLOVES).complement().complement(),
        lambda: Game.from_callable(lambda s: int(0 in s and len(s) > 1), 3).complement().complement(),
    ],
)
def test_a_way_in_changes_the_game(make):
    assert shapley(make(), exact=True).tolist() == VALUES
    assert shapley(make()) == pytest.approx([2 / 3, 1 / 6, 1 / 6], abs=1e-15)
    assert make().table().tolist() == GLOVES


def test_repr_of_a_small_game_does_not_make_it_again():
    for game in (Game(GLOVES), Game([0.5, 1.25]), Game([0, Fraction(1, 3)], names=["a"])):
        again = eval(repr(game), {"Game": Game, "Fraction": Fraction})
        assert again.to_dict() == game.to_dict()
        assert again.names == game.names
    assert repr(Game(np.zeros(2**7))) == "<Game of 7 players, 128 worths known>"


def test_dict_of_a_game_loses_whole_numbers():
    assert Game([0, Fraction(1, 3)], names=["a"]).to_dict() == {(): 0, ("a",): Fraction(1, 3)}
    assert Game([0, 0.5]).to_dict() == {(): 0.0, (0,): 0.5}
    assert Game([[0, 1], [2, 3]]).to_dict() == {(): [0, 2], (0,): [1, 3]}


def test_number_of_known_worths_is_wrong():
    assert Game(GLOVES).evaluated == 8
    assert Game.from_dict({0: 1}, n=3).evaluated == 1
    assert (
        repr(Game.from_dict({0: 1}, names=["a", "b"]))
        == "<Game of 2 players, 1 worths known, names=['a', 'b']>"
    )
    assert Game.from_dict({0: 1}, n=2).known(np.array([[0, 1]])).tolist() == [[True, False]]
    assert Game(GLOVES).mean().to_dict() == Game(GLOVES).to_dict()


def test_callers_array_is_shared_or_locked():
    mine = np.array([0.0, 1.0, 2.0, 4.0])
    game = Game(mine)
    mine[3] = 100.0
    assert shapley(game).tolist() == [1.5, 2.5]
    shapley(mine)
    mine[3] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        game.table()[0] = 1.0


class Counted:
    """A worth function that counts its calls by coalition."""

    def __init__(self, n: int, tasks: int | None = None):
        self.calls: list[tuple[int, ...]] = []
        self.table = np.random.default_rng(n).integers(-9, 9, size=(tasks or 1, 2**n))
        self.tasks = tasks

    def __call__(self, coalition):
        self.calls.append(coalition)
        column = self.table[:, sum(1 << player for player in coalition)].tolist()
        return column if self.tasks else column[0]


@pytest.mark.parametrize("tasks", [None, 3])
def test_a_coalition_is_evaluated_twice(tasks):
    worth = Counted(4, tasks)
    game = Game.from_callable(worth, 4, tasks=tasks)
    table = worth.table if tasks else worth.table[0]
    parts, path = [[0, 1], [2, 3]], [(0, 1), (1, 2), (2, 3)]
    assert leave_one_out(game) == pytest.approx(leave_one_out(table), abs=1e-12)
    assert len(worth.calls) == game.evaluated == 5
    assert owen(game, parts) == pytest.approx(owen(table, parts), abs=1e-12)
    assert myerson(game, path) == pytest.approx(myerson(table, path), abs=1e-12)
    assert shapley(game) == pytest.approx(shapley(table), abs=1e-12)
    assert (shapley(game, exact=True) == shapley(table, exact=True)).all()
    assert banzhaf(game) == pytest.approx(banzhaf(table), abs=1e-12)
    assert shapley(game.complement()) == pytest.approx(-shapley(table), abs=1e-12)
    assert sorted(worth.calls) == sorted(game.players_in(m) for m in range(16))


def test_view_of_the_complement_pays_again():
    worth = Counted(3)
    game = Game.from_callable(worth, 3)
    leave_one_out(game.complement(), intervened=True)
    assert len(worth.calls) == 4
    leave_one_out(game)
    assert len(worth.calls) == 4


def test_known_worth_of_the_empty_coalition_is_asked_for():
    worth = Counted(3)
    shapley(Game.from_callable(worth, 3, empty=0))
    assert () not in worth.calls
    assert len(worth.calls) == 7
    assert Game.from_callable(Counted(2, 3), 2, tasks=3, empty=0.5)[()].tolist() == [0.5, 0.5, 0.5]


def test_partial_table_is_filled_with_guesses():
    game = Game.from_dict({7: 1.0, 6: 0.5, 5: 0.25, 3: 0.0}, n=3)
    assert leave_one_out(game).tolist() == [0.5, 0.75, 1.0]
    with pytest.raises(ValueError, match=r"coalition \(\) is not known \(4 worth\(s\) missing\)"):
        shapley(game)


def test_tasks_of_a_dict_are_lost():
    game = Game.from_dict({(): [0, 1], (0,): [1, 3]}, n=1)
    assert game.tasks == 2
    assert shapley(game).tolist() == [[1.0], [2.0]]
    assert shapley(game.mean()).tolist() == [1.5]


def test_exact_result_of_floats_is_given():
    for game in (Game([0.0, 1.0]), Game.from_dict({0: 0, 1: 1.0}, n=1)):
        with pytest.raises(ValueError, match="whole numbers or Fractions for an exact result"):
            shapley(game, exact=True)


def test_exact_result_overflows():
    big = 10**30
    assert shapley(Game([0, big, 2 * big, 4 * big + 1]), exact=True).tolist() == [
        Fraction(3 * big + 1, 2),
        Fraction(5 * big + 1, 2),
    ]


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1.0],
        [0, 1, 2],
        [[0, 1, 2]],
        [[], []],
        np.zeros((2, 2, 2)),
        np.zeros(2**23, dtype=np.int8),
        [0, float("nan")],
        [0, float("inf")],
        [[0, 1], [0, -float("inf")]],
        [True, False],
        [0, True],
        [Fraction(1), True],
        np.array([True, False]),
        ["0", "1"],
        [0, None],
        [[0, 1], [0]],
        [0, 10**400],
        [0, 1j],
        None,
        7,
    ],
    ids=repr,
)
def test_wrong_table_is_accepted(values):
    with pytest.raises(ValueError, match=r"values must be 2\*\*n finite numbers, n from 1 to 22"):
        Game(values)
    with pytest.raises(ValueError, match="values must be"):
        shapley(values)


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", ""], ["a", 1], "ab"], ids=repr)
def test_wrong_names_are_accepted(names):
    with pytest.raises(ValueError, match="names must be 2 distinct, non-empty strings"):
        Game([0, 1, 2, 3], names=names)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Game.from_callable(len, 23), "n must be a whole number from 1 to 22, got 23"),
        (lambda: Game.from_callable(len, 0), "got 0"),
        (lambda: Game.from_callable(len, True), "got True"),
        (
            lambda: Game.from_callable(len),
            "n must be the number of players, unless names are given, got None",
        ),
        (lambda: Game.from_callable(3, 2), "function must be callable"),
        (lambda: Game.from_callable(len, 2, tasks=0), "tasks must be a whole number >= 1, got 0"),
        (lambda: Game.from_callable(len, 2, empty=float("nan")), r"coalition \(\) must be a finite number"),
        (lambda: Game.from_dict({}, n=1), "at least one coalition"),
        (lambda: Game.from_dict([1, 2], n=1), "a mapping"),
        (lambda: Game.from_dict({4: 1.0}, n=2), "a whole number from 0 to 3, got 4"),
        (lambda: Game.from_dict({True: 1.0}, n=2), "got True"),
        (lambda: Game.from_dict({(0, 0): 1.0}, n=2), "distinct players"),
        (lambda: Game.from_dict({(2,): 1.0}, n=2), "a player from 0 to 1, got 2"),
        (lambda: Game.from_dict({"a": 1.0}, names=["a"]), "got 'a'"),
        (lambda: Game.from_dict({("b",): 1.0}, names=["a"]), "or one of 'a', got 'b'"),
        (lambda: Game.from_dict({1: 1.0, (0,): 2.0}, n=1), "each coalition once"),
        (lambda: Game.from_dict({0: []}, n=1), "at least one number a task"),
        (lambda: Game.from_dict({0: [1, 2], 1: [1]}, n=1), "2 finite numbers, one a task"),
        (lambda: Game.from_dict({0: [1, 2], 1: 1}, n=1), "2 finite numbers, one a task"),
        (lambda: Game.from_dict({0: 1, 1: "1"}, n=1), "a finite number, got '1'"),
        (lambda: Game([0, 1])[2], "got 2"),
        (lambda: Game([0, 1])["ab"], "a bitmask from 0 to 1 or a collection"),
    ],
)
def test_wrong_argument_is_accepted(make, says):
    with pytest.raises(ValueError, match=says):
        make()


@pytest.mark.parametrize(
    "worth",
    [float("nan"), float("inf"), True, None, "1", [1.0], 10**400],
    ids=lambda worth: repr(worth)[:9],
)
def test_wrong_answer_of_a_function_is_accepted(worth):
    game = Game.from_callable(lambda _: worth, 2)
    with pytest.raises(ValueError, match=r"the worth of coalition \(0,\) must be a finite number"):
        leave_one_out(game)
    short = Game.from_callable(lambda _: [worth], 2, tasks=2)
    with pytest.raises(ValueError, match=r"must be 2 finite numbers, one a task"):
        leave_one_out(short)


def test_index_of_a_banzhaf_game_that_sums_to_zero_is_nan():
    with pytest.raises(ValueError, match="sum to 0"):
        banzhaf([0, 1, -1, 0], normalised=True)
