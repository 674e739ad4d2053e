"""The engine under random play: whatever two cooks try, the kitchen stays a kitchen."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pytest_swapgate.environments.kitchen.actions import Action, parse_action
from pytest_swapgate.environments.kitchen.layout import SIDES, UTENSILS, VERBS
from pytest_swapgate.environments.kitchen.recipes import CAPACITY, FILLED, ITEMS, ORDERS, RECIPES, order
from pytest_swapgate.environments.kitchen.validator import validate
from pytest_swapgate.environments.kitchen.world import World

FOODS = (
    "potato",
    "carrot",
    "onion",
    "potato_slices",
    "boiled_potato_slices",
    "mashed_potato",
    "onion_slices",
)
MEALS = ("potato_carrot_and_onion_patty", "boiled_potato_slices", "baked_potato_slices", "baked_potato_soup")
ACTIONS = (
    [f"pickup({x}, counter)" for x in (*FOODS, *MEALS, "dish")]
    + [f"pickup({x}, ingredient_dispenser)" for x in FOODS[:3]]
    + [f"pickup({r.product}, {r.utensil})" for x in (*FOODS, *MEALS) if (r := RECIPES.get(x)) is not None]
    + ["pickup(dish, dish_dispenser)", "place_obj_on_counter()", "deliver_soup()", "wait(2)"]
    + [f"{verb}({u})" for verb in ("put_obj_in_utensil", "fill_dish_with_food") for u in UTENSILS]
    + [f"{verb}({u})" for verb, u in VERBS.items()]
)
TRIES = st.one_of(st.none(), st.sampled_from(ACTIONS).map(parse_action))


def atoms(item: str) -> Counter[str]:
    """Return the raw ingredients and dishes that went into an item."""
    if item.startswith(FILLED):
        return Counter({"dish": 1}) + atoms(item.removeprefix(FILLED))
    recipe = RECIPES.get(item)
    if recipe is None:
        return Counter({item: 1})
    return sum((atoms(part) for part in recipe.inputs), Counter())


def inside(world: World) -> Counter[str]:
    """Return the raw ingredients and dishes in the whole kitchen."""
    items = [x for x in world.holding if x] + list(world.tables.values())
    for utensil in world.utensils.values():
        items += [utensil.product] if utensil.product else utensil.contents
    return sum((atoms(item) for item in items), Counter())


class Kitchen(RuleBasedStateMachine):
    """Two worlds get the same tries; a running count of raw food is kept beside them."""

    @initialize(name=st.sampled_from(MEALS))
    def open(self, name: str) -> None:
        self.world = World(order(name))
        self.twin = World(order(name))
        self.tries: tuple[Action | None, Action | None] = (None, None)

    def play(self) -> None:
        world = self.world
        if world.delivered:
            return
        before, held = inside(world), list(world.holding)
        objections = [None if a is None else validate(world, i, a) for i, a in enumerate(self.tries)]
        stood = world.positions
        outcomes = world.step(*self.tries)
        assert self.twin.step(*self.tries) == outcomes
        expected = Counter(before)
        for agent, (action, outcome) in enumerate(zip(self.tries, outcomes, strict=True)):
            if objections[agent] is not None:
                assert outcome.status in ("waiting", "failed")
                assert outcome.reason == objections[agent]
            if outcome.status != "moving":
                assert world.positions[agent] == stood[agent]
            if action is None or outcome.status != "done":
                assert world.holding[agent] == held[agent]
                continue
            if action.name == "pickup" and action.args[1].endswith("dispenser"):
                expected += atoms(action.args[0])
            if action.name == "deliver_soup":
                expected -= atoms(str(held[agent]))
            if outcome.reason and action.name in VERBS:
                expected -= before - inside(world)  # thrown away, as the outcome says
        assert inside(world) == expected

    @rule(chef=TRIES, assistant=TRIES)
    def once(self, chef: Action | None, assistant: Action | None) -> None:
        self.tries = (chef, assistant)
        self.play()

    @rule(chef=TRIES, assistant=TRIES, steps=st.integers(2, 6))
    def insist(self, chef: Action | None, assistant: Action | None, steps: int) -> None:
        self.tries = (chef, assistant)
        for _ in range(steps):
            self.play()

    @rule(
        which=st.integers(0, 5),
        name=st.sampled_from(MEALS),
        lead=st.integers(0, 19),
        steps=st.integers(5, 40),
    )
    def follow_a_reference(self, which: int, name: str, lead: int, steps: int) -> None:
        """Stretches of sensible work, so that random play gets past the first ingredients."""
        references = ORDERS[name].references
        plans = [[parse_action(t) for t in texts] for texts in references[which % len(references)]]
        at = [min(lead, len(plan) - 1) for plan in plans]
        for _ in range(steps):
            if self.world.delivered:
                return
            done = [len(h) for h in self.world.history]
            self.tries = (
                plans[0][at[0]] if at[0] < len(plans[0]) else None,
                plans[1][at[1]] if at[1] < len(plans[1]) else None,
            )
            self.play()
            at = [i + (len(h) > n) for i, h, n in zip(at, self.world.history, done, strict=True)]

    @invariant()
    def items_are_known_and_hands_hold_one(self) -> None:
        if not hasattr(self, "world"):
            return
        for item in [x for x in self.world.holding if x is not None] + list(self.world.tables.values()):
            assert item.removeprefix(FILLED) in ITEMS
        assert len(self.world.holding) == 2

    @invariant()
    def cooks_never_share_a_cell_nor_leave_their_side(self) -> None:
        if not hasattr(self, "world"):
            return
        chef, assistant = self.world.positions
        assert chef != assistant
        assert chef in SIDES[0].cells
        assert assistant in SIDES[1].cells

    @invariant()
    def utensils_are_consistent(self) -> None:
        if not hasattr(self, "world"):
            return
        for utensil in self.world.utensils.values():
            assert len(utensil.contents) <= CAPACITY
            assert 0 <= utensil.left < 3
            assert utensil.product is not None or utensil.left == 0
            assert utensil.product is None or utensil.contents

    @invariant()
    def the_same_tries_give_the_same_kitchen(self) -> None:
        if not hasattr(self, "world"):
            return
        assert self.world.observation(0) == self.twin.observation(0)
        assert self.world.history == self.twin.history
        assert self.world.positions == self.twin.positions


TestKitchen = Kitchen.TestCase
TestKitchen.settings = settings(deadline=None, max_examples=60, stateful_step_count=30)
