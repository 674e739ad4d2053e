"""The simulated chef: has the recipe, cooks, and asks for what it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.environments.kitchen.cooks.needs import Needs
from pytest_swapgate.environments.kitchen.cooks.reading import CHEF_UTENSILS, Making, Mind, Recipe, Situation
from pytest_swapgate.environments.kitchen.cooks.skills import FUMBLE, knows
from pytest_swapgate.environments.kitchen.cooks.speech import Speech
from pytest_swapgate.environments.kitchen.cooks.truth import Truth


@dataclass(slots=True)
class Chef:
    """One turn of the chef.

    Attributes
    ----------
    mind, now
        What the prompt says.
    truth
        Rates of the simulation.
    chance
        Draws of this turn.
    seed
        Seed of the episode, for draws that must be the same in every turn.
    """

    mind: Mind
    now: Situation
    truth: Truth
    chance: Chance
    seed: str
    needs: Needs = field(init=False)

    def __post_init__(self) -> None:
        self.needs = Needs(self.mind, self.now, self.truth, self.seed)

    def turn(self) -> tuple[str, str]:
        """Return plan and utterance."""
        speech = Speech(self.mind, self.now, self.truth, self.chance, self.needs)
        if self.now.replying:
            return "", speech.reply()
        plan = self._work()
        say, request = speech.call() if not plan or self._looks_ahead() else ("", "")
        if not plan:
            plan = f"wait({2 if self.chance.happens(0.7) else 1})"
        return (f"{plan}; {request}" if request else plan), say

    def _looks_ahead(self) -> bool:
        """Whether the chef asks for the next thing while it has work itself."""
        return knows("ahead", self.mind, self.truth, self.seed)

    # What to do with the hands.

    def _work(self) -> str:
        recipe, now = self.mind.recipe, self.now
        if recipe is None:
            return ""
        if now.hand:
            return self._with_item(recipe, now.hand)
        for name in CHEF_UTENSILS:
            utensil = now.utensils[name]
            if utensil.product and utensil.product == recipe.product:
                return self._serve(recipe, name, utensil.ready)
            if utensil.product and utensil.ready:
                return self._take(recipe, utensil.product, name)
        for need in self.mind.needs:
            if need.item != "dish" and self.needs.may_take(need):
                return f"pickup({need.item}, counter); {self._with_item(recipe, need.item)}"
        for name in CHEF_UTENSILS:  # loaded but not started: a slip, or a plan cut short
            utensil = now.utensils[name]
            making = next((m for m in recipe.own if m.utensil == name), None)
            if making and utensil.contents and sorted(utensil.contents) == sorted(making.inputs):
                return f"{making.verb}({name})"
        return ""

    def _with_item(self, recipe: Recipe, item: str) -> str:
        if item.startswith("dish:") or (item == recipe.product and not recipe.on_dish):
            return "deliver_soup()"
        if item == "dish":
            for name in CHEF_UTENSILS:
                if self.now.utensils[name].product == recipe.product:
                    return f"fill_dish_with_food({name}); deliver_soup()"
            return "place_obj_on_counter()"
        for making in recipe.own:
            inside = self.now.utensils[making.utensil].contents
            if item in making.inputs and item not in inside:
                steps = [f"put_obj_in_utensil({making.utensil})"]
                if sorted((*inside, item)) == sorted(making.inputs):
                    steps += self._start(recipe, making)
                return "; ".join(steps)
        return "place_obj_on_counter()"

    def _start(self, recipe: Recipe, making: Making) -> list[str]:
        """Start a utensil; without the task note a cook may wait for it to cook by itself."""
        if self._slips(making.verb):
            return ["wait(5)", "wait(4)", f"pickup({making.product}, {making.utensil})"]
        steps = [f"{making.verb}({making.utensil})"]
        if recipe.product != making.product:  # the cook stays with it: what comes out is needed elsewhere
            steps.append(self._take(recipe, making.product, making.utensil))
        return steps

    def _slips(self, skill: str) -> bool:
        return not knows(skill, self.mind, self.truth, self.seed) and self.chance.happens(FUMBLE)

    def _take(self, recipe: Recipe, product: str, utensil: str) -> str:
        follow = self._with_item(recipe, product)
        return f"pickup({product}, {utensil}); {follow}"

    def _serve(self, recipe: Recipe, utensil: str, ready: bool) -> str:
        if not recipe.on_dish:
            return f"pickup({recipe.product}, {utensil}); deliver_soup()" if ready else ""
        if not self.needs.minds_dish():
            return f"pickup({recipe.product}, {utensil})" if ready else ""
        if "dish" in self.now.counter or "dish" in self.now.own_counter:
            return f"pickup(dish, counter); fill_dish_with_food({utensil}); deliver_soup()"
        return ""
