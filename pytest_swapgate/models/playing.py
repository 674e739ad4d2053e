"""A frozen team with models behind its seats, for the length of one episode."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_swapgate.models.asking import ask_model, checked_options
from pytest_swapgate.models.base import ChatMessage, ChatModel, Meter
from pytest_swapgate.models.errors import ModelError, usage_of
from pytest_swapgate.models.tool_history import check_tool_history
from pytest_swapgate.teams.episode import FailureClass, Usage
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
        Seat -> SHA-256 of the first request (model, parameters, messages) that its model was sent here; where an
        environment thinks by itself, of the occupant that it looked at.
    """

    def __init__(
        self,
        team: Team,
        models: Callable[[str], ChatModel],
        *,
        temperature: float | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.team = team
        self.usage = Usage()
        self._asked: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self._models = models
        self._temperature = temperature
        self._meter = meter

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats, in order."""
        return self.team.seats

    @property
    def payloads(self) -> dict[str, str]:
        """Seat -> digest of what its occupant was first shown."""
        return {**self._seen, **self._asked}

    @property
    def announcement(self) -> str:
        """The roster-change announcement; empty for an intact team."""
        return self.team.announcement

    def __getitem__(self, seat: str) -> Agent:
        """Return the occupant of a seat."""
        agent = self.team[seat]
        if seat not in self._seen:
            looked_at = [
                ChatMessage(role="occupant", content=part) for part in (agent.notebook.render(), agent.state)
            ]
            self._seen[seat] = payload_digest(agent.model, None, None, looked_at)
        return agent

    def notebook(self, seat: str) -> Notebook:
        """Return the notebook of a seat's occupant."""
        return self[seat].notebook

    async def ask(
        self,
        seat: str,
        messages: Sequence[ChatMessage],
        *,
        seed: int | None = None,
        max_tokens: int | None = None,
        options: Mapping[str, Any] | None = None,
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
        options
            Further parameters of this one request, plain JSON, such as
            ``{"temperature": 0.2, "extra_body": {"grammar": ...}}``; they go before the model's own. They are part
            of what is recorded and audited. For the evidence file they are part of the environment, as its prompts
            are: of its code and attributes, or of its own ``digest``.

        Raises
        ------
        ModelError
            When there is no answer, or the tool calls in the messages do not match their results, or the model takes
            no such options; the runner files it under its failure class.
        ValueError
            For an option that is not one of a request.
        """
        check_tool_history(messages)
        asked = checked_options(options)
        if max_tokens is not None and "max_tokens" in asked:
            raise ValueError(f"max_tokens is given twice, as {max_tokens!r} and in options: give it once")
        temperature, length = asked.get("temperature", self._temperature), asked.get("max_tokens", max_tokens)
        name = self.team[seat].model
        model = self._models(name)
        if self._meter is not None:
            self._meter.before()
        if seat not in self._asked:
            self._asked[seat] = payload_digest(
                _who(model, name), temperature, length, messages, options=asked
            )
        try:
            completion = await ask_model(
                model,
                messages,
                name=name,
                seed=seed,
                temperature=temperature,
                max_tokens=length,
                options=asked,
            )
        except BaseException as error:  # a call that is cancelled was made all the same
            self._book(usage_of(error))
            raise
        self._book(completion.usage)
        text: Any = completion.text
        if not isinstance(text, str):
            raise ModelError(f"{model.name}: the model answered without text", failure=FailureClass.AGENT)
        return _unicode(text)

    def _book(self, usage: Usage) -> None:
        self.usage = self.usage + usage
        if self._meter is not None:
            self._meter.after(usage)


def _unicode(text: str) -> str:
    """Return a text that any file takes: half a surrogate pair, as broken JSON escapes leave it, becomes '?'."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _who(model: ChatModel, name: str) -> str:
    """Return who is asked: two names of one model with the same settings are the same."""
    digest = getattr(model, "digest", "")
    return f"{digest} {getattr(model, 'address', '')}" if digest else name


def payload_digest(
    model: str,
    temperature: float | None,
    max_tokens: int | None,
    messages: Sequence[ChatMessage],
    *,
    options: Mapping[str, Any] | None = None,
) -> str:
    """Return the SHA-256 of a request's components: model, sampling parameters, messages, options.

    The seed is left out: two requests that differ in it only are the same request, sampled twice.
    Source: the noise-floor paper's audit of payload components.
    """
    parts: list[Any] = [model, temperature, max_tokens, [[m["role"], m["content"]] for m in messages]]
    if options:
        parts.append(dict(options))
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
