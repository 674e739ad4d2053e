"""The default path, end to end: real kitchen tasks, simulated cooks, a replacement named on the command line."""

from __future__ import annotations

import pytest
from support.example import INI, Example

ROTATION = """
@pytest.mark.swap_penalty(score=0.08, cost=0.50, score_sd=0.03)
def test_rotation(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.replace())
"""


@pytest.fixture
def kitchen(folder):
    ini = INI + "swapgate_teams = 6\nswapgate_formation = 3\nswapgate_trials = 3\n"
    return Example(folder, {"pytest.ini": ini}).with_test(ROTATION)


def test_a_harmful_cook_fails_and_an_unchanged_seat_did_not_bite(kitchen, run):
    harmful = run(kitchen, "--swapgate-replace", "chef=simulated:noise=20,skill=0").assert_ends(1, failed=1)
    harmful.assert_says(
        "replace(chef, model=simulated:noise=20,skill=0) against placebo(chef)",
        "6 teams, 18 pairs of episodes",
        "model simulated, simulated:noise=20,skill=0 (simulated: a stand-in, not a language model)",
    )
    harmful.assert_line(r"cost +harm .*FAIL|score +harm .*FAIL")
    unchanged = run(kitchen, "--swapgate-replace", "chef=simulated").assert_ends(1, failed=1)
    unchanged.assert_says(
        "swapgate error: the change did not bite:", "give another one"
    ).assert_no_traceback_of_ours()
    unknown = run(kitchen, "--swapgate-replace", "waiter=simulated:noise=20,skill=0").assert_ends(1, failed=1)
    unknown.assert_says("seat must be one of chef, assistant")
