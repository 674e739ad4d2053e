"""What both cooks can do with their hands, and what goes wrong without a task note."""

from __future__ import annotations

from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.environments.kitchen.cooks.reading import Mind
from pytest_swapgate.environments.kitchen.cooks.truth import Truth

FUMBLE = 0.85
"""Chance of a mistake at each use of a skill whose task note is missing."""

_SIGNS = (
    ("too slow", "ahead"),
    ("only on a dish", "serve"),
    ("pot0", "cook"),
    ("oven0", "bake"),
    ("chopping_board0", "cut"),
    ("blender0", "mash"),
    ("There is no dish on a counter", "dish"),
    ("on a counter the assistant can reach", "fetch"),
)


def knows(skill: str, mind: Mind, truth: Truth, seed: str) -> bool:
    """Whether a cook's notes spare it this mistake; a cook of little skill cannot use all that it has noted."""
    return skill in mind.facts and Chance(seed, skill, "skill").happens(truth.skill)


def skill_of(mishap: str) -> str:
    """Return the skill that a mishap teaches, empty for none."""
    return next((skill for sign, skill in _SIGNS if sign in mishap), "")


def product_of(meaning: str, target: str) -> str:
    """Return the item that a request, as understood, puts on the counter."""
    if meaning == "cut":
        return f"{target}_slices"
    if meaning == "mash":
        return f"mashed_{target.removeprefix('boiled_').removesuffix('_slices')}"
    return "dish" if meaning == "dish" else target


def actions_for(meaning: str, target: str) -> list[str]:
    """Return the actions that fulfil a request from scratch."""
    if meaning == "dish":
        return ["pickup(dish, dish_dispenser)", "place_obj_on_counter()"]
    source = "counter" if target.startswith("boiled_") else "ingredient_dispenser"
    if meaning == "fetch":
        return [f"pickup({target}, {source})", "place_obj_on_counter()"]
    utensil, verb = ("chopping_board0", "cut") if meaning == "cut" else ("blender0", "stir")
    return [
        f"pickup({target}, {source})",
        f"put_obj_in_utensil({utensil})",
        f"{verb}({utensil})",
        f"pickup({product_of(meaning, target)}, {utensil})",
        "place_obj_on_counter()",
    ]
