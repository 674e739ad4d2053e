"""Cooperative games: coalition tables in, values out (numpy only).

`Game` holds worths by bitmask; values, estimates under a budget, intervals and the
properties of games are functions of it. Nothing here knows of teams or models.
"""

from __future__ import annotations

from pytest_swapgate.games.coalitions import METHODS, coalitions_needed, coalitions_read, coalitions_to_ask
from pytest_swapgate.games.game import Coalition, Game
from pytest_swapgate.games.intervals import (
    Comparison,
    compare_players,
    compare_tasks,
    mean_interval,
    value_intervals,
)
from pytest_swapgate.games.myerson_value import myerson
from pytest_swapgate.games.owen_value import owen
from pytest_swapgate.games.pair import tax, two_player_shares
from pytest_swapgate.games.permutations import PermutationEstimate, permutation_shapley
from pytest_swapgate.games.properties import (
    Property,
    is_convex,
    is_max_superadditive,
    is_monotone,
    is_superadditive,
)
from pytest_swapgate.games.ranks import normalised_entropy, rank_agreement, ranking
from pytest_swapgate.games.regression import RegressionEstimate, regression_budget, regression_shapley
from pytest_swapgate.games.replicates import Replicates, allocate_replicates, influence
from pytest_swapgate.games.top_k_curve import TopK, compare_top_k, top_k
from pytest_swapgate.games.values import banzhaf, leave_one_out, shapley

__all__ = [
    "METHODS",
    "Coalition",
    "Comparison",
    "Game",
    "PermutationEstimate",
    "Property",
    "RegressionEstimate",
    "Replicates",
    "TopK",
    "allocate_replicates",
    "banzhaf",
    "coalitions_needed",
    "coalitions_read",
    "coalitions_to_ask",
    "compare_players",
    "compare_tasks",
    "compare_top_k",
    "influence",
    "is_convex",
    "is_max_superadditive",
    "is_monotone",
    "is_superadditive",
    "leave_one_out",
    "mean_interval",
    "myerson",
    "normalised_entropy",
    "owen",
    "permutation_shapley",
    "rank_agreement",
    "ranking",
    "regression_budget",
    "regression_shapley",
    "shapley",
    "tax",
    "top_k",
    "two_player_shares",
    "value_intervals",
]
