from __future__ import annotations

import pytest

from pytest_swapgate.environments.kitchen.actions import parse_action
from pytest_swapgate.environments.kitchen.recipes import CAPACITY, order
from pytest_swapgate.environments.kitchen.validator import validate
from pytest_swapgate.environments.kitchen.world import Outcome, World


def do(world: World, agent: int, text: str, longest: int = 20) -> Outcome:
    """Let one cook act until its action is done or stands still."""
    action = parse_action(text)
    for _ in range(longest):
        outcome = world.step(action, None)[0] if agent == 0 else world.step(None, action)[1]
        if outcome.status != "moving":
            return outcome
    raise AssertionError(f"{text} never ends")


def chef_with(item: str, name: str = "boiled_egg") -> World:
    world = World(order(name))
    world.holding[0] = item
    return world


def ready(utensil: str, product: str, name: str) -> World:
    world = World(order(name))
    world.utensils[utensil].contents.append("something")
    world.utensils[utensil].product = product
    return world


def test_food_cooks_three_steps_counting_the_start() -> None:
    world = chef_with("egg")
    assert do(world, 0, "put_obj_in_utensil(pot0)") == ("done", "")
    assert do(world, 0, "cook(pot0)").status == "done"
    assert world.utensils["pot0"].left == 2
    assert do(world, 0, "pickup(boiled_egg, pot0)") == (
        "waiting",
        "pot0 is still cooking boiled_egg, 2 step(s) left.",
    )
    assert world.step(None, None) == (("waiting", "There is nothing to do."),) * 2
    assert world.observation(0).utensils[0].state == "ready"
    assert do(world, 0, "pickup(boiled_egg, pot0)").status == "done"
    assert do(world, 0, "deliver_soup()").status == "done"
    assert world.delivered
    assert world.finished


def test_two_utensils_cook_at_once() -> None:
    world = World(order("boiled_egg"))
    world.utensils["pot0"].contents.append("egg")
    world.utensils["chopping_board0"].contents.append("potato")
    world.step(parse_action("cook(pot0)"), parse_action("cut(chopping_board0)"))
    world.step(None, parse_action("cut(chopping_board0)"))
    assert (world.utensils["pot0"].left, world.utensils["chopping_board0"].left) == (1, 2)


def test_what_matches_no_recipe_is_thrown_away_for_both_to_see() -> None:
    world = chef_with("carrot")
    do(world, 0, "put_obj_in_utensil(pot0)")
    outcome = do(world, 0, "cook(pot0)")
    assert outcome == ("done", "carrot in pot0 match no recipe and were thrown away.")
    assert world.observation(1).notices == (outcome.reason,)
    assert world.observation(0).utensils[0].state == "empty"
    assert world.history[0][-1] == "cook(pot0)"
    world.step(None, None)
    assert world.notices == ()


def test_a_wrong_delivery_is_gone_and_does_not_end_the_episode() -> None:
    world = chef_with("boiled_mushroom")
    outcome = do(world, 0, "deliver_soup()")
    assert outcome == ("done", "boiled_mushroom is not what was ordered and is gone.")
    assert world.holding == [None, None]
    assert not world.delivered


def test_nothing_happens_after_delivery() -> None:
    world = chef_with("boiled_egg")
    do(world, 0, "deliver_soup()")
    with pytest.raises(ValueError, match="accepted are steps until the order is delivered"):
        world.step(None, None)


def test_a_dish_may_arrive_early_and_waits_at_the_utensil() -> None:
    world = ready("pot0", "baked_carrot_soup", "baked_carrot_soup")
    world.utensils["pot0"].left = 2
    world.holding[0] = "dish"
    assert do(world, 0, "fill_dish_with_food(pot0)") == ("waiting", "pot0 is still cooking, 2 step(s) left.")
    assert do(world, 0, "fill_dish_with_food(pot0)").status == "waiting"
    assert do(world, 0, "fill_dish_with_food(pot0)").status == "done"
    assert world.holding[0] == "dish:baked_carrot_soup"
    assert do(world, 0, "deliver_soup()").status == "done"
    assert world.delivered


def test_a_filled_dish_crosses_a_counter_under_its_foods_name() -> None:
    world = chef_with("dish:baked_carrot_soup", "baked_carrot_soup")
    do(world, 0, "place_obj_on_counter()")
    assert "dish:baked_carrot_soup" in world.counters
    assert do(world, 1, "pickup(baked_carrot_soup, counter)").status == "done"
    assert world.holding[1] == "dish:baked_carrot_soup"


def test_the_nearest_shared_counter_is_used_and_the_upper_one_at_a_tie() -> None:
    world = chef_with("egg")
    do(world, 0, "place_obj_on_counter()")
    assert world.counters == ("egg", None, None)
    world.holding[0] = "corn"
    do(world, 0, "pickup(egg, counter)")  # refused: the hand is full
    do(world, 0, "place_obj_on_counter()")
    assert world.counters == ("egg", "corn", None)
    world.holding[0] = "taro"
    world.tables.pop("counter1")
    do(world, 0, "place_obj_on_counter()")  # from the middle: up and down are equally far
    assert world.counters == ("taro", "corn", None)


