"""Episodes, usage, tasks: what may be recorded, and what user code may return."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.teams import Agent, Episode, FailureClass, Message, Notebook, Task, Team, Usage
from pytest_swapgate.teams.outcome import OutcomeError, as_episode


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 1.0000001, -0.01, None, "high"])
def test_score_outside_0_1_is_no_episode(score):
    with pytest.raises(ValueError, match="score"):
        Episode(score=score)


@pytest.mark.parametrize("field", [{"subtasks": math.nan}, {"subtasks": -1}, {"metrics": {"x": math.nan}}])
def test_other_figures_are_finite_too(field):
    with pytest.raises(ValueError, match=next(iter(field))):
        Episode(score=0.5, **field)


def test_success_follows_the_score_unless_said():
    assert Episode(score=1).success
    assert Episode(score=1.0).success
    assert not Episode(score=0.999).success
    assert not Episode(score=1, success=False).success
    assert Episode(score=0.4, success=True).success
    assert Episode(score=1, success=None).success


@pytest.mark.parametrize("failure", [None, *FailureClass])
def test_only_the_agents_own_failure_counts(failure):
    assert Episode(score=0, failure=failure).counts == (failure in (None, FailureClass.AGENT))


def test_episode_survives_its_way_through_a_file():
    episode = Episode(
        score=0.25,
        messages=(Message(sender="a", text="é\n水", kind="request", step=3),),
        subtasks=2.5,
        active=True,
        usage=Usage(calls=2, prompt_tokens=5, usd=None),
        failure=FailureClass.AGENT,
        notebooks={"a": Notebook(task_notes="x", cut=2)},
        states={"a": "{}"},
        events=("e",),
        payloads={"a": "0"},
        metrics={"m": 1.5},
    )
    assert Episode.model_validate_json(episode.model_dump_json()) == episode


usages = st.builds(
    Usage,
    calls=st.integers(0, 9),
    prompt_tokens=st.integers(0, 99),
    completion_tokens=st.integers(0, 99),
    usd=st.one_of(st.none(), st.integers(0, 64).map(lambda n: n / 64)),
)


@given(usages, usages, usages)
@settings(deadline=None, max_examples=60)
def test_usage_adds_up_and_an_unknown_price_stays_unknown(one, two, three):
    total = one + two + three
    assert total == one + (two + three)
    assert total == three + two + one
    assert total.calls == one.calls + two.calls + three.calls
    assert total.tokens == one.tokens + two.tokens + three.tokens
    known = [u.usd for u in (one, two, three)]
    assert total.usd == (None if None in known else sum(known))
    assert one + Usage() == one


@pytest.mark.parametrize("field", [{"calls": -1}, {"usd": -0.1}, {"usd": math.nan}, {"prompt_tokens": 1.5}])
def test_usage_refuses_what_cannot_be(field):
    with pytest.raises(ValueError, match=next(iter(field))):
        Usage(**field)


@pytest.mark.parametrize("data", [{"x": math.nan}, {"x": {1, 2}}, {"x": object()}, {"x": [b"raw"]}])
def test_task_refuses_data_that_no_key_can_hold(data):
    with pytest.raises(ValueError, match="data must hold plain JSON values"):
        Task(id="t", data=data)


def test_task_keeps_nested_plain_data():
    data = {"a": [1, 2.5, None, {"b": "c"}], "d": True}
    assert Task(id="t", data=data).data == data
    with pytest.raises(ValueError, match="split"):
        Task(id="t", split="test")
    with pytest.raises(ValueError, match="id"):
        Task(id="")


def test_team_after_an_episode_holds_what_its_agents_learned():
    team = Team(id="t", agents=(Agent(seat="a", model="m", state="s"), Agent(seat="b", model="m")))
    learned = Notebook(task_notes="x")
    after = team.after(Episode(score=1, notebooks={"a": learned, "ghost": learned}, states={"b": "t"}))
    assert after["a"].notebook == learned
    assert after["a"].state == "s"
    assert (after["b"].notebook, after["b"].state) == (Notebook(), "t")
    assert team["a"].notebook.empty
    assert team.after(Episode(score=0)) == team


# What a user's function returns.


@pytest.mark.parametrize(
    ("outcome", "score", "success"),
    [
        (True, 1.0, True),
        (False, 0.0, False),
        (np.bool_(True), 1.0, True),
        (0, 0.0, False),
        (1, 1.0, True),
        (0.25, 0.25, False),
        (np.float32(0.5), 0.5, False),
        (np.int64(1), 1.0, True),
    ],
)
def test_plain_outcomes_become_episodes(outcome, score, success):
    episode = as_episode(outcome, "the arm")
    assert (episode.score, episode.success) == (score, success)


def test_an_episode_is_taken_as_it_is():
    episode = Episode(score=0.5)
    assert as_episode(episode, "the arm") is episode


@pytest.mark.parametrize("outcome", [math.nan, math.inf, 1.01, -1e-9, None, "0.5", [1], 2, 1j])
def test_what_is_no_outcome_is_refused_in_one_line(outcome):
    with pytest.raises(
        OutcomeError,
        match=r"^the arm returned .*: accepted are an Episode, a score in \[0, 1\] or True/False$",
    ):
        as_episode(outcome, "the arm")


def test_forgotten_return_is_named():
    with pytest.raises(OutcomeError, match="no return statement"):
        as_episode(None, "the arm")


def test_forgotten_await_is_named_and_leaves_no_warning():
    async def arm():
        return True

    with pytest.raises(OutcomeError, match="not awaited: write 'return await"):
        as_episode(arm(), "the arm")
