"""Hypothesis strategies for what this package measures: games, paired outcomes, teams.

Public, like ``hypothesis.extra``. Failing examples shrink to few players, small whole
numbers, one union, no edges, empty notebooks; games print as code that makes them again.
"""

from __future__ import annotations

from pytest_swapgate.strategies.games import (
    additive_games,
    float_games,
    games,
    games_with_graphs,
    games_with_null_player,
    games_with_symmetric_players,
    games_with_unions,
    simple_games,
    superadditive_games,
)
from pytest_swapgate.strategies.outcomes import PairedTable, paired_outcomes, paired_tables
from pytest_swapgate.strategies.structures import graphs, unions
from pytest_swapgate.strategies.teams import agents, notebooks, teams

__all__ = [
    "PairedTable",
    "additive_games",
    "agents",
    "float_games",
    "games",
    "games_with_graphs",
    "games_with_null_player",
    "games_with_symmetric_players",
    "games_with_unions",
    "graphs",
    "notebooks",
    "paired_outcomes",
    "paired_tables",
    "simple_games",
    "superadditive_games",
    "teams",
    "unions",
]
