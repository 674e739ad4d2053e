"""A frozen team with models behind its seats, for the length of one episode."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from pytest_swapgate.models.base import ChatMessage, ChatModel, Completion
from pytest_swapgate.teams.episode import Usage
from pytest_swapgate.teams.notebook import Notebook
from pytest_swapgate.teams.team import Agent, Team


class PlayingTeam:
    """What an environment plays with: the team's nouns, and `ask`.

    It counts every call's tokens and price, and keeps the digest of the first request
    that each seat's model was sent, so that no environment has to.

    Attributes
    ----------
    team
        The frozen team.
    usage
        Sum over all calls so far.
    payloads
        Seat -> SHA-256 of its first request (model, parameters, messages).
    """

    def __init__(
        self, team: Team, models: Callable[[str], ChatModel], *, temperature: float | None = None
    ) -> None:
        self.team = team
        self.usage = Usage()
        self.payloads: dict[str, str] = {}
        self._models = models
        self._temperature = temperature

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats, in order."""
        return self.team.seats

    @property
    def announcement(self) -> str:
        """The roster-change announcement; empty for an intact team."""
        return self.team.announcement

    def __getitem__(self, seat: str) -> Agent:
        """Return the occupant of a seat."""
        return self.team[seat]

    def notebook(self, seat: str) -> Notebook:
        """Return the notebook of a seat's occupant."""
        return self.team[seat].notebook

    async def ask(
        self,
        seat: str,
        messages: Sequence[ChatMessage],
        *,
        seed: int | None = None,
        max_tokens: int | None = None,
    ) -> str:
        """Let the occupant of a seat answer, and return its text.

        Parameters
        ----------
        seat
            Who is asked.
        messages
            The whole request. Nothing about conditions, arms or team names belongs in it.
        seed
            Sampling seed, for models that take one.
        max_tokens
            Length limit of the answer.

        Raises
        ------
        ModelError
            When there is no answer; the runner files it under its failure class.
        """
        model = self._models(self.team[seat].model)
        if seat not in self.payloads:
            self.payloads[seat] = payload_digest(model.name, self._temperature, max_tokens, messages)
        completion: Completion = await model.complete(
            messages, seed=seed, temperature=self._temperature, max_tokens=max_tokens
        )
        self.usage = self.usage + completion.usage
        return completion.text


def payload_digest(
    model: str, temperature: float | None, max_tokens: int | None, messages: Sequence[ChatMessage]
) -> str:
    """Return the SHA-256 of a request's components: model, sampling parameters, messages.

    The seed is left out: two requests that differ in it only are the same request, sampled twice.
    Source: the noise-floor paper's audit of payload components.
    """
    parts = [model, temperature, max_tokens, [[m["role"], m["content"]] for m in messages]]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
