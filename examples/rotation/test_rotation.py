"""Before a rotation: may another model take a seat of our formed teams?

    pytest examples/rotation --swapgate-replace chef=simulated:twin        # harmless: passes
    pytest examples/rotation --swapgate-replace chef=simulated:careless    # harmful: fails the build
    pytest examples/rotation                                               # nothing replaced: red, it did not bite
    pytest examples/rotation --swapgate-plan --swapgate-replace chef=openai/gpt-5-mini    # the price, first

With a provider's model the key is read from the environment, as litellm documents it.
"""

import pytest


@pytest.mark.swap_penalty(score=0.05, cost=0.20)
def test_the_replacement_may_take_the_seat(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.replace())