def test_private_counters_come_after_the_shared_ones_and_can_fill_up() -> None:
    world = World(order("boiled_egg"))
    for _ in range(4):
        world.holding[1] = "egg"
        assert do(world, 1, "place_obj_on_counter()").status == "done"
    world.holding[1] = "egg"
    assert do(world, 1, "place_obj_on_counter()") == ("waiting", "Every counter in reach is taken.")
    assert world.counters == ("egg",) * 3
    assert world.observation(1).own_counters == ("egg",)
    assert world.observation(0).own_counters == ()
    do(world, 0, "pickup(egg, counter)")
    assert do(world, 1, "place_obj_on_counter()").status == "done"
    assert do(world, 1, "pickup(egg, counter)").status == "done"
    assert world.observation(1).own_counters == ()  # its own counter is emptied first


def test_one_item_goes_to_one_cook_only() -> None:
    world = World(order("boiled_egg"))
    world.tables["counter3"] = "egg"  # the middle one
    pick = parse_action("pickup(egg, counter)")
    outcomes = [world.step(pick, pick) for _ in range(4)]
    assert sorted(o.status for pair in outcomes for o in pair).count("done") == 1
    assert [h is not None for h in world.holding].count(True) == 1
    assert {outcomes[-1][0].status, outcomes[-1][1].status} <= {"waiting", "failed"}


def test_the_chef_is_first_when_both_act_on_one_counter_in_the_same_step() -> None:
    place, pick = parse_action("place_obj_on_counter()"), parse_action("pickup(taro, counter)")

    def facing_the_middle() -> World:
        world = World(order("boiled_egg"))
        world.tables.update(counter1="corn", counter5="corn")  # shared ones above and below
        world.holding[:] = ["egg", "taro"]
        for agent in (0, 1):
            if agent == 0:
                world.step(place, None)  # one down
                world.step(place, None)  # turned
            else:
                world.step(None, place)  # turned
        return world

    world = facing_the_middle()
    one, two = world.step(place, place)
    assert (one, two) == (("done", ""), ("waiting", "The partner filled that counter in the same step."))
    assert world.holding == [None, "taro"]
    world = facing_the_middle()
    world.holding[:] = [None, None]
    world.tables["counter3"] = "taro"
    one, two = world.step(pick, pick)
    assert (one, two) == (("done", ""), ("waiting", "The partner took it in the same step."))
    assert world.holding == ["taro", None]


def test_an_item_placed_in_this_step_is_seen_only_in_the_next() -> None:
    world = World(order("boiled_egg"))
    world.holding[1] = "egg"
    place, pick = parse_action("place_obj_on_counter()"), parse_action("pickup(egg, counter)")
    seen = []
    while world.holding[1]:
        seen.append(world.step(pick, place)[0])
    assert {o.status for o in seen} == {"waiting"}
    assert world.step(pick, None)[0].status == "moving"


def test_waits_count_down_and_start_afresh_after_anything_else() -> None:
    world = World(order("boiled_egg"))
    wait = parse_action("wait(2)")
    assert [world.step(wait, None)[0].status for _ in range(4)] == ["waiting", "done", "waiting", "done"]
    world.step(wait, None)
    world.step(None, None)
    assert world.step(wait, None)[0] == ("waiting", "Waiting, 1 step(s) left.")
    assert world.history == ([], [])
    assert world.time == 7


@pytest.mark.parametrize(
    ("agent", "holding", "text", "reason", "status"),
    [
        (0, None, "pickup(egg, ingredient_dispenser)", "chef cannot reach ingredient_dispenser", "failed"),
        (1, None, "pickup(boiled_egg, pot0)", "assistant cannot reach pot0", "failed"),
        (0, "egg", "pickup(egg, counter)", "hand is full: it holds egg", "failed"),
        (0, None, "pickup(egg, counter)", "no egg on a counter", "waiting"),
        (0, None, "pickup(boiled_egg, pot0)", "no boiled_egg ready in pot0", "failed"),
        (0, None, "place_obj_on_counter()", "nothing to place", "failed"),
        (0, None, "put_obj_in_utensil(pot0)", "nothing to put in", "failed"),
        (0, "dish", "put_obj_in_utensil(pot0)", "dish does not go into a utensil", "failed"),
        (0, "dish:baked_carrot_soup", "put_obj_in_utensil(pot0)", "dish does not go", "failed"),
        (0, "egg", "put_obj_in_utensil(blender0)", "chef cannot reach blender0", "failed"),
        (0, None, "cook(pot0)", "pot0 is empty", "failed"),
        (1, None, "cook(pot0)", "assistant cannot reach pot0", "failed"),
        (0, "dish", "fill_dish_with_food(pot0)", "Nothing is cooking or ready in pot0", "failed"),
        (1, "dish", "fill_dish_with_food(pot0)", "assistant cannot reach pot0", "failed"),
        (0, None, "deliver_soup()", "nothing to deliver", "failed"),
        (0, "egg", "deliver_soup()", "egg is no finished order", "failed"),
        (0, "potato_slices", "deliver_soup()", "potato_slices is no finished order", "failed"),
        (0, "dish", "deliver_soup()", "dish is no finished order", "failed"),
        (1, "boiled_egg", "deliver_soup()", "assistant cannot reach the serving place", "failed"),
    ],
)
def test_what_cannot_be_done_says_why_and_costs_a_step(
    agent: int, holding: str | None, text: str, reason: str, status: str
) -> None:
    world = World(order("boiled_egg"))
    world.holding[agent] = holding
    found = validate(world, agent, parse_action(text))
    assert found is not None
    assert reason in found
    assert found.endswith(".")
    assert found.count(".") == 1
    before = world.positions
    assert do(world, agent, text) == (status, found)
    assert (world.time, world.positions, world.holding[agent]) == (1, before, holding)
    assert world.history == ([], [])


