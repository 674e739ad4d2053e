from __future__ import annotations

import kitchen_facts as facts
import pytest

from pytest_swapgate.environments.kitchen.actions import parse_action
from pytest_swapgate.environments.kitchen.layout import VERB_OF
from pytest_swapgate.environments.kitchen.recipes import (
    INGREDIENTS,
    ITEMS,
    LEVELS,
    NEEDS_DISH,
    ORDERS,
    RECIPES,
    Order,
    order,
    orders,
    product_of,
)
from pytest_swapgate.environments.kitchen.references import Reference
from pytest_swapgate.environments.kitchen.scoring import (
    completed_subtasks,
    max_tes,
    progress_completeness,
    team_tes,
)
from pytest_swapgate.environments.kitchen.world import World

NAMES = [(level, name) for level, names in facts.ORDERS.items() for name in names]
RUNS = [
    (level, name, i) for level, name in NAMES for i in range(len(facts.PATTERNS[facts.kind(level, name)]))
]


def execute(what: Order, reference: Reference, longest: int = 200) -> World:
    """Let both cooks carry out their lists, each action as soon as it can be done."""
    world = World(what)
    plans = [[parse_action(text) for text in texts] for texts in reference]
    at = [0, 0]
    while not world.delivered and world.time < longest:
        now = [plan[i] if i < len(plan) else None for plan, i in zip(plans, at, strict=True)]
        for agent, outcome in enumerate(world.step(now[0], now[1])):
            assert outcome.status != "failed", (world.time, agent, now[agent], outcome.reason)
            at[agent] += outcome.status == "done"
    return world


def test_there_are_thirty_orders_and_sixty_five_references() -> None:
    assert len(ORDERS) == len(NAMES) == 30
    assert sum(len(o.references) for o in ORDERS.values()) == len(RUNS) == 65


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_serves_its_five_orders_in_sequence(level: int) -> None:
    assert [o.name for o in orders(level)] == list(facts.ORDERS[level])
    assert {o.level for o in orders(level)} == {level}


@pytest.mark.parametrize(("level", "name"), NAMES)
def test_reference_lists_are_the_benchmarks(level: int, name: str) -> None:
    assert order(name).references == facts.references(level, name)
    assert {(len(a), len(b)) for a, b in order(name).references} == {facts.LENGTHS[level]}


@pytest.mark.parametrize(("level", "name", "index"), RUNS)
def test_every_reference_reaches_delivery_in_the_listed_steps(level: int, name: str, index: int) -> None:
    what = order(name)
    world = execute(what, what.references[index])
    assert world.delivered
    assert world.time == facts.STEPS[facts.kind(level, name)][index]
    assert (tuple(world.history[0]), tuple(world.history[1])) == what.references[index]


@pytest.mark.parametrize(("level", "name", "index"), RUNS)
def test_a_perfectly_carried_out_reference_scores_full_marks(level: int, name: str, index: int) -> None:
    what = order(name)
    histories = what.references[index]
    assert max_tes(what, 0, histories[0]) == max_tes(what, 1, histories[1]) == team_tes(what, histories) == 1
    assert progress_completeness(what, histories) == 100
    assert completed_subtasks(what, histories) == sum(facts.LENGTHS[level])


@pytest.mark.parametrize(("level", "name"), NAMES)
def test_best_steps_and_limit_are_the_given_ones(level: int, name: str) -> None:
    what = order(name)
    assert (what.best_steps, what.limit) == facts.BEST_AND_LIMIT[facts.kind(level, name)]
    assert what.best_steps == min(execute(what, reference).time for reference in what.references)


def test_recipes_are_the_benchmarks() -> None:
    assert {r.product: (r.utensil, sorted(r.inputs)) for r in RECIPES.values()} == {
        product: (utensil, sorted(inputs.split()))
        for utensil, table in facts.RECIPES.items()
        for product, inputs in table.items()
    }
    assert len(INGREDIENTS) == len(set(INGREDIENTS)) == 29
    assert set(ORDERS) <= set(RECIPES) <= ITEMS


def test_contents_match_in_any_sequence_but_only_in_full() -> None:
    contents = ["onion_slices", "carrot", "mashed_potato"]
    assert product_of("oven0", contents) == "potato_carrot_and_onion_patty"
    assert product_of("oven0", contents[:2]) is None
    assert product_of("oven0", [*contents, "carrot"]) is None
    assert product_of("pot0", contents) is None


def test_dishes_are_needed_from_level_three_on() -> None:
    assert {o.name for o in ORDERS.values() if o.level >= 3} <= NEEDS_DISH
    assert all(o.needs_dish == (o.level >= 3) for o in ORDERS.values())


@pytest.mark.parametrize(("level", "name"), NAMES)
def test_the_recipe_text_names_every_ingredient_utensil_and_product(level: int, name: str) -> None:
    what = order(name)
    lines = what.recipe_text.splitlines()
    assert lines[0] == f"Order: {name}"
    assert sorted(lines[1].removeprefix("Ingredients: ").split(", ")) == sorted(facts.ORDERS[level][name])
    for utensil in {u for u in VERB_OF if f"({u})" in str(what.references)}:
        assert f"{VERB_OF[utensil]} " in what.recipe_text
        assert utensil in what.recipe_text
    assert ("fill a dish" in what.recipe_text) == what.needs_dish
    assert "->" not in lines[-1]


@pytest.mark.parametrize("level", [0, 7, True, "1", 1.0, None])
def test_an_unknown_level_is_refused(level: object) -> None:
    with pytest.raises(ValueError, match=r"level=.*accepted is a whole number from 1 to 6"):
        orders(level)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "pizza", None, 3])
def test_an_unknown_order_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"name=.*accepted is one of baked_bell_pepper"):
        order(name)  # type: ignore[arg-type]
