"""The protocol of a model, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypedDict, runtime_checkable

from pytest_swapgate.teams.episode import Usage

SIMULATED = "simulated"


def is_simulated(name: str) -> bool:
    """Whether a name says that the model is a stand-in: ``simulated`` or ``simulated:variant``."""
    return name == SIMULATED or name.startswith(SIMULATED + ":")


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
        Stable name; part of the fingerprint of the agents that it thinks for, and shown in reports. One that begins
        with ``simulated`` says that the model is a stand-in.

    Notes
    -----
    A model may say and take more; each is optional:

    ``digest: str``
        Identity of its settings for the evidence file: another digest is played again. A model without one is played
        again when anything in the project changes.
    ``options: Mapping[str, Any] | None = None``
        A further parameter of ``complete``: what an environment's ``team.ask(..., options=...)`` asks of this one
        call. A ``temperature`` or ``max_tokens`` in it is handed over under its own name as well. A model without
        the parameter is refused where others are asked for.
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
