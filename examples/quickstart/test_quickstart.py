"""Twelve simulated teams of two cooks form, then trade an agent. No key, no network, a few seconds.

pytest examples/quickstart
"""

import pytest


@pytest.mark.swap_penalty(score=0.15, cost=1.20)
def test_we_can_afford_a_rotation(placebo_baseline, formed_teams, paired_runner):
    """Trade an agent between teams: at most 15 points of score, and 2.2 times the messages per sub-task."""
    paired_runner(placebo_baseline, formed_teams.swap())


def test_what_a_rotation_costs_and_why(swap_study):
    """Play all six conditions; the table is printed at the end of the run."""
    study = swap_study()
    assert study["Pi_C"].interval.low > 0, "trading an agent makes these teams talk more"
