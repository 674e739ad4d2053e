"""The nouns: tasks, messages, episodes, notebooks, agents, teams.

Everything here is frozen; a team after a roster change is another team.
Roster changes are pure functions; nothing in this package plays.
"""

from __future__ import annotations

from pytest_swapgate.teams.episode import Episode, FailureClass, Message, Task, Usage
from pytest_swapgate.teams.fingerprint import BiteError, agent_fingerprint, prove_bite, team_fingerprint
from pytest_swapgate.teams.notebook import Notebook, count_tokens
from pytest_swapgate.teams.pairs import role_matched_pairs
from pytest_swapgate.teams.roster import (
    Condition,
    RosterChange,
    amnesia,
    intact,
    naive,
    placebo,
    replace,
    swap,
    swap_cleared,
)
from pytest_swapgate.teams.team import Agent, Team

__all__ = [
    "Agent",
    "BiteError",
    "Condition",
    "Episode",
    "FailureClass",
    "Message",
    "Notebook",
    "RosterChange",
    "Task",
    "Team",
    "Usage",
    "agent_fingerprint",
    "amnesia",
    "count_tokens",
    "intact",
    "naive",
    "placebo",
    "prove_bite",
    "replace",
    "role_matched_pairs",
    "swap",
    "swap_cleared",
    "team_fingerprint",
]
