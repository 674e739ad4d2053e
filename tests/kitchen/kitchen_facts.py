"""Facts of the public benchmark Collab-Overcooked (YusaeMeow, MIT), restated for the tests.

Recipes, orders, reference action lists and steps to delivery, written independently of the package's own
builders: every recipe is spelled out, reference lists are stated in a short code of one token per action.
"""

from __future__ import annotations

RECIPES = {
    "chopping_board0": {
        f"{x}_slices": x
        for x in (
            "potato",
            "pumpkin",
            "corn",
            "green_bean",
            "bell_pepper",
            "carrot",
            "mushroom",
            "eggplant",
            "zucchini",
            "beef",
            "chicken",
            "sweet_potato",
            "broccoli",
            "cauliflower",
            "tomato",
            "romaine_lettuce",
            "taro",
            "onion",
        )
    },
    "pot0": {
        "boiled_egg": "egg",
        "boiled_mushroom": "mushroom",
        "boiled_sweet_potato": "sweet_potato",
        "boiled_corn_slices": "corn_slices",
        "boiled_green_bean_slices": "green_bean_slices",
        "boiled_potato_slices": "potato_slices",
        "boiled_broccoli_slices": "broccoli_slices",
        "boiled_carrot_slices": "carrot_slices",
        "boiled_cauliflower_slices": "cauliflower_slices",
        "boiled_romaine_lettuce_slices": "romaine_lettuce_slices",
        "boiled_sweet_potato_slices": "sweet_potato_slices",
        "boiled_taro_slices": "taro_slices",
        "boiled_zucchini_slices": "zucchini_slices",
        "baked_bell_pepper_soup": "baked_bell_pepper_slices",
        "baked_carrot_soup": "baked_carrot_slices",
        "baked_mushroom_soup": "baked_mushroom_slices",
        "baked_potato_soup": "baked_potato_slices",
        "baked_pumpkin_soup": "baked_pumpkin_slices",
        "sliced_bell_pepper_and_corn_stew": "bell_pepper_slices corn",
        "sliced_bell_pepper_and_lentil_stew": "bell_pepper_slices lentil",
        "sliced_eggplant_and_chickpea_stew": "eggplant_slices chickpea",
        "sliced_pumpkin_and_chickpea_stew": "pumpkin_slices chickpea",
        "sliced_zucchini_and_chickpea_stew": "zucchini_slices chickpea",
        "sliced_beef_and_mashed_peanut_stew": "beef_slices mashed_peanut",
        "sliced_carrot_and_mashed_tofu_stew": "carrot_slices mashed_tofu",
        "sliced_chicken_and_mashed_spinach_stew": "chicken_slices mashed_spinach",
        "sliced_eggplant_and_mashed_chickpea_stew": "eggplant_slices mashed_chickpea",
        "sliced_sweet_potato_and_mashed_coconut_stew": "sweet_potato_slices mashed_coconut",
    },
    "oven0": {
        "baked_bell_pepper": "bell_pepper",
        "baked_sweet_potato": "sweet_potato",
        "baked_potato_slices": "potato_slices",
        "baked_pumpkin_slices": "pumpkin_slices",
        "baked_bell_pepper_slices": "bell_pepper_slices",
        "baked_carrot_slices": "carrot_slices",
        "baked_mushroom_slices": "mushroom_slices",
        "mashed_broccoli_and_bean_patty": "mashed_broccoli bean",
        "mashed_carrot_and_chickpea_patty": "mashed_carrot chickpea",
        "mashed_cauliflower_and_lentil_patty": "mashed_cauliflower lentil",
        "mashed_potato_and_pea_patty": "mashed_potato pea",
        "mashed_sweet_potato_and_bean_patty": "mashed_sweet_potato bean",
        "potato_carrot_and_onion_patty": "mashed_potato onion_slices carrot",
        "romaine_lettuce_pea_and_tomato_patty": "mashed_romaine_lettuce pea tomato_slices",
        "sweet_potato_spinach_and_mushroom_patty": "mashed_sweet_potato spinach mushroom_slices",
        "taro_bean_and_bell_pepper_patty": "mashed_taro bean bell_pepper_slices",
        "zucchini_green_pea_and_onion_patty": "mashed_zucchini green_pea onion_slices",
    },
    "blender0": {
        "mashed_peanut": "peanut",
        "mashed_tofu": "tofu",
        "mashed_spinach": "spinach",
        "mashed_chickpea": "chickpea",
        "mashed_coconut": "coconut",
        "mashed_broccoli": "boiled_broccoli_slices",
        "mashed_carrot": "boiled_carrot_slices",
        "mashed_cauliflower": "boiled_cauliflower_slices",
        "mashed_potato": "boiled_potato_slices",
        "mashed_sweet_potato": "boiled_sweet_potato_slices",
        "mashed_potato_and_carrot_mixture": "boiled_potato_slices carrot",
        "mashed_romaine_lettuce": "boiled_romaine_lettuce_slices",
        "mashed_taro": "boiled_taro_slices",
        "mashed_zucchini": "boiled_zucchini_slices",
    },
}

