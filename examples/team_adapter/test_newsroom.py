"""Gates on a team that lives in another framework. The second one fails: it is there to show a harmful rotation.

pytest examples/team_adapter
"""

import pytest


@pytest.mark.swap_penalty(score=0.10, cost=0.40)
def test_an_editor_may_change_the_newsroom(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap("editor"))


@pytest.mark.swap_penalty(score=0.10, cost=0.40)
def test_the_hasty_model_may_edit(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.replace("editor", model="hasty"))
