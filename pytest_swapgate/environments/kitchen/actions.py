"""Actions as text: parsing with plain-worded errors, and the one normalised form ``name(arg, arg)``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_swapgate.environments.kitchen.layout import CHEF, PLACES, UTENSILS, VERBS
from pytest_swapgate.environments.kitchen.recipes import DISH, FILLED, INGREDIENTS, ITEMS

MAX_WAIT = 5
"""Longest wait the parser takes, as in the original (whose prompt speaks of 20)."""
MAX_LENGTH = 200
"""Longest action text looked at; model output is untrusted."""

_SOURCES = ("ingredient_dispenser", "dish_dispenser", "counter", *UTENSILS)
_ARITY = {
    "pickup": 2,
    "put_obj_in_utensil": 1,
    "place_obj_on_counter": 0,
    "fill_dish_with_food": 1,
    "deliver_soup": 0,
    "wait": 1,
    **dict.fromkeys(VERBS, 1),
}
ACTION_NAMES = tuple(_ARITY)
"""Names an action can have."""
_RAW = frozenset(INGREDIENTS)
_QUOTES = str.maketrans("", "", "'\"`")


class ActionError(ValueError):
    """A text that is no action; its message is one sentence a cook can act on."""


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """One action of a cook. Made by `parse_action`, which returns the same object for the same text.

    Attributes
    ----------
    name : str
        One of `ACTION_NAMES`.
    args : tuple of str
        Its arguments.
    text : str
        Normalised form, as in the references: ``pickup(egg, counter)``.
    steps : int
        Length of a wait, else 0.
    """

    name: str
    args: tuple[str, ...]
    text: str
    steps: int = 0

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Action) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def parse_action(text: str) -> Action:
    """Read one action.

    Case, blanks, quotes and a trailing full stop do not matter; ``wait`` alone is ``wait(1)``;
    ``put_obj_in_utensil(item, utensil)`` is taken for its utensil.

    Parameters
    ----------
    text : str
        At most `MAX_LENGTH` characters.

    Raises
    ------
    ActionError
        If the text is no action; the message says what is accepted.
    """
    if not isinstance(text, str):
        raise ActionError(f"An action must be text, not {type(text).__name__}.")
    if len(text) > MAX_LENGTH:
        raise ActionError(f"An action must have at most {MAX_LENGTH} characters.")
    return _parse(text)


def parse_request(text: str) -> Action:
    """Read ``request('action')`` and return the action asked for.

    Raises
    ------
    ActionError
        If it is no request or what it asks for is no action.
    """
    bare = text.strip() if isinstance(text, str) else ""
    if not (bare[:8].lower() == "request(" and bare.endswith(")")):
        raise ActionError("A request must look like request('action').")
    return parse_action(bare[8:-1])


@lru_cache(maxsize=8192)
def _parse(text: str) -> Action:
    bare = "".join(text.translate(_QUOTES).lower().split()).rstrip(".")
    head, bracket, tail = bare.partition("(")
    if bracket and not tail.endswith(")"):
        raise ActionError("An action must look like name(argument, argument).")
    inner = tail[:-1]
    args = tuple(inner.split(",")) if inner else ()
    if head == "request":
        raise ActionError("request() is a message to the partner, not an action to carry out.")
    if head not in _ARITY:
        raise ActionError(f"Unknown action: accepted are {', '.join(ACTION_NAMES)}.")
    if not bracket and head != "wait":
        raise ActionError(f"{head} must be written with brackets.")
    if head == "wait":
        return _wait(args)
    if head == "put_obj_in_utensil" and len(args) == 2:
        args = args[1:]
    if len(args) != _ARITY[head]:
        raise ActionError(f"{head}() must have {_ARITY[head]} argument(s), not {len(args)}.")
    if head == "pickup":
        args = (args[0].removeprefix(FILLED), args[1])
        _check_pickup(*args)
    elif head in VERBS and args[0] != VERBS[head]:
        raise ActionError(f"{head}() works on {VERBS[head]} only.")
    elif args and args[0] not in UTENSILS:
        raise ActionError(f"{head}() must name a utensil: {', '.join(UTENSILS)}.")
    return Action(head, args, f"{head}({', '.join(args)})")


def _wait(args: tuple[str, ...]) -> Action:
    number = args[0] if args else "1"
    if len(args) > 1 or not (number.isascii() and number.isdigit()) or not 1 <= int(number) <= MAX_WAIT:
        raise ActionError(f"wait() must have a whole number of steps from 1 to {MAX_WAIT}.")
    return Action("wait", (str(int(number)),), f"wait({int(number)})", int(number))


def _check_pickup(item: str, source: str) -> None:
    if item not in ITEMS:
        raise ActionError("pickup() must name an ingredient, a product of a recipe or dish.")
    if source not in _SOURCES:
        raise ActionError(f"pickup() must name a place: {', '.join(_SOURCES)}.")
    if source == "ingredient_dispenser" and item not in _RAW:
        raise ActionError("The ingredient_dispenser has raw ingredients only.")
    if source == "dish_dispenser" and item != DISH:
        raise ActionError("The dish_dispenser has dishes only.")


def within_reach(agent: int, action: Action) -> bool:
    """Tell whether a cook can ever do this: all it names is on the cook's side (a wait is no deed: False).

    Used to drop impossible actions from requests and plans before scoring, as the original's evaluation does.
    """
    if action.name == "wait":
        return False
    if action.name == "deliver_soup":
        return agent == CHEF
    return not action.args or action.args[-1] in PLACES[agent]
