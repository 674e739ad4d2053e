"""An answer as litellm hands it over: what it says, what it consumed, and what is wrong with it."""

from __future__ import annotations

from typing import Any

from pytest_swapgate.models.base import Completion
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.tool_history import malformed_calls
from pytest_swapgate.teams.episode import FailureClass, Usage


def usage_of_answer(response: Any) -> Usage:
    """Return what an answer consumed; the price is None where it or the number of tokens is not known."""
    counts = getattr(response, "usage", None)
    prompt = getattr(counts, "prompt_tokens", 0) or 0
    usd = response._hidden_params.get("response_cost")
    return Usage(
        calls=1,
        prompt_tokens=prompt,
        completion_tokens=getattr(counts, "completion_tokens", 0) or 0,
        usd=None if usd is None or not prompt else float(usd),
    )


def fault_of_answer(response: Any, name: str, *, offered: bool) -> ModelError | None:
    """Return what is wrong with an answer, if anything; ``offered`` says whether the request offered tools."""
    if not getattr(response, "choices", None):
        return ModelError(
            f"{name}: the provider answered without choices", failure=FailureClass.INFRASTRUCTURE
        )
    choice = response.choices[0]
    malformed = malformed_calls(choice.message, offered=offered)
    if malformed:
        return ModelError(
            f"{name}: the provider's answer is malformed: {malformed}", failure=FailureClass.INFRASTRUCTURE
        )
    if choice.message.content is None:
        return ModelError(
            f"{name}: the model answered without text (finish reason: {choice.finish_reason})",
            failure=FailureClass.AGENT,
        )
    return None


def as_completion(response: Any, usage: Usage, name: str) -> Completion:
    """Return a sound answer with what its call consumed."""
    choice = response.choices[0]
    return Completion(
        text=choice.message.content,
        usage=usage,
        model=str(response.model or name),
        finish_reason=str(choice.finish_reason or "stop"),
    )
