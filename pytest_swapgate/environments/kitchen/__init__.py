"""The kitchen: Collab-Overcooked by its published rules, and cooks that can stand in for a language model.

`KitchenEnvironment` is what a gate plays; layout, recipes, references, actions, validator, world and scoring are
the rules; prompts, grammar and play are the conversation; cooks are the simulated players.
"""

from __future__ import annotations

from pytest_swapgate.environments.kitchen.environment import KitchenEnvironment

__all__ = ["KitchenEnvironment"]
