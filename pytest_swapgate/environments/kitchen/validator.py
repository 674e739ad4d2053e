"""Can a cook do this now? One plain sentence when not, and whether time alone may change it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from pytest_swapgate.environments.kitchen.actions import Action
from pytest_swapgate.environments.kitchen.layout import CHEF, PLACES, ROLES, SIDES
from pytest_swapgate.environments.kitchen.recipes import CAPACITY, DISH, FILLED, NEEDS_DISH, ORDERS

if TYPE_CHECKING:
    from pytest_swapgate.environments.kitchen.world import World


class Problem(NamedTuple):
    """Why an action cannot be done now.

    Attributes
    ----------
    reason : str
        One sentence.
    passing : bool
        True when waiting may help: the partner or the utensil can change it without this cook.
    """

    reason: str
    passing: bool


def problem(world: World, agent: int, action: Action) -> Problem | None:
    """Return what keeps a cook from starting or going on with an action, or None."""
    check = _CHECKS.get(action.name)
    return None if check is None else check(world, agent, action)


def validate(world: World, agent: int, action: Action) -> str | None:
    """Return one plain sentence why the action cannot be done now, or None where it can."""
    found = problem(world, agent, action)
    return None if found is None else found.reason


def _out_of_reach(agent: int, place: str) -> Problem:
    return Problem(
        f"The {ROLES[agent]} cannot reach {place}; things cross over the counters between the two sides.",
        False,
    )


def _hand_full(held: str) -> Problem:
    return Problem(f"The hand is full: it holds {held}.", False)


def _pickup(world: World, agent: int, action: Action) -> Problem | None:
    item, place = action.args
    if place not in PLACES[agent]:
        return _out_of_reach(agent, place)
    held = world.holding[agent]
    if held is not None:
        return _hand_full(held)
    if place == "counter":
        reach = SIDES[agent].stations
        filled = FILLED + item
        for counter, there in world.tables.items():
            if (there in (item, filled)) and counter in reach:
                return None
        return Problem(f"There is no {item} on a counter the {ROLES[agent]} can reach.", True)
    utensil = world.utensils.get(place)
    if utensil is None:
        return None
    if utensil.product is not None and utensil.left:
        return Problem(
            f"{place} is still cooking {utensil.product}, {utensil.left} step(s) left.",
            utensil.product == item,
        )
    if utensil.product != item:
        return Problem(f"There is no {item} ready in {place}.", False)
    if item in NEEDS_DISH:
        return Problem(f"{item} leaves {place} only on a dish, with fill_dish_with_food({place}).", False)
    return None


def _put(world: World, agent: int, action: Action) -> Problem | None:
    place = action.args[0]
    if place not in PLACES[agent]:
        return _out_of_reach(agent, place)
    held = world.holding[agent]
    if held is None:
        return Problem("The hand is empty, there is nothing to put in.", False)
    if held == DISH or held.startswith(FILLED):
        return Problem("A dish does not go into a utensil.", False)
    utensil = world.utensils[place]
    if utensil.product is not None:
        state = "cooking" if utensil.left else "ready and must be taken out first"
        return Problem(f"Nothing goes into {place} now: {utensil.product} is {state}.", False)
    if len(utensil.contents) >= CAPACITY:
        return Problem(f"{place} is full.", False)
    return None


def _place(world: World, agent: int, action: Action) -> Problem | None:  # noqa: ARG001
    if world.holding[agent] is None:
        return Problem("The hand is empty, there is nothing to place.", False)
    tables = world.tables
    for counter in SIDES[agent].counters:
        if counter not in tables:
            return None
    return Problem("Every counter in reach is taken.", True)


def _operate(world: World, agent: int, action: Action) -> Problem | None:
    place = action.args[0]
    if place not in PLACES[agent]:
        return _out_of_reach(agent, place)
    utensil = world.utensils[place]
    if utensil.product is not None:
        return Problem(f"{place} is busy with {utensil.product}.", False)
    if not utensil.contents:
        return Problem(f"{place} is empty.", False)
    held = world.holding[agent]
    return None if held is None else _hand_full(held)


def _fill(world: World, agent: int, action: Action) -> Problem | None:
    place = action.args[0]
    if place not in PLACES[agent]:
        return _out_of_reach(agent, place)
    product = world.utensils[place].product
    if product is None:
        return Problem(f"Nothing is cooking or ready in {place}.", False)
    if product not in NEEDS_DISH:
        return Problem(f"{product} needs no dish: pick it up by hand.", False)
    if world.holding[agent] != DISH:
        return Problem("There is no empty dish in the hand.", False)
    return None


def _deliver(world: World, agent: int, action: Action) -> Problem | None:  # noqa: ARG001
    if agent != CHEF:
        return _out_of_reach(agent, "the serving place")
    held = world.holding[agent]
    if held is None:
        return Problem("The hand is empty, there is nothing to deliver.", False)
    if not held.startswith(FILLED) and (held not in ORDERS or held in NEEDS_DISH):
        return Problem(f"{held} is no finished order.", False)
    return None


_CHECKS: dict[str, Callable[[World, int, Action], Problem | None]] = {
    "pickup": _pickup,
    "put_obj_in_utensil": _put,
    "place_obj_on_counter": _place,
    "fill_dish_with_food": _fill,
    "deliver_soup": _deliver,
    **dict.fromkeys(("cook", "bake", "cut", "stir"), _operate),
}
