"""Notebooks, agents and teams: always valid, shrinking to plain ones."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from pytest_swapgate.strategies import agents, notebooks, teams
from pytest_swapgate.teams import Notebook, Team

MODEST = settings(deadline=None, max_examples=30)


@MODEST
@given(notebooks(), notebooks(budget=12, empty=False), notebooks(notes=st.just("Ask first.")))
def test_notebook_is_over_its_budget_or_empty(free, small, given_notes):
    assert free.tokens <= 200
    assert small.tokens <= 12
    assert small.task_notes
    assert small.partner_notes
    assert (given_notes.task_notes, given_notes.partner_notes) == ("Ask first.", "Ask first.")
    assert Notebook.parse(free.render()).task_notes == free.task_notes


@MODEST
@given(teams(("a", "b", "c"), models=("m",)), teams())
def test_team_has_other_seats_or_models(three, two):
    assert three.seats == ("a", "b", "c")
    assert {agent.model for agent in three.agents} == {"m"}
    assert two.seats == ("planner", "executor")
    assert two.announcement == ""
    assert Team.model_validate_json(two.model_dump_json()) == two


def test_failing_team_shrinks_badly():
    plain = settings(deadline=None, database=None, derandomize=True)
    team = find(teams(), lambda _: True, settings=plain)
    assert team.id == "team-0"
    assert all(agent.notebook.empty and agent.model == "simulated/a" for agent in team.agents)
    noted = find(notebooks(), lambda notebook: not notebook.empty, settings=plain)
    assert sorted((noted.task_notes, noted.partner_notes)) == ["", "wait."]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: notebooks(budget=0), "budget must be a whole number >= 1, got 0"),
        (lambda: notebooks(budget=True), "got True"),
        (lambda: agents(""), "seat must be a non-empty string"),
        (lambda: agents("a", models=[]), r"models must be at least 1 distinct, non-empty string\(s\)"),
        (lambda: teams(["a"]), "seats must be at least 2 distinct"),
        (lambda: teams(["a", "a"]), "seats must be at least 2 distinct"),
        (lambda: teams("ab"), "seats must be"),
        (lambda: teams(["a", 1]), "seats must be"),
    ],
)
def test_wrong_argument_is_accepted(make, says):
    with pytest.raises(ValueError, match=says):
        make()