# Order -> its ingredients A, B, C in the roles of the level's reference patterns below.
ORDERS = {
    1: {
        "baked_bell_pepper": ("bell_pepper",),
        "baked_sweet_potato": ("sweet_potato",),
        "boiled_egg": ("egg",),
        "boiled_mushroom": ("mushroom",),
        "boiled_sweet_potato": ("sweet_potato",),
    },
    2: {
        "baked_potato_slices": ("potato",),
        "baked_pumpkin_slices": ("pumpkin",),
        "boiled_corn_slices": ("corn",),
        "boiled_green_bean_slices": ("green_bean",),
        "boiled_potato_slices": ("potato",),
    },
    3: {
        "baked_bell_pepper_soup": ("bell_pepper",),
        "baked_carrot_soup": ("carrot",),
        "baked_mushroom_soup": ("mushroom",),
        "baked_potato_soup": ("potato",),
        "baked_pumpkin_soup": ("pumpkin",),
    },
    4: {
        "sliced_bell_pepper_and_corn_stew": ("bell_pepper", "corn"),
        "sliced_bell_pepper_and_lentil_stew": ("bell_pepper", "lentil"),
        "sliced_eggplant_and_chickpea_stew": ("eggplant", "chickpea"),
        "sliced_pumpkin_and_chickpea_stew": ("pumpkin", "chickpea"),
        "sliced_zucchini_and_chickpea_stew": ("zucchini", "chickpea"),
    },
    5: {
        "mashed_broccoli_and_bean_patty": ("broccoli", "bean"),
        "mashed_carrot_and_chickpea_patty": ("carrot", "chickpea"),
        "mashed_cauliflower_and_lentil_patty": ("cauliflower", "lentil"),
        "mashed_potato_and_pea_patty": ("potato", "pea"),
        "mashed_sweet_potato_and_bean_patty": ("sweet_potato", "bean"),
    },
    6: {
        "potato_carrot_and_onion_patty": ("potato", "carrot", "onion"),
        "romaine_lettuce_pea_and_tomato_patty": ("romaine_lettuce", "pea", "tomato"),
        "sweet_potato_spinach_and_mushroom_patty": ("sweet_potato", "spinach", "mushroom"),
        "taro_bean_and_bell_pepper_patty": ("taro", "bean", "bell_pepper"),
        "zucchini_green_pea_and_onion_patty": ("zucchini", "green_pea", "onion"),
    },
}

# One token per action. item<place picks up; >u puts into u; u! starts u; # places on a counter; +u fills; $ delivers.
# Places: I ingredient dispenser, D dish dispenser, X counter, P pot, O oven, C chopping board, B blender.
# Items: A B C ingredients; As sliced, Abs boiled slices, Aks baked slices, Am mashed, = the order, d dish.
_SOLO = "{x}<X >{u} {u}! =<{u} $"
_SLICE = "A<I >C C! As<C #"
_MASH = "Abs<X >B B! Am<B #"
_CUT_C = "C<I >C C! Cs<C #"
_BOIL = "As<X >P P! Abs<P #"
_DISH = "d<D #"
_SERVE_O = "O! d<X +O $"


