"""Asking a model: what one call may ask for, and what must come back."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_swapgate.models.base import ChatMessage, ChatModel, Completion
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.retries import is_number
from pytest_swapgate.teams.episode import FailureClass, Usage

NAMED = ("temperature", "max_tokens")
"""Options that every model takes: they are handed over under their own names as well."""
_NOT_OF_A_CALL = frozenset(
    """
    messages model seed stream num_retries max_retries
    api_key api_base base_url headers extra_headers default_headers
    """.split()  # noqa: SIM905
)


def checked_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a call asks for besides its messages and seed; None is nothing, as is an option of None.

    Raises
    ------
    ValueError
        For an option that belongs to the model or to the call itself, a temperature or a length that is none, and
        for what is not plain JSON: it could not be recorded.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ValueError(f"options must be a mapping of names to values, got {options!r}")
    for name in options:
        if name in _NOT_OF_A_CALL:
            raise ValueError(
                f"options must not hold {name!r}, which belongs to the model or is an argument of its own; accepted "
                "are parameters of one request, such as temperature, max_tokens, response_format or extra_body"
            )
    given = {name: value for name, value in options.items() if value is not None}
    temperature, length = given.get("temperature", 0), given.get("max_tokens", 1)
    if not is_number(temperature) or temperature < 0:
        raise ValueError(f"options: temperature must be a number >= 0, got {temperature!r}")
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise ValueError(f"options: max_tokens must be a whole number >= 1, got {length!r}")
    try:
        json.dumps(given, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"options must be plain JSON: {error}") from None
    return given


async def ask_model(
    model: ChatModel,
    messages: Sequence[ChatMessage],
    *,
    name: str,
    seed: int | None,
    temperature: float | None,
    max_tokens: int | None,
    options: Mapping[str, Any],
) -> Completion:
    """Ask a model, anybody's, and return its completion.

    Parameters
    ----------
    name
        What the project calls it; begins what is said of it.

    Raises
    ------
    ModelError
        As the model does; of class configuration if it takes no options and is given some, or is no `ChatModel`
        after all.
    """
    more: dict[str, Any] = {"options": options} if options else {}
    if more and not takes_options(model):
        further = [name for name in options if name not in NAMED]
        if further:
            raise ModelError(
                f"model {name!r} takes no options, and is asked with {', '.join(further)}: let its complete() "
                "have a parameter options=None, or ask without",
                failure=FailureClass.CONFIGURATION,
            )
        more = {}
    complete: Any = model.complete
    answer = complete(messages, seed=seed, temperature=temperature, max_tokens=max_tokens, **more)
    if inspect.isawaitable(answer):
        answer = await answer
        if isinstance(getattr(answer, "usage", None), Usage) and hasattr(answer, "text"):
            completion: Completion = answer
            return completion
        fault = f"must return a Completion, got {type(answer).__name__}"
    else:
        fault = f"must be async, it gave {type(answer).__name__} at once"
    raise ModelError(
        f"model {name!r}: {type(model).__name__}.complete() {fault}", failure=FailureClass.CONFIGURATION
    )


def takes_options(model: ChatModel) -> bool:
    """Whether a model's ``complete`` has the parameter ``options``."""
    try:
        parameters = inspect.signature(model.complete).parameters
    except (TypeError, ValueError):
        return True  # the call itself will say
    return "options" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
