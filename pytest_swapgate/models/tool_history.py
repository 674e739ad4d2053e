"""Tool calls in a conversation: what no provider takes, and what no provider should send."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.teams.episode import FailureClass


def check_tool_history(messages: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a conversation whose tool calls and results do not match one to one, in place.

    litellm sends such a history as it is; some providers refuse it, others answer something. Neither is the
    agent's doing.

    Raises
    ------
    ModelError
        Of class infrastructure, naming the message.
    """
    open_calls: list[Any] = []
    for number, message in enumerate(messages, start=1):
        role = message.get("role")
        if role == "tool":
            call = message.get("tool_call_id")
            if call not in open_calls:
                raise _malformed(f"message {number} is the result of a tool call {call!r} that is not open")
            open_calls.remove(call)
            continue
        if open_calls:
            raise _malformed(f"message {number} comes before the result of tool call {open_calls[0]!r}")
        if role == "assistant":
            open_calls = [_id(call, number) for call in message.get("tool_calls") or ()]
            if len(set(open_calls)) != len(open_calls):
                raise _malformed(f"message {number} makes two tool calls under one id")
    if open_calls:
        raise _malformed(f"the result of tool call {open_calls[0]!r} is missing")


def malformed_calls(message: Any, *, offered: bool) -> str:
    """Return what is wrong with the tool calls of an answer, empty if nothing.

    Parameters
    ----------
    message
        The answer's message, as litellm hands it over.
    offered
        Whether the request offered tools.
    """
    calls = getattr(message, "tool_calls", None) or ()
    if calls and not offered:
        return "it calls a tool although none was offered"
    for call in calls:
        function = getattr(call, "function", None)
        if not getattr(function, "name", None):
            return "it calls a tool without a name"
        try:
            arguments = json.loads(getattr(function, "arguments", None) or "{}")
        except ValueError:
            return "the arguments of a tool call are not JSON"
        if not isinstance(arguments, dict):
            return "the arguments of a tool call are no object"
    return ""


def _id(call: Any, number: int) -> str:
    name = call.get("id") if isinstance(call, Mapping) else getattr(call, "id", None)
    if not isinstance(name, str) or not name:
        raise _malformed(f"message {number} makes a tool call without an id")
    return name


def _malformed(what: str) -> ModelError:
    return ModelError(f"malformed tool history: {what}", failure=FailureClass.INFRASTRUCTURE)
