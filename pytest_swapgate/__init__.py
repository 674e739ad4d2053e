"""A pytest release gate for teams of LLM agents.

Public names are imported from here, on first use: the plugin must cost nothing to a run without gates.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_swapgate.environments import AdaptedEnvironment, Environment, TeamAdapter
    from pytest_swapgate.environments.kitchen import KitchenEnvironment
    from pytest_swapgate.models import ChatMessage, ChatModel, Completion, ModelError, PlayingTeam
    from pytest_swapgate.models.litellm_model import LiteLLMModel
    from pytest_swapgate.teams import (
        Agent,
        Condition,
        Episode,
        FailureClass,
        Message,
        Notebook,
        Task,
        Team,
        Usage,
    )

__version__ = "0.1.0"

_HOME = {
    "AdaptedEnvironment": "pytest_swapgate.environments",
    "Agent": "pytest_swapgate.teams",
    "ChatMessage": "pytest_swapgate.models",
    "ChatModel": "pytest_swapgate.models",
    "Completion": "pytest_swapgate.models",
    "Condition": "pytest_swapgate.teams",
    "Environment": "pytest_swapgate.environments",
    "Episode": "pytest_swapgate.teams",
    "FailureClass": "pytest_swapgate.teams",
    "KitchenEnvironment": "pytest_swapgate.environments.kitchen",
    "LiteLLMModel": "pytest_swapgate.models.litellm_model",
    "Message": "pytest_swapgate.teams",
    "ModelError": "pytest_swapgate.models",
    "Notebook": "pytest_swapgate.teams",
    "PlayingTeam": "pytest_swapgate.models",
    "Task": "pytest_swapgate.teams",
    "Team": "pytest_swapgate.teams",
    "TeamAdapter": "pytest_swapgate.environments",
    "Usage": "pytest_swapgate.teams",
}

__all__ = [
    "AdaptedEnvironment",
    "Agent",
    "ChatMessage",
    "ChatModel",
    "Completion",
    "Condition",
    "Environment",
    "Episode",
    "FailureClass",
    "KitchenEnvironment",
    "LiteLLMModel",
    "Message",
    "ModelError",
    "Notebook",
    "PlayingTeam",
    "Task",
    "Team",
    "TeamAdapter",
    "Usage",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
