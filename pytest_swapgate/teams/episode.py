"""What is played and what came of it: tasks, messages, usage, episodes."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from pytest_swapgate.teams.frozen import Frozen
from pytest_swapgate.teams.notebook import Notebook

Split = Literal["formation", "held_out"]


class FailureClass(StrEnum):
    """Who is to blame when an episode has no honest outcome.

    Only ``AGENT`` counts against the agent; every other class is reported apart.
    """

    AGENT = "agent"
    ENVIRONMENT = "environment"
    JUDGE = "judge"
    CONFIGURATION = "configuration"
    INFRASTRUCTURE = "infrastructure"
    HARNESS = "harness"


class Task(Frozen):
    """One thing to play.

    Attributes
    ----------
    id
        Unique inside its environment.
    split
        ``formation`` (teams form on it) or ``held_out`` (teams are measured on it).
    data
        What the environment needs to set the task up; plain JSON values, for they enter the key
        under which an episode is kept.
    """

    id: str = Field(min_length=1)
    split: Split = "held_out"
    data: dict[str, Any] = Field(default_factory=dict)

    @field_validator("data")
    @classmethod
    def _plain(cls, data: dict[str, Any]) -> dict[str, Any]:
        try:
            json.dumps(data, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"data must hold plain JSON values (None, bool, int, float, str, list, dict): {error}"
            ) from error
        return data


class Message(Frozen):
    """One utterance from a seat to the rest of its team.

    Attributes
    ----------
    sender
        The seat that spoke.
    text
        What was said.
    kind
        What the message does (for example ``request``, ``correction``), as the
        environment's rule reads it; empty when the environment does not say.
    step
        The environment's clock when it was said.
    """

    sender: str = Field(min_length=1)
    text: str
    kind: str = ""
    step: int = Field(default=0, ge=0)


class Usage(Frozen):
    """What model calls consumed.

    Attributes
    ----------
    calls, prompt_tokens, completion_tokens
        Counts over every attempt, failed ones included.
    usd
        Price in US dollars; None when any part of it is unknown (never "free").
    """

    calls: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    usd: Annotated[float, Field(ge=0)] | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Add two usages; an unknown price makes the sum unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            usd=usd,
        )

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


class Episode(Frozen):
    """The outcome of one team (or one callable) on one task.

    Attributes
    ----------
    score
        Task score in [0, 1].
    success
        Whether the task was solved; defaults to ``score == 1``.
    messages
        What was said between the seats, in order.
    subtasks
        Completed sub-tasks (any unit of progress, such as points); the denominator of cost.
    active
        Whether the team's coordination store was non-empty when the episode began;
        None when the system has no such store.
    task_id, seed
        Filled in by the runner.
    usage
        Model calls, tokens and price.
    failure, error
        Set when the episode has no honest outcome; ``score`` is then meaningless.
    lost_attempts
        Times it was played before and lost to the infrastructure; filled in by the runner.
    notebooks
        Seat -> notebook after the episode.
    states
        Seat -> opaque state after the episode, for occupants of another framework.
    events
        What happened, as the environment tells the agents afterwards; they write their notebooks from it.
    payloads
        Seat -> SHA-256 of the first request that this seat's model was sent.
    metrics
        Further figures of the environment.
    """

    score: float = Field(ge=0, le=1)
    success: bool = False
    messages: tuple[Message, ...] = ()
    subtasks: float = Field(default=0, ge=0)
    active: bool | None = None
    task_id: str = ""
    seed: int = 0
    usage: Usage = Usage()
    failure: FailureClass | None = None
    error: str = ""
    lost_attempts: int = Field(default=0, ge=0)
    notebooks: dict[str, Notebook] = Field(default_factory=dict)
    states: dict[str, str] = Field(default_factory=dict)
    events: tuple[str, ...] = ()
    payloads: dict[str, str] = Field(default_factory=dict)
    metrics: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _success_from_score(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("success") is None:
            score = data.get("score")
            data = {**data, "success": isinstance(score, int | float) and score == 1}
        return data

    @property
    def counts(self) -> bool:
        """Whether this episode is an honest outcome (the agent's own failures are)."""
        return self.failure is None or self.failure is FailureClass.AGENT

    def replayed_as(self, *, task_id: str, seed: int) -> Self:
        """Return a copy that carries the runner's task and seed."""
        return self.model_copy(update={"task_id": task_id, "seed": seed})
