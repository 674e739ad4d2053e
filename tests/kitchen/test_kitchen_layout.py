from __future__ import annotations

from itertools import product

import pytest

from pytest_swapgate.environments.kitchen.layout import DROP_ORDER, HERE, MAP, PLACES, SHARED_COUNTERS, SIDES


def test_the_map_is_the_benchmarks() -> None:
    assert MAP == ("XXXPX", "I X1X", "C2X X", "D X O", "XBXSX")


def test_each_cook_has_a_column_of_its_own() -> None:
    assert SIDES[0].cells == ((3, 1), (3, 2), (3, 3))
    assert SIDES[1].cells == ((1, 1), (1, 2), (1, 3))


def test_stations_are_split_as_published() -> None:
    assert PLACES[0] == {"pot0", "oven0", "serving", "counter"}
    assert PLACES[1] == {"ingredient_dispenser", "dish_dispenser", "chopping_board0", "blender0", "counter"}
    assert len(SHARED_COUNTERS) == 3
    assert SIDES[0].stations & SIDES[1].stations == set(SHARED_COUNTERS)
    assert [len(own) for _, own in DROP_ORDER] == [2, 1]


@pytest.mark.parametrize("agent", [0, 1])
def test_every_walk_ends_at_its_station_in_as_many_steps_as_said(agent: int) -> None:
    side = SIDES[agent]
    for station, stance in product(side.stations, range(4 * len(side.cells))):
        at, steps = stance, 1
        while side.walk[station][at] != HERE:
            at = side.walk[station][at]
            steps += 1
        assert steps == side.cost[station][stance]


@pytest.mark.parametrize("agent", [0, 1])
def test_no_step_moves_farther_than_one_cell(agent: int) -> None:
    side = SIDES[agent]
    for station, stance in product(side.stations, range(4 * len(side.cells))):
        ahead = side.walk[station][stance]
        if ahead != HERE:
            (x0, y0), (x1, y1) = side.cells[stance >> 2], side.cells[ahead >> 2]
            assert abs(x0 - x1) + abs(y0 - y1) <= 1
            assert ahead != stance


@pytest.mark.parametrize(
    ("agent", "station", "steps"),
    [
        (0, "pot0", 1),  # the chef starts below the pot, facing it
        (0, "oven0", 4),  # two down, one turn, the deed
        (0, "serving", 3),  # two down, facing it already
        (1, "chopping_board0", 2),  # one turn
        (1, "ingredient_dispenser", 3),
        (1, "blender0", 2),  # one down, facing it already
        (1, "dish_dispenser", 3),
    ],
)
def test_turning_costs_a_step_unless_the_walk_already_faces_the_station(
    agent: int, station: str, steps: int
) -> None:
    assert SIDES[agent].cost[station][SIDES[agent].start] == steps
