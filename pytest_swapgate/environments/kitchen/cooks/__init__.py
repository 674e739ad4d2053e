"""The simulated cooks: a stand-in for a language model, text in and text out, with known truth.

A cook knows what its prompt and its notebook say and nothing else. `truth` holds the adjustable rates, `reading`
takes prompts apart, `chef` (with its `needs` and its `speech`) and `assistant` decide, `diary` rewrites notebooks,
`model` puts it behind `ChatModel`.
"""

from __future__ import annotations

from pytest_swapgate.environments.kitchen.cooks.model import SimulatedCooks
from pytest_swapgate.environments.kitchen.cooks.truth import Truth

__all__ = ["SimulatedCooks", "Truth"]
