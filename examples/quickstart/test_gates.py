"""A first gate: may the agent in a seat of a formed team be exchanged?"""

import pytest


@pytest.mark.swap_penalty(score=0.05, cost=0.20)
def test_teams_without_conventions_can_rotate(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap())
