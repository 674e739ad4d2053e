"""The gate on one's own environment: the same fixtures, another `swapgate_environment` in conftest.py.

pytest examples/own_environment
"""

import pytest


@pytest.mark.swap_penalty(score=0.15, cost=0.40)
def test_a_shop_may_change_its_warehouse(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap("store"))