@pytest.mark.parametrize(
    ("left", "holding", "text", "reason", "status"),
    [
        (1, None, "pickup(baked_carrot_soup, pot0)", "still cooking baked_carrot_soup, 1 step", "waiting"),
        (1, None, "pickup(boiled_egg, pot0)", "still cooking baked_carrot_soup, 1 step", "failed"),
        (0, None, "pickup(baked_carrot_soup, pot0)", "only on a dish", "failed"),
        (0, None, "fill_dish_with_food(pot0)", "no empty dish in the hand", "failed"),
        (0, "egg", "put_obj_in_utensil(pot0)", "ready and must be taken out", "failed"),
        (1, "egg", "put_obj_in_utensil(pot0)", "baked_carrot_soup is cooking", "failed"),
        (0, None, "cook(pot0)", "busy with baked_carrot_soup", "failed"),
    ],
)
def test_a_busy_utensil_says_what_it_is_busy_with(
    left: int, holding: str | None, text: str, reason: str, status: str
) -> None:
    world = ready("pot0", "baked_carrot_soup", "baked_carrot_soup")
    world.utensils["pot0"].left = left
    world.holding[0] = holding
    found = validate(world, 0, parse_action(text))
    assert found is not None
    assert reason in found
    assert do(world, 0, text) == (status, found)


def test_food_that_needs_no_dish_is_taken_by_hand() -> None:
    world = ready("pot0", "boiled_egg", "boiled_egg")
    world.holding[0] = "dish"
    assert validate(world, 0, parse_action("fill_dish_with_food(pot0)")) == (
        "boiled_egg needs no dish: pick it up by hand."
    )


def test_a_utensil_holds_three_items_and_is_started_with_an_empty_hand() -> None:
    world = World(order("boiled_egg"))
    world.utensils["oven0"].contents.extend(["egg"] * (CAPACITY - 1))
    world.holding[0] = "egg"
    assert validate(world, 0, parse_action("bake(oven0)")) == "The hand is full: it holds egg."
    assert do(world, 0, "put_obj_in_utensil(oven0)").status == "done"
    world.holding[0] = "egg"
    assert validate(world, 0, parse_action("put_obj_in_utensil(oven0)")) == "oven0 is full."
    world.holding[0] = None
    assert validate(world, 0, parse_action("pickup(egg, oven0)")) == "There is no egg ready in oven0."


def test_an_action_that_can_be_done_has_no_objection() -> None:
    world = World(order("boiled_egg"))
    assert validate(world, 1, parse_action("pickup(egg, ingredient_dispenser)")) is None
    assert validate(world, 1, parse_action("wait(1)")) is None


def test_the_observation_is_a_snapshot() -> None:
    world = World(order("boiled_egg"))
    world.holding[1] = "egg"
    world.utensils["pot0"].contents.append("corn")
    seen = world.observation(1)
    assert (seen.agent, seen.order, seen.time, seen.limit) == (1, "boiled_egg", 0, 24)
    assert seen.holding == (None, "egg")
    assert [u.state for u in seen.utensils] == ["loaded", "empty", "empty", "empty"]
    do(world, 1, "place_obj_on_counter()")
    assert seen.holding == (None, "egg")
    assert seen.counters == (None, None, None)


def test_an_episode_ends_at_its_limit() -> None:
    world = World(order("boiled_egg"))
    for _ in range(24):
        assert not world.finished
        world.step(None, None)
    assert world.finished
    assert not world.delivered


@pytest.mark.parametrize("agent", [-1, 2, True, None, "chef"])
def test_an_unknown_cook_is_refused(agent: object) -> None:
    with pytest.raises(ValueError, match=r"accepted is 0 \(chef\) or 1 \(assistant\)"):
        World(order("boiled_egg")).observation(agent)  # type: ignore[arg-type]


def test_a_world_needs_an_order() -> None:
    with pytest.raises(ValueError, match="accepted is an Order"):
        World("boiled_egg")  # type: ignore[arg-type]
