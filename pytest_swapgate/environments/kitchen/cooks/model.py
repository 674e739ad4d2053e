"""The simulated cooks behind the interface of a language model."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_swapgate.environments.kitchen.cooks.assistant import Assistant
from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.environments.kitchen.cooks.chef import Chef
from pytest_swapgate.environments.kitchen.cooks.diary import rewrite
from pytest_swapgate.environments.kitchen.cooks.reading import informed, read_mind, read_situation
from pytest_swapgate.environments.kitchen.cooks.truth import Truth
from pytest_swapgate.environments.kitchen.grammar import format_turn
from pytest_swapgate.models.base import ChatMessage, Completion
from pytest_swapgate.teams.episode import Usage


class SimulatedCooks:
    """A `ChatModel` that cooks.

    It sees the messages and the sampling seed; condition, arm and team never reach it. Its prices are
    zero; its tokens are estimated at four characters each.

    Parameters
    ----------
    name
        ``simulated``, ``simulated:VARIANT`` or ``simulated:NAME=NUMBER,...`` (see `Truth.parse`).
    """

    def __init__(self, name: str = "simulated") -> None:
        self.truth = Truth.parse(name)
        self.name = name
        # Another model samples other words from the same prompt and seed.
        self._sampler = "" if name == "simulated" else f"{name}/"

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        seed: int | None = None,
        temperature: float | None = None,  # noqa: ARG002
        max_tokens: int | None = None,  # noqa: ARG002
    ) -> Completion:
        """Answer a turn request or a request to rewrite a notebook."""
        system, prompt = messages[0]["content"], messages[-1]["content"]
        text = self.answer(system, prompt, f"{self._sampler}{seed}")
        usage = Usage(
            calls=1, prompt_tokens=(len(system) + len(prompt)) // 4, completion_tokens=len(text) // 4
        )
        return Completion(text=text, usage=usage, model=self.name)

    def answer(self, system: str, prompt: str, seed: str) -> str:
        """Return the words for a system prompt, a user prompt and a seed, and nothing else."""
        chance = Chance(seed, system, prompt)
        if "Rewrite your notebook" in prompt:
            return rewrite(system, prompt, self.truth, chance)
        now = read_situation(prompt)
        mind = informed(read_mind(system), now)
        cook = (Chef if mind.seat == "chef" else Assistant)(mind, now, self.truth, chance, seed)
        plan, say = cook.turn()
        return format_turn(mind.seat, plan, say)
