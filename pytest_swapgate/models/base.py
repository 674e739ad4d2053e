"""The protocol of a model, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypedDict, runtime_checkable

from pytest_swapgate.teams.episode import Usage


class ChatMessage(TypedDict):
    """One message of a request: ``role`` is system, user or assistant."""

    role: str
    content: str


class Completion(NamedTuple):
    """What a model answered.

    Attributes
    ----------
    text
        The answer.
    usage
        Tokens and price of this answer, every attempt included.
    model
        The model that really answered, as it named itself.
    finish_reason
        Why it ended (``stop``, ``length``, ...).
    """

    text: str
    usage: Usage
    model: str
    finish_reason: str = "stop"


class Meter(Protocol):
    """Looks on while a team's models are called, so that a cap holds between two calls of one episode."""

    def before(self) -> None:
        """Let a call start, or raise what says that none may."""
        ...

    def after(self, usage: Usage) -> None:
        """Book what a call consumed; every call that `before` let start is booked, also one without an answer."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """Anything that turns messages into words.

    Attributes
    ----------
    name
        Stable name; part of the fingerprint of the agents that it thinks for.
    """

    name: str

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        seed: int | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Completion:
        """Answer the messages.

        Raises
        ------
        ModelError
            With its failure class, when there is no answer.
        """
        ...
