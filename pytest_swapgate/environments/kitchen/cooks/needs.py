"""What the chef needs on the counter: asked for, lying there, taken."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_swapgate.environments.kitchen.cooks.language import hear
from pytest_swapgate.environments.kitchen.cooks.reading import Mind, Need, Situation
from pytest_swapgate.environments.kitchen.cooks.skills import knows
from pytest_swapgate.environments.kitchen.cooks.truth import Truth


@dataclass(frozen=True, slots=True)
class Needs:
    """How the chef's needs stand in one turn; attributes as of the chef."""

    mind: Mind
    now: Situation
    truth: Truth
    seed: str

    def obtained(self, need: Need) -> bool:
        """Whether the chef has taken the item."""
        return f"pickup({need.item}, counter)" in self.now.done

    def asked(self, need: Need) -> int | None:
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

    def here(self, need: Need) -> bool:
        """Whether the item is on a counter, or was."""
        return need.item in self.now.counter or need.item in self.now.own_counter or self.obtained(need)

    def possible(self, need: Need) -> bool:
        """Whether the assistant could do it now: what the chef has to hand over first must lie there."""
        return need.target not in self.mind.exports or need.target in self.now.counter

    def waited_for(self) -> Need | None:
        """Return what was asked for last and is not here yet."""
        latest: tuple[int, Need] | None = None
        for need in self.mind.needs:
            asked = self.asked(need)
            if asked is not None and not self.here(need) and (latest is None or asked >= latest[0]):
                latest = (asked, need)
        return latest[1] if latest else None

    def may_take(self, need: Need) -> bool:
        """Whether an item lies there and, where a signal is agreed, was called."""
        if need.item not in self.now.counter and need.item not in self.now.own_counter:
            return False
        if self.obtained(need):
            return False
        if not self.mind.agreements.signal:
            return True
        return any(
            line.seat != "chef"
            and hear(line.text).act in ("signal", "report", "there")
            and need.item in line.text
            for line in self.now.transcript
        )

    def minds_dish(self) -> bool:
        """Whether the chef thinks of the dish: from its notes, or because it just failed without."""
        known = knows("serve", self.mind, self.truth, self.seed) or "only on a dish" in self.now.feedback
        return known or any(self.asked(need) is not None for need in self.mind.needs if need.item == "dish")
