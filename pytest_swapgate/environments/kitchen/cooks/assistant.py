"""The simulated assistant: reads requests through its own notes, fetches, cuts, mashes, reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pytest_swapgate.environments.kitchen.cooks import language as words
from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.environments.kitchen.cooks.language import Heard, hear
from pytest_swapgate.environments.kitchen.cooks.reading import CHEF_UTENSILS, Mind, Situation, Spoken
from pytest_swapgate.environments.kitchen.cooks.skills import FUMBLE, actions_for, knows, product_of
from pytest_swapgate.environments.kitchen.cooks.speech import COIN
from pytest_swapgate.environments.kitchen.cooks.truth import Truth

MISREAD_PLAIN = 0.17
"""Chance, at noise 1, of taking plain words for something else."""
MISREAD_CODE = 0.015
"""The same for an agreed word."""
ASKS = 0.6
"""Chance of asking about an unknown word; else the cook guesses."""


class Job(NamedTuple):
    """A request as this cook understood it."""

    meaning: str
    target: str
    step: int


@dataclass(slots=True)
class Assistant:
    """One turn of the assistant; attributes as of the chef."""

    mind: Mind
    now: Situation
    truth: Truth
    chance: Chance
    seed: str

    def turn(self) -> tuple[str, str]:
        """Return plan and utterance."""
        if self.now.replying:
            return self._reply()
        if self._stuck():
            return "wait(2)", "That does not work. What do you need?"
        job = self._job()
        if job is not None:
            return self._plan(job), ""
        report = self._report()
        if report:
            return "wait(1)", report
        if self._brings_dish():
            return "; ".join(self._steps("dish", "dish")), ""
        if self.now.hand:
            return "place_obj_on_counter()", ""
        return f"wait({2 if self.chance.happens(0.7) else 1})", ""

    def _stuck(self) -> bool:
        """Whether what was asked for, as understood, just proved impossible."""
        job, feedback = self._latest(), self.now.feedback
        if job is None or not feedback:
            return False
        product = product_of(job.meaning, job.target)
        return "match no recipe" in feedback or f"no {product} ready" in feedback or "must name" in feedback

    # Understanding.

    def _understood(self, line: Spoken, heard: Heard) -> Job | None:
        """Read a request through one's own notes; the same words are read the same way all episode long."""
        stable = Chance(self.seed, line.text, str(line.step))
        if heard.act == "request":
            odds = MISREAD_PLAIN * self.truth.noise
            meaning = heard.meaning
            if heard.prefix or heard.proposal.codes:
                odds *= 0.3
        elif heard.act == "code":
            odds = MISREAD_CODE * self.truth.noise
            meaning = self._sense(heard)
            if not meaning:
                return (
                    None
                    if stable.happens(ASKS)
                    else Job(stable.pick(words.MEANINGS), heard.target, line.step)
                )
        else:
            return None
        if stable.happens(min(odds, 0.9)):
            meaning = stable.pick([m for m in words.MEANINGS if m not in (meaning, "dish")])
        if heard.target == "dish":
            meaning = "dish"
        return Job(meaning, heard.target, line.step)

    def _sense(self, heard: Heard) -> str:
        """Return what a coined word means to this cook, empty if unknown or if it makes no sense of the thing named."""
        meaning = self.mind.agreements.meaning_of(heard.word)
        return meaning if (meaning == "dish") == (heard.target == "dish") else ""

    def _jobs(self) -> list[Job]:
        found: list[Job] = []
        for line in self.now.transcript:
            if line.seat == "chef":
                job = self._understood(line, hear(line.text))
                if job is not None:
                    found.append(job)
        return found

    def _latest(self) -> Job | None:
        jobs = self._jobs()
        return jobs[-1] if jobs else None

    def _finished(self, job: Job) -> bool:
        """Whether the thing was handed over: its last pickup was followed by a placing."""
        last = actions_for(job.meaning, job.target)[-2]
        done = self.now.done
        if last not in done:
            return False
        return "place_obj_on_counter()" in done[len(done) - 1 - done[::-1].index(last) :]

    def _job(self) -> Job | None:
        latest = self._latest()
        return latest if latest is not None and not self._finished(latest) else None

    # Doing.

    def _plan(self, job: Job) -> str:
        return "; ".join(self._steps(job.meaning, job.target))

    def _steps(self, meaning: str, target: str) -> list[str]:
        """Return what is left to do from the state at hand, with the mistakes of a cook who lacks the note."""
        product = product_of(meaning, target)
        hand = self.now.hand
        if hand == product:
            return ["place_obj_on_counter()"]
        if hand and hand != target:
            return ["place_obj_on_counter()", *self._slip(meaning, target, actions_for(meaning, target))]
        steps = actions_for(meaning, target)
        if meaning in ("cut", "mash"):
            utensil = self.now.utensils["chopping_board0" if meaning == "cut" else "blender0"]
            if utensil.product == product:
                return steps[3:]
            if target in utensil.contents:
                return steps[2:]
        if hand == target:
            return steps[1:]
        if target in self.now.counter and steps[0].endswith("ingredient_dispenser)"):
            steps[0] = f"pickup({target}, counter)"
        return self._slip(meaning, target, steps)

    def _slip(self, meaning: str, target: str, steps: list[str]) -> list[str]:
        if (
            self.now.feedback
            or knows(meaning, self.mind, self.truth, self.seed)
            or not self.chance.happens(FUMBLE)
        ):
            return steps
        if meaning in ("fetch", "dish"):
            return [f"pickup({target}, counter)", *steps]
        utensil = "chopping_board0" if meaning == "cut" else "blender0"
        return [*steps[:3], "wait(5)", "wait(4)", f"pickup({target}, {utensil})"]

    def _brings_dish(self) -> bool:
        if not self.mind.agreements.dish_unasked or "dish" in self.now.counter or self.now.hand:
            return False
        if "pickup(dish, dish_dispenser)" in self.now.done:
            return False
        return any(
            self.now.utensils[name].product.endswith(("_soup", "_stew", "_patty")) for name in CHEF_UTENSILS
        )

    # Talking.

    def _report(self) -> str:
        """Report what was just handed over, in the agreed way, once."""
        job = self._latest()
        known = self.mind.agreements
        if job is None or known.silent:
            return ""
        product = product_of(job.meaning, job.target)
        if any(
            line.seat != "chef" and product in line.text and line.step > job.step
            for line in self.now.transcript
        ):
            return ""
        if known.signal:
            return f"{known.signal.capitalize()} {product}."
        order = known.order or words.ORDERS[0]
        coined = ""
        if self.chance.happens(COIN * self.truth.strength * 0.7):
            if known.order is None and self.chance.happens(0.4):
                order = self.chance.pick(words.ORDERS[1:])
                coined = " " + words.define_order(order)
            else:
                coined = " " + words.define_signal(self.chance.pick(words.SIGNALS))
        return words.plain_report(product, known.place or "counter", self.now.step, order) + coined

    def _reply(self) -> tuple[str, str]:
        line = self.now.transcript[-1]
        heard = hear(line.text)
        known = self.mind.agreements
        if heard.act == "question":
            return "", self._explain(heard.word)
        if heard.act == "code" and not self._sense(heard) and self._understood(line, heard) is None:
            return "", f'What does "{heard.word}" mean?'
        job = self._understood(line, heard)
        if job is None:
            if line.text.startswith("Again: is the "):
                return "", self._confirm_there(line.text.split()[3])
            return "", ""
        if self._puzzled_by(heard):
            return "", f'What does "{heard.place}" mean?'
        if self._finished(job) and heard.prefix == "again":
            return "", self._confirm_there(product_of(job.meaning, job.target))
        plan = self._plan(job)
        if known.unconfirmed or heard.proposal.unconfirmed:
            return plan, ""
        return plan, f"Understood, {job.meaning} {job.target}."

    def _puzzled_by(self, heard: Heard) -> bool:
        """Whether an unknown name for the counter makes this cook ask."""
        strange = heard.place not in ("", "the counter", self.mind.agreements.place)
        return strange and not heard.proposal.place and Chance(self.seed, heard.place).happens(0.5)

    def _confirm_there(self, item: str) -> str:
        return f"The {item} is on the counter." if item in self.now.counter else ""

    def _explain(self, word: str) -> str:
        known = self.mind.agreements
        if word and word == known.signal:
            return words.define_signal(word)
        if word and word == known.place:
            return words.define_place(word)
        job = self._latest()
        return f"The {product_of(job.meaning, job.target)} is on the counter." if job else ""
