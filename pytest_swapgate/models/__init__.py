"""Where an agent's words come from.

`ChatModel` is the one protocol; LiteLLM speaks to providers, simulated players live
beside their environment. A `PlayingTeam` is a frozen team whose agents can be asked.
"""

from __future__ import annotations

from pytest_swapgate.models.base import ChatMessage, ChatModel, Completion
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.playing import PlayingTeam

__all__ = ["ChatMessage", "ChatModel", "Completion", "ModelError", "PlayingTeam"]