def _patty(*sequence: str) -> tuple[str, str]:
    chef = {"A": "Am<X >O", "B": "B<X >O", "C": "Cs<X >O"}
    helper = {"A": _MASH, "B": "B<I #", "C": _CUT_C}
    return (
        " ".join([_BOIL, *(chef[x] for x in sequence), _SERVE_O]),
        " ".join([_SLICE, *(helper[x] for x in sequence), _DISH]),
    )


PATTERNS = {
    (1, "baked"): [(_SOLO.format(x="A", u="O"), "A<I #")],
    (1, "boiled"): [(_SOLO.format(x="A", u="P"), "A<I #")],
    (2, "baked"): [(_SOLO.format(x="As", u="O"), _SLICE)],
    (2, "boiled"): [(_SOLO.format(x="As", u="P"), _SLICE)],
    (3, "baked"): [("As<X >O O! Aks<O >P P! d<X +P $", f"{_SLICE} {_DISH}")],
    (4, "sliced"): [
        ("As<X >P B<X >P P! d<X +P $", f"{_SLICE} B<I # {_DISH}"),
        ("B<X >P As<X >P P! d<X +P $", f"A<I >C C! B<I # As<C # {_DISH}"),
    ],
    (5, "mashed"): [_patty("A", "B"), _patty("B", "A")],
    (6, ""): [_patty(*s) for s in ("ABC", "BAC", "ACB", "BCA", "CAB", "CBA")],
}

# Steps to delivery of every reference, in the sequence above. Levels 1 to 4 were measured on the original engine;
# of levels 5 and 6 only the quickest (46 and 51) was given beforehand; the others are this engine's.
STEPS = {
    (1, "baked"): [17],
    (1, "boiled"): [16],
    (2, "baked"): [24],
    (2, "boiled"): [24],
    (3, "baked"): [36],
    (4, "sliced"): [33, 33],
    (5, "mashed"): [56, 46],
    (6, ""): [65, 61, 69, 51, 57, 53],
}
BEST_AND_LIMIT = {
    (1, "baked"): (17, 25),
    (1, "boiled"): (16, 24),
    (2, "baked"): (24, 36),
    (2, "boiled"): (24, 36),
    (3, "baked"): (36, 54),
    (4, "sliced"): (33, 49),
    (5, "mashed"): (46, 69),
    (6, ""): (51, 76),
}
LENGTHS = {1: (5, 2), 2: (5, 5), 3: (9, 7), 4: (8, 9), 5: (13, 14), 6: (15, 19)}

_PLACES = {"I": "ingredient_dispenser", "D": "dish_dispenser", "X": "counter"}
_UTENSILS = {"P": "pot0", "O": "oven0", "C": "chopping_board0", "B": "blender0"}
_STARTS = {"P": "cook", "O": "bake", "C": "cut", "B": "stir"}


def kind(level: int, name: str) -> tuple[int, str]:
    """Return the key of an order's pattern."""
    return (level, "" if level == 6 else name.split("_", 1)[0])


def _item(token: str, name: str, foods: tuple[str, ...]) -> str:
    if token in ("=", "d"):
        return {"=": name, "d": "dish"}[token]
    food = foods["ABC".index(token[0])]
    return {"": food, "s": f"{food}_slices", "bs": f"boiled_{food}_slices", "ks": f"baked_{food}_slices"}.get(
        token[1:], f"mashed_{food}"
    )


def _action(token: str, name: str, foods: tuple[str, ...]) -> str:
    if token == "#":
        return "place_obj_on_counter()"
    if token == "$":
        return "deliver_soup()"
    if token[0] == ">":
        return f"put_obj_in_utensil({_UTENSILS[token[1]]})"
    if token[0] == "+":
        return f"fill_dish_with_food({_UTENSILS[token[1]]})"
    if token[1:] == "!":
        return f"{_STARTS[token[0]]}({_UTENSILS[token[0]]})"
    item, place = token.split("<")
    return f"pickup({_item(item, name, foods)}, {(_PLACES | _UTENSILS)[place]})"


def references(level: int, name: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return an order's reference action lists as text: (chef, assistant) each."""
    foods = ORDERS[level][name]
    return tuple(
        (
            tuple(_action(t, name, foods) for t in chef.split()),
            tuple(_action(t, name, foods) for t in helper.split()),
        )
        for chef, helper in PATTERNS[kind(level, name)]
    )
