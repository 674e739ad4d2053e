from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.environments.kitchen.actions import (
    ACTION_NAMES,
    MAX_LENGTH,
    MAX_WAIT,
    ActionError,
    parse_action,
    parse_request,
    within_reach,
)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("pickup(egg,counter)", "pickup(egg, counter)"),
        ("  Pickup ( Egg ,  COUNTER ) . ", "pickup(egg, counter)"),
        ("pickup('bell_pepper', \"ingredient_dispenser\")", "pickup(bell_pepper, ingredient_dispenser)"),
        ("pickup(dish,dish_dispenser)", "pickup(dish, dish_dispenser)"),
        ("pickup(dish:baked_carrot_soup, counter)", "pickup(baked_carrot_soup, counter)"),
        ("put_obj_in_utensil(pot0)", "put_obj_in_utensil(pot0)"),
        ("put_obj_in_utensil(egg, pot0)", "put_obj_in_utensil(pot0)"),
        ("place_obj_on_counter()", "place_obj_on_counter()"),
        ("fill_dish_with_food(oven0)", "fill_dish_with_food(oven0)"),
        ("deliver_soup( )", "deliver_soup()"),
        ("cook(pot0)", "cook(pot0)"),
        ("bake(oven0)", "bake(oven0)"),
        ("cut(chopping_board0)", "cut(chopping_board0)"),
        ("stir(blender0)", "stir(blender0)"),
        ("wait", "wait(1)"),
        ("wait()", "wait(1)"),
        ("wait(05)", "wait(5)"),
    ],
)
def test_spelling_is_normalised(text: str, normal: str) -> None:
    action = parse_action(text)
    assert action.text == str(action) == normal
    assert parse_action(normal) == action
    assert hash(parse_action(normal)) == hash(action)


def test_the_same_text_gives_the_same_object() -> None:
    assert parse_action("cook(pot0)") is parse_action("cook(pot0)")


def test_only_waits_have_a_length() -> None:
    assert parse_action("wait(3)").steps == 3
    assert parse_action("cook(pot0)").steps == 0


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("", "accepted are pickup"),
        ("dance()", "accepted are pickup"),
        ("cook pot0", "accepted are pickup"),
        ("deliver_soup", "must be written with brackets"),
        ("cook(pot0", "must look like name"),
        ("pickup(egg)", r"must have 2 argument\(s\), not 1"),
        ("pickup(egg, counter, now)", r"must have 2 argument\(s\), not 3"),
        ("place_obj_on_counter(counter)", r"must have 0 argument\(s\), not 1"),
        ("pickup(pizza, counter)", "must name an ingredient"),
        ("pickup(egg, fridge)", "must name a place: ingredient_dispenser"),
        ("pickup(potato_slices, ingredient_dispenser)", "raw ingredients only"),
        ("pickup(dish, ingredient_dispenser)", "raw ingredients only"),
        ("pickup(egg, dish_dispenser)", "dishes only"),
        ("cook(oven0)", "works on pot0 only"),
        ("cut(potato)", "works on chopping_board0 only"),
        ("put_obj_in_utensil(sink)", "must name a utensil: pot0"),
        ("fill_dish_with_food(counter)", "must name a utensil: pot0"),
        ("wait(0)", "from 1 to 5"),
        ("wait(6)", "from 1 to 5"),
        ("wait(-1)", "from 1 to 5"),
        ("wait(1.5)", "from 1 to 5"),
        ("wait(²)", "from 1 to 5"),
        ("wait(1, 2)", "from 1 to 5"),
        ("request('cook(pot0)')", "a message to the partner"),
        ("x" * (MAX_LENGTH + 1), "at most 200 characters"),
        (None, "must be text, not NoneType"),
    ],
)
def test_what_is_no_action_says_what_is_accepted(text: str, accepted: str) -> None:
    with pytest.raises(ActionError, match=accepted) as caught:
        parse_action(text)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_refusal_is_repeated_on_every_call() -> None:
    for _ in range(2):
        with pytest.raises(ActionError):
            parse_action("dance()")


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.text(max_size=40), st.from_regex(r"[a-z_]{1,20}\([a-z0-9_, ]{0,30}\)", fullmatch=True)))
def test_any_text_is_an_action_or_a_refusal(text: str) -> None:
    try:
        action = parse_action(text)
    except ActionError:
        return
    assert action.name in ACTION_NAMES
    assert parse_action(action.text).text == action.text
    assert action.steps <= MAX_WAIT


def test_a_request_gives_the_action_asked_for() -> None:
    assert (
        parse_request("request('pickup(egg,ingredient_dispenser)')").text
        == "pickup(egg, ingredient_dispenser)"
    )
    assert parse_request(' Request( "cut(chopping_board0)" ) ').text == "cut(chopping_board0)"


@pytest.mark.parametrize(
    "text", ["cook(pot0)", "request(cook(pot0)", "request(dance())", "request()", "", None]
)
def test_a_broken_request_is_refused(text: str) -> None:
    with pytest.raises(ActionError):
        parse_request(text)


@pytest.mark.parametrize(
    ("text", "chef", "assistant"),
    [
        ("pickup(egg, ingredient_dispenser)", False, True),
        ("pickup(dish, dish_dispenser)", False, True),
        ("pickup(egg, counter)", True, True),
        ("pickup(boiled_egg, pot0)", True, False),
        ("put_obj_in_utensil(blender0)", False, True),
        ("fill_dish_with_food(oven0)", True, False),
        ("cook(pot0)", True, False),
        ("cut(chopping_board0)", False, True),
        ("place_obj_on_counter()", True, True),
        ("deliver_soup()", True, False),
        ("wait(2)", False, False),
    ],
)
def test_reach_separates_the_cooks(text: str, chef: bool, assistant: bool) -> None:
    assert within_reach(0, parse_action(text)) is chef
    assert within_reach(1, parse_action(text)) is assistant
