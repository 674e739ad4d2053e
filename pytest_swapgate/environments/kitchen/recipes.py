"""What can be cooked: ingredients, recipes of every utensil, and the 30 orders in six levels.

References
----------
Collab-Overcooked (YusaeMeow, MIT): recipes, orders and levels; restated here, texts generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_swapgate.environments.kitchen import references as refs
from pytest_swapgate.environments.kitchen.layout import VERB_OF

COOK_TIME = 3
"""Steps every utensil takes, the step of the starting verb included."""
CAPACITY = 3
"""Items a utensil holds."""
DISH = "dish"
FILLED = "dish:"
"""Prefix of a dish with food on it: ``dish:baked_carrot_soup``."""
LEVELS = (1, 2, 3, 4, 5, 6)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


INGREDIENTS = _words(
    "apple carrot onion potato tofu bell_pepper sweet_potato egg mushroom pumpkin corn green_bean lentil "
    "eggplant chickpea zucchini beef peanut chicken spinach coconut broccoli bean cauliflower pea "
    "romaine_lettuce tomato taro green_pea"
)

_SLICED = _words(
    "potato pumpkin corn green_bean bell_pepper carrot mushroom eggplant zucchini beef chicken sweet_potato "
    "broccoli cauliflower tomato romaine_lettuce taro onion"
)
_BOILED_WHOLE = ("egg", "mushroom", "sweet_potato")
_BOILED_SLICED = _words(
    "corn green_bean potato broccoli carrot cauliflower romaine_lettuce sweet_potato taro zucchini"
)
_BAKED_WHOLE = ("bell_pepper", "sweet_potato")
_BAKED_SLICED = _words("potato pumpkin bell_pepper carrot mushroom")
_MASHED_RAW = _words("peanut tofu spinach chickpea coconut")
_MASHED_BOILED = _words("broccoli carrot cauliflower potato sweet_potato romaine_lettuce taro zucchini")
_SOUPS = _words("bell_pepper carrot mushroom potato pumpkin")
_STEWS = (
    ("bell_pepper", "corn"),
    ("bell_pepper", "lentil"),
    ("eggplant", "chickpea"),
    ("pumpkin", "chickpea"),
    ("zucchini", "chickpea"),
)
_MASH_STEWS = (  # known to the utensils, never ordered
    ("beef", "peanut"),
    ("carrot", "tofu"),
    ("chicken", "spinach"),
    ("eggplant", "chickpea"),
    ("sweet_potato", "coconut"),
)
_PATTIES = (
    ("broccoli", "bean"),
    ("carrot", "chickpea"),
    ("cauliflower", "lentil"),
    ("potato", "pea"),
    ("sweet_potato", "bean"),
)
_BIG_PATTIES = (  # mashed, whole, sliced
    ("potato", "carrot", "onion"),
    ("romaine_lettuce", "pea", "tomato"),
    ("sweet_potato", "spinach", "mushroom"),
    ("taro", "bean", "bell_pepper"),
    ("zucchini", "green_pea", "onion"),
)
_BEST_STEPS = {2: 24, 3: 36, 4: 33, 5: 46, 6: 51}  # level 1: 16 in the pot, 17 in the oven


@dataclass(frozen=True, slots=True)
class Recipe:
    """One product, the utensil that makes it and what goes in (any sequence)."""

    product: str
    utensil: str
    inputs: tuple[str, ...]


def _all_recipes() -> list[Recipe]:
    board, pot, oven, blender = "chopping_board0", "pot0", "oven0", "blender0"
    table = [Recipe(f"{x}_slices", board, (x,)) for x in _SLICED]
    table += [Recipe(f"boiled_{x}", pot, (x,)) for x in _BOILED_WHOLE]
    table += [Recipe(f"boiled_{x}_slices", pot, (f"{x}_slices",)) for x in _BOILED_SLICED]
    table += [Recipe(f"baked_{x}_soup", pot, (f"baked_{x}_slices",)) for x in _SOUPS]
    table += [Recipe(f"sliced_{x}_and_{y}_stew", pot, (f"{x}_slices", y)) for x, y in _STEWS]
    table += [
        Recipe(f"sliced_{x}_and_mashed_{y}_stew", pot, (f"{x}_slices", f"mashed_{y}")) for x, y in _MASH_STEWS
    ]
    table += [Recipe(f"baked_{x}", oven, (x,)) for x in _BAKED_WHOLE]
    table += [Recipe(f"baked_{x}_slices", oven, (f"{x}_slices",)) for x in _BAKED_SLICED]
    table += [Recipe(f"mashed_{x}_and_{y}_patty", oven, (f"mashed_{x}", y)) for x, y in _PATTIES]
    table += [
        Recipe(f"{x}_{y}_and_{z}_patty", oven, (f"mashed_{x}", y, f"{z}_slices")) for x, y, z in _BIG_PATTIES
    ]
    table += [Recipe(f"mashed_{x}", blender, (x,)) for x in _MASHED_RAW]
    table += [Recipe(f"mashed_{x}", blender, (f"boiled_{x}_slices",)) for x in _MASHED_BOILED]
    table.append(Recipe("mashed_potato_and_carrot_mixture", blender, ("boiled_potato_slices", "carrot")))
    return table


RECIPES: Mapping[str, Recipe] = MappingProxyType({recipe.product: recipe for recipe in _all_recipes()})
"""Every recipe by product; no product has two."""
ITEMS = frozenset((*INGREDIENTS, *RECIPES, DISH))
"""Every name an item can have (a filled dish is `FILLED` + product)."""
NEEDS_DISH = frozenset(name for name in RECIPES if name.endswith(("_soup", "_stew", "_patty")))
"""Products that leave their utensil only on a dish."""
_PRODUCT = {(recipe.utensil, tuple(sorted(recipe.inputs))): recipe.product for recipe in RECIPES.values()}


def product_of(utensil: str, contents: list[str]) -> str | None:
    """Return what a utensil makes of its contents, or None where they match no recipe."""
    return _PRODUCT.get((utensil, tuple(sorted(contents))))


@dataclass(frozen=True, slots=True)
class Order:
    """One order.

    Attributes
    ----------
    name : str
        Name of the product to deliver.
    level : int
        Difficulty, 1..6.
    recipe_text : str
        What the chef reads: ingredients and numbered steps. Only the chef has it.
    best_steps : int
        Steps to delivery of the order's quickest reference.
    references : tuple of (chef's actions, assistant's actions)
        Reference action lists, normalised text.
    needs_dish : bool
        Whether it is served on a dish.
    limit : int
        Steps an episode may take: floor(1.5 x best_steps).
    """

    name: str
    level: int
    recipe_text: str = field(repr=False)
    best_steps: int
    references: tuple[refs.Reference, ...] = field(repr=False)

    @property
    def limit(self) -> int:
        """Steps an episode of this order may take."""
        return self.best_steps * 3 // 2

    @property
    def needs_dish(self) -> bool:
        """Whether the order is served on a dish."""
        return self.name in NEEDS_DISH


def _steps_to(product: str) -> tuple[list[str], list[str]]:
    """Return raw ingredients and cooking lines, deepest first."""
    if product not in RECIPES:
        return [product], []
    recipe = RECIPES[product]
    raw: list[str] = []
    lines: list[str] = []
    for part in recipe.inputs:
        more_raw, more_lines = _steps_to(part)
        raw += more_raw
        lines += more_lines
    verb = VERB_OF[recipe.utensil]
    lines.append(
        f"{verb} {' + '.join(recipe.inputs)} in {recipe.utensil} ({COOK_TIME} steps) -> {product}",
    )
    return raw, lines


def _recipe_text(product: str) -> str:
    raw, lines = _steps_to(product)
    utensil = RECIPES[product].utensil
    if product in NEEDS_DISH:
        lines.append(f"fill a dish with {product} from {utensil} and deliver it")
    else:
        lines.append(f"take {product} from {utensil} by hand and deliver it, no dish")
    numbered = [f"{i}. {line}" for i, line in enumerate(lines, 1)]
    return "\n".join([f"Order: {product}", f"Ingredients: {', '.join(raw)}", *numbered])


def _order(level: int, name: str, references: tuple[refs.Reference, ...], best: int | None = None) -> Order:
    return Order(name, level, _recipe_text(name), best or _BEST_STEPS[level], references)


def _all_orders() -> list[Order]:
    menu: list[Order] = []
    for level, end, baked, boiled in (
        (1, "", _BAKED_WHOLE, _BOILED_WHOLE),
        (2, "_slices", ("potato", "pumpkin"), ("corn", "green_bean", "potato")),
    ):
        for verb, utensil, done, foods in (
            ("bake", "oven0", "baked", baked),
            ("cook", "pot0", "boiled", boiled),
        ):
            best = {"bake": 17, "cook": 16}[verb] if level == 1 else None
            for food in foods:
                name = f"{done}_{food}{end}"
                menu.append(
                    _order(level, name, refs.single(food, verb, utensil, name, sliced=level == 2), best)
                )
    menu += [_order(3, f"baked_{x}_soup", refs.soup(x)) for x in _SOUPS]
    menu += [_order(4, f"sliced_{x}_and_{y}_stew", refs.stew(x, y)) for x, y in _STEWS]
    menu += [_order(5, f"mashed_{x}_and_{y}_patty", refs.patty(x, y)) for x, y in _PATTIES]
    menu += [_order(6, f"{x}_{y}_and_{z}_patty", refs.patty(x, y, z)) for x, y, z in _BIG_PATTIES]
    return menu


ORDERS: Mapping[str, Order] = MappingProxyType({order.name: order for order in _all_orders()})
_BY_LEVEL = {level: tuple(order for order in ORDERS.values() if order.level == level) for level in LEVELS}


def orders(level: int) -> tuple[Order, ...]:
    """Return the five orders of a level.

    Parameters
    ----------
    level : int
        1..6.

    Raises
    ------
    ValueError
        If there is no such level.
    """
    if isinstance(level, bool) or not isinstance(level, int) or level not in _BY_LEVEL:
        raise ValueError(f"level={level!r}: accepted is a whole number from 1 to 6")
    return _BY_LEVEL[level]


def order(name: str) -> Order:
    """Return an order by name.

    Raises
    ------
    ValueError
        If nothing on the menu has that name.
    """
    if not isinstance(name, str) or name not in ORDERS:
        raise ValueError(f"name={name!r}: accepted is one of {', '.join(ORDERS)}")
    return ORDERS[name]
