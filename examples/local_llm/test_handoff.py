"""Real models in the seats: may a 135M model take the helper's seat in a team of 0.5B models?

    pytest examples/local_llm -k itself                                              # must exit 0
    pytest examples/local_llm -k helper --swapgate-replace helper=openai/smollm2-135m    # must exit 1
"""

import pytest


@pytest.mark.swap_penalty(score=0.20, cost=None, discordance=0.2)
def test_the_team_is_no_worse_than_itself(play, swapgate_environment, paired_runner):
    """A/A: the same team on the same tasks; nothing differs but the sampling seed."""

    async def today(task, seed):
        return await play(task, seed)

    async def today_again(task, seed):
        return await play(task, seed + 1)

    paired_runner(today, today_again, swapgate_environment.tasks("held_out"))


@pytest.mark.swap_penalty(score=0.20, cost=None, score_sd=0.14)
def test_the_helper_may_be_replaced(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.replace("helper"))
