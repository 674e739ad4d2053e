"""The simulated chef: has the recipe, asks for things, cooks, repairs misunderstandings."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_swapgate.environments.kitchen.cooks import language as words
from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.environments.kitchen.cooks.language import hear
from pytest_swapgate.environments.kitchen.cooks.reading import (
    CHEF_UTENSILS,
    Making,
    Mind,
    Need,
    Recipe,
    Situation,
)
from pytest_swapgate.environments.kitchen.cooks.skills import FUMBLE, actions_for, knows
from pytest_swapgate.environments.kitchen.cooks.truth import Truth

ALLOWED = {"cut": 17, "mash": 19, "fetch": 10, "dish": 11}
"""Steps the chef gives a request before it asks again."""
SIGNAL_AFTER = {"cut": 14, "mash": 15, "fetch": 8, "dish": 9}
"""Steps the chef waits for an agreed signal before it asks whether the thing is there."""
REPAIR_AFTER = 3
"""Steps a wrong item may lie on the counter before the chef corrects the request."""
COIN = 0.8
"""Chance, at full convention strength, that a request coins a word or a habit."""


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

    def turn(self) -> tuple[str, str]:
        """Return plan and utterance."""
        if self.now.replying:
            return "", self._reply()
        plan = self._work()
        say, request = self._call() if not plan or self._looks_ahead() else ("", "")
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
            if need.item != "dish" and self._may_take(need):
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
        if not self._minds_dish():
            return f"pickup({recipe.product}, {utensil})" if ready else ""
        if "dish" in self.now.counter or "dish" in self.now.own_counter:
            return f"pickup(dish, counter); fill_dish_with_food({utensil}); deliver_soup()"
        return ""

    def _minds_dish(self) -> bool:
        """Whether the chef thinks of the dish: from its notes, or because it just failed without."""
        known = knows("serve", self.mind, self.truth, self.seed) or "only on a dish" in self.now.feedback
        return known or any(self._asked(need) is not None for need in self.mind.needs if need.item == "dish")

    def _may_take(self, need: Need) -> bool:
        """Whether an item lies there and, where a signal is agreed, was called."""
        if need.item not in self.now.counter and need.item not in self.now.own_counter:
            return False
        if self._obtained(need):
            return False
        if not self.mind.agreements.signal:
            return True
        return any(
            line.seat != "chef"
            and hear(line.text).act in ("signal", "report", "there")
            and need.item in line.text
            for line in self.now.transcript
        )

    # What to say.

    def _obtained(self, need: Need) -> bool:
        return f"pickup({need.item}, counter)" in self.now.done

    def _asked(self, need: Need) -> int | None:
        """Return the step of the latest request for something, as the chef remembers its own words."""
        latest = None
        for line in self.now.transcript:
            if line.seat == "chef":
                heard = hear(line.text)
                meaning = heard.meaning or self.mind.agreements.meaning_of(heard.word)
                if heard.act in ("request", "code") and (meaning, heard.target) == (
                    need.meaning,
                    need.target,
                ):
                    latest = line.step
        return latest

    def _here(self, need: Need) -> bool:
        return need.item in self.now.counter or need.item in self.now.own_counter or self._obtained(need)

    def _call(self) -> tuple[str, str]:
        """Return what to ask for now, in words and as a formal request."""
        open_need: Need | None = None
        next_need: Need | None = None
        for need in self.mind.needs:
            asked = self._asked(need)
            if asked is None:
                if next_need is None and not self._here(need) and self._possible(need):
                    next_need = need
            elif not self._here(need):
                open_need = need
        if open_need is not None:
            return self._chase(open_need)
        uncalled = self._uncalled()
        if uncalled is not None:
            habit = words.define_signal(self.mind.agreements.signal)
            return f"Again: is the {uncalled.item} there? {habit}", ""
        if next_need is None:
            return "", ""
        if next_need.meaning == "dish" and not (self._dish_is_due() and self._minds_dish()):
            return "", ""
        return self._request(next_need), _formal(next_need)

    def _uncalled(self) -> Need | None:
        """Return an item that lies there but was never called, after waiting for the agreed signal."""
        if not self.mind.agreements.signal or self.now.hand:
            return None
        for need in self.mind.needs:
            asked = self._asked(need)
            if asked is not None and not self._obtained(need) and need.item in self.now.counter:
                if (
                    need.item == "dish"
                    or self._may_take(need)
                    or self.now.step - asked < ALLOWED[need.meaning]
                ):
                    continue
                return need
        return None

    def _possible(self, need: Need) -> bool:
        """Whether the assistant could do it now: what the chef has to hand over first must lie there."""
        return need.target not in self.mind.exports or need.target in self.now.counter

    def _dish_is_due(self) -> bool:
        if not self.mind.agreements.dish_unasked:
            return True
        recipe = self.mind.recipe
        return recipe is not None and any(
            self.now.utensils[name].product == recipe.product and self.now.utensils[name].ready
            for name in CHEF_UTENSILS
        )

    def _chase(self, need: Need) -> tuple[str, str]:
        asked = self._asked(need)
        age = self.now.step - (asked or 0)
        wanted = {n.item for n in self.mind.needs} | set(self.mind.exports)
        if age >= REPAIR_AFTER and (self.now.notice or any(item not in wanted for item in self.now.counter)):
            recent = any(
                line.seat == "chef"
                and line.step > self.now.step - ALLOWED[need.meaning]
                and line.text.startswith("Correction")
                for line in self.now.transcript
            )
            if not recent:
                return f"Correction: {self._plain(need)}", _formal(need)
        if age > ALLOWED[need.meaning]:
            return f"Again: {self._plain(need)}", _formal(need)
        return "", ""

    def _request(self, need: Need) -> str:
        word = self.mind.agreements.word_for(need.meaning)
        if word:
            return f"{word.capitalize()} {need.target}."
        return self._plain(need) + self._coin(need)

    def _plain(self, need: Need) -> str:
        return words.plain_request(need.meaning, need.target, self.mind.agreements.place or "the counter")

    def _coin(self, need: Need) -> str:
        """Perhaps propose a word or a habit along with a request."""
        known = self.mind.agreements
        if not self.chance.happens(COIN * self.truth.strength):
            return ""
        options = [words.define_code(self._fresh_word(), need.meaning)] * 3
        if not known.unconfirmed:
            options.append(words.NO_CONFIRM)
        if not known.dish_unasked and self.mind.recipe is not None and self.mind.recipe.on_dish:
            options.append(words.DISH_UNASKED)
        if not known.place:
            options.append(words.define_place(self.chance.pick(words.PLACES)))
        return " " + self.chance.pick(options)

    def _fresh_word(self) -> str:
        taken = dict(self.mind.agreements.codes)
        free = [word for word in words.CODE_WORDS if word not in taken] or list(words.CODE_WORDS)
        return self.chance.pick(free)

    def _reply(self) -> str:
        last = self.now.transcript[-1]
        heard = hear(last.text)
        known = self.mind.agreements
        if heard.act == "question" and heard.word:
            return self._explain(heard.word)
        if heard.act in ("question", "stuck"):
            need = self._open()
            return f"Correction: {self._plain(need)}" if need else ""
        if heard.act == "signal" and heard.word != known.signal and not heard.proposal.signal:
            return f'What does "{heard.word}" mean?' if self.chance.happens(0.8) else ""
        if heard.act == "report":
            if heard.order not in (words.ORDERS[0], known.order) and not heard.proposal.order:
                return "Which of these is the item?" if self.chance.happens(0.6) else ""
            if not known.signal and self.chance.happens(COIN * self.truth.strength * 0.5):
                return words.NO_REPORT
            if not known.signal and not known.silent:
                return "Thank you, I have seen it."
        if heard.act == "confirm" and self.chance.happens(COIN * self.truth.strength * 0.5):
            return words.NO_CONFIRM
        return ""

    def _explain(self, word: str) -> str:
        known = self.mind.agreements
        if word == known.place:
            return words.define_place(word)
        need = self._open()
        if need is None:
            return ""
        meaning = known.meaning_of(word)
        definition = words.define_code(word, meaning) + " " if meaning else ""
        return definition + self._plain(need)

    def _open(self) -> Need | None:
        """Return what was asked for last and is not here yet."""
        latest: tuple[int, Need] | None = None
        for need in self.mind.needs:
            asked = self._asked(need)
            if asked is not None and not self._here(need) and (latest is None or asked >= latest[0]):
                latest = (asked, need)
        return latest[1] if latest else None


def _formal(need: Need) -> str:
    return "; ".join(f"request('{action}')" for action in actions_for(need.meaning, need.target))
