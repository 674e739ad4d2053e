"""What the simulated chef says: requests, corrections, proposals, replies."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_swapgate.environments.kitchen.cooks import language as words
from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.environments.kitchen.cooks.language import hear
from pytest_swapgate.environments.kitchen.cooks.needs import Needs
from pytest_swapgate.environments.kitchen.cooks.reading import CHEF_UTENSILS, Mind, Need, Situation
from pytest_swapgate.environments.kitchen.cooks.skills import actions_for
from pytest_swapgate.environments.kitchen.cooks.truth import Truth

ALLOWED = {"cut": 17, "mash": 19, "fetch": 10, "dish": 11}
"""Steps the chef gives a request before it asks again."""
REPAIR_AFTER = 3
"""Steps a wrong item may lie on the counter before the chef corrects the request."""
COIN = 0.8
"""Chance, at full convention strength, that a request coins a word or a habit."""


@dataclass(frozen=True, slots=True)
class Speech:
    """The chef's words in one turn; attributes as of the chef."""

    mind: Mind
    now: Situation
    truth: Truth
    chance: Chance
    needs: Needs

    def call(self) -> tuple[str, str]:
        """Return what to ask for now, in words and as a formal request."""
        open_need: Need | None = None
        next_need: Need | None = None
        for need in self.mind.needs:
            asked = self.needs.asked(need)
            if asked is None:
                if next_need is None and not self.needs.here(need) and self.needs.possible(need):
                    next_need = need
            elif not self.needs.here(need):
                open_need = need
        if open_need is not None:
            return self._chase(open_need)
        uncalled = self._uncalled()
        if uncalled is not None:
            habit = words.define_signal(self.mind.agreements.signal)
            return f"Again: is the {uncalled.item} there? {habit}", ""
        if next_need is None:
            return "", ""
        if next_need.meaning == "dish" and not (self._dish_is_due() and self.needs.minds_dish()):
            return "", ""
        return self._request(next_need), _formal(next_need)

    def reply(self) -> str:
        """Return the answer to what was just said, empty for none."""
        last = self.now.transcript[-1]
        heard = hear(last.text)
        known = self.mind.agreements
        if heard.act == "question" and heard.word:
            return self._explain(heard.word)
        if heard.act in ("question", "stuck"):
            need = self.needs.waited_for()
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

    def _uncalled(self) -> Need | None:
        """Return an item that lies there but was never called, after waiting for the agreed signal."""
        if not self.mind.agreements.signal or self.now.hand:
            return None
        for need in self.mind.needs:
            asked = self.needs.asked(need)
            if asked is not None and not self.needs.obtained(need) and need.item in self.now.counter:
                if (
                    need.item == "dish"
                    or self.needs.may_take(need)
                    or self.now.step - asked < ALLOWED[need.meaning]
                ):
                    continue
                return need
        return None

    def _dish_is_due(self) -> bool:
        if not self.mind.agreements.dish_unasked:
            return True
        recipe = self.mind.recipe
        return recipe is not None and any(
            self.now.utensils[name].product == recipe.product and self.now.utensils[name].ready
            for name in CHEF_UTENSILS
        )

    def _chase(self, need: Need) -> tuple[str, str]:
        asked = self.needs.asked(need)
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

    def _explain(self, word: str) -> str:
        known = self.mind.agreements
        if word == known.place:
            return words.define_place(word)
        need = self.needs.waited_for()
        if need is None:
            return ""
        meaning = known.meaning_of(word)
        definition = words.define_code(word, meaning) + " " if meaning else ""
        return definition + self._plain(need)


def _formal(need: Need) -> str:
    return "; ".join(f"request('{action}')" for action in actions_for(need.meaning, need.target))
