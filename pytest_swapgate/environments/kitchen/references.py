"""Reference action lists: how an order is best cooked, as text actions per cook.

All 65 lists of the benchmark follow from the structure of their order and the sequence in which its
parts are made, so they are built here rather than stored.

References
----------
Collab-Overcooked (YusaeMeow, MIT): reference action lists, one or more per order.
"""

from __future__ import annotations

Reference = tuple[tuple[str, ...], tuple[str, ...]]
"""One reference: the chef's actions, the assistant's actions."""

_PLACE = "place_obj_on_counter()"
_DELIVER = "deliver_soup()"
_PATTY_SEQUENCES = ((0, 1, 2), (1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1), (2, 1, 0))


def _pick(item: str, place: str = "counter") -> str:
    return f"pickup({item}, {place})"


def _use(item: str, source: str, utensil: str, verb: str) -> list[str]:
    return [_pick(item, source), f"put_obj_in_utensil({utensil})", f"{verb}({utensil})"]


def _hand_over(item: str) -> list[str]:
    return [_pick(item, "ingredient_dispenser"), _PLACE]


def _slice(item: str) -> list[str]:
    return _use(item, "ingredient_dispenser", "chopping_board0", "cut")


def _hand_over_slices(item: str) -> list[str]:
    return [*_slice(item), _pick(f"{item}_slices", "chopping_board0"), _PLACE]


def _load(item: str, utensil: str) -> list[str]:
    return [_pick(item), f"put_obj_in_utensil({utensil})"]


def _serve(utensil: str) -> list[str]:
    return [_pick("dish"), f"fill_dish_with_food({utensil})", _DELIVER]


_DISH = [_pick("dish", "dish_dispenser"), _PLACE]


def single(food: str, verb: str, utensil: str, product: str, *, sliced: bool) -> tuple[Reference, ...]:
    """Levels 1 and 2: one ingredient, whole or sliced, boiled or baked, served by hand."""
    item = f"{food}_slices" if sliced else food
    chef = [*_use(item, "counter", utensil, verb), _pick(product, utensil), _DELIVER]
    assistant = _hand_over_slices(food) if sliced else _hand_over(food)
    return ((tuple(chef), tuple(assistant)),)


def soup(food: str) -> tuple[Reference, ...]:
    """Level 3: slices baked, then cooked, served on a dish."""
    chef = [
        *_use(f"{food}_slices", "counter", "oven0", "bake"),
        *_use(f"baked_{food}_slices", "oven0", "pot0", "cook"),
        *_serve("pot0"),
    ]
    return ((tuple(chef), (*_hand_over_slices(food), *_DISH)),)


def stew(sliced: str, whole: str) -> tuple[Reference, ...]:
    """Level 4: slices and a whole ingredient in one pot; either may go in first."""
    slices = f"{sliced}_slices"
    end = ["cook(pot0)", *_serve("pot0")]
    slices_first = (
        (*_load(slices, "pot0"), *_load(whole, "pot0"), *end),
        (*_hand_over_slices(sliced), *_hand_over(whole), *_DISH),
    )
    whole_first = (
        (*_load(whole, "pot0"), *_load(slices, "pot0"), *end),
        (*_slice(sliced), *_hand_over(whole), _pick(slices, "chopping_board0"), _PLACE, *_DISH),
    )
    return (slices_first, whole_first)


def patty(mashed: str, whole: str, sliced: str | None = None) -> tuple[Reference, ...]:
    """Levels 5 and 6: mash, a whole ingredient and perhaps slices, baked; one reference per sequence."""
    boiled = f"boiled_{mashed}_slices"
    parts = [f"mashed_{mashed}", whole]
    jobs = [
        [*_use(boiled, "counter", "blender0", "stir"), _pick(f"mashed_{mashed}", "blender0"), _PLACE],
        _hand_over(whole),
    ]
    if sliced is not None:
        parts.append(f"{sliced}_slices")
        jobs.append(_hand_over_slices(sliced))
    boil = [*_use(f"{mashed}_slices", "counter", "pot0", "cook"), _pick(boiled, "pot0"), _PLACE]
    sequences = ((0, 1), (1, 0)) if sliced is None else _PATTY_SEQUENCES
    return tuple(
        (
            (
                *boil,
                *(a for i in sequence for a in _load(parts[i], "oven0")),
                "bake(oven0)",
                *_serve("oven0"),
            ),
            (*_hand_over_slices(mashed), *(a for i in sequence for a in jobs[i]), *_DISH),
        )
        for sequence in sequences
    )
