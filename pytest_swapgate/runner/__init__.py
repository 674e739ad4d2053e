"""From plans to episodes: teams in chains, or two callables side by side.

`Stage` holds what playing needs; `play_chains` plays teams, `play_callables` plays a user's own arms. Episodes are
read from the evidence file where they are there already, and written to it the moment they finish.
"""

from __future__ import annotations

from pytest_swapgate.runner.blocking import run_blocking
from pytest_swapgate.runner.callables import CallableArm, play_callables
from pytest_swapgate.runner.chains import Chain, play_chains
from pytest_swapgate.runner.errors import ArmError, BudgetReachedError
from pytest_swapgate.runner.purse import Purse
from pytest_swapgate.runner.stage import Stage

__all__ = [
    "ArmError",
    "BudgetReachedError",
    "CallableArm",
    "Chain",
    "Purse",
    "Stage",
    "play_callables",
    "play_chains",
    "run_blocking",
]
