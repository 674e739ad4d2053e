"""Outages in a user's own code: told from its faults, played again, lost, never an agent's failure."""

from __future__ import annotations

import anyio
import httpx
import openai
import pytest
from runner_samples import Talk, make_chain, make_stage

from pytest_swapgate.runner import ArmError, CallableArm, play_callables, play_chains
from pytest_swapgate.runner.outages import outage
from pytest_swapgate.teams import FailureClass

REQUEST = httpx.Request("POST", "http://x")


def refused(status):
    made = {401: openai.AuthenticationError, 429: openai.RateLimitError, 500: openai.InternalServerError}
    return made[status]("no", response=httpx.Response(status, request=REQUEST), body=None)


OUTAGES = [
    TimeoutError(),
    TimeoutError("late"),
    ConnectionResetError("gone"),
    httpx.ReadTimeout("late"),
    httpx.RemoteProtocolError("cut"),
    openai.APIConnectionError(request=REQUEST),
    openai.APITimeoutError(request=REQUEST),
    refused(429),
    refused(500),
]


@pytest.mark.parametrize("error", OUTAGES, ids=lambda e: type(e).__name__)
def test_outages_are_infrastructure(error):
    found = outage(error, "the arm")
    assert found.failure is FailureClass.INFRASTRUCTURE
    assert str(found).startswith("the arm: ")
    assert "\n" not in str(found)


@pytest.mark.parametrize("error", [KeyError("x"), ValueError(), httpx.InvalidURL("x"), OSError("disk full")])
def test_faults_of_the_users_code_are_none(error):
    assert outage(error, "the arm") is None


def test_wrong_key_is_configuration():
    assert outage(refused(401), "the arm").failure is FailureClass.CONFIGURATION


def play(arm):
    stage = make_stage()

    async def calm(task, seed):
        return True

    arms = CallableArm("baseline", "g", calm, None), CallableArm("candidate", "g", arm, None)

    async def work():
        return await play_callables(stage, *arms, ["a", "b"], trials=1, seed=0)

    return anyio.run(work), stage


def test_pair_whose_arm_meets_an_outage_is_played_again():
    failing = [TimeoutError(), refused(429)]

    async def arm(task, seed):
        if failing:
            raise failing.pop()
        return True

    pairs, stage = play(arm)
    assert [pair.candidate.failure for pair in pairs] == [None, None]
    assert stage.purse.lost == {"infrastructure": 2}


def test_pair_that_stays_lost_is_infrastructure():
    async def arm(task, seed):
        if task == "a":
            raise ConnectionError("gone")
        return True

    pairs, stage = play(arm)
    assert [pair.candidate.failure for pair in pairs] == [FailureClass.INFRASTRUCTURE, None]
    assert stage.purse.lost == {"infrastructure": 3}


def test_wrong_key_in_an_arm_stops_at_once():
    async def arm(task, seed):
        raise refused(401)

    with pytest.raises(ArmError, match="check the key") as caught:
        play(arm)
    assert caught.value.failure is FailureClass.CONFIGURATION


def test_environment_that_meets_an_outage_itself_is_played_again():
    class Own(Talk):
        failing = 1

        async def play(self, team, task, seed):
            if Own.failing:
                Own.failing -= 1
                raise refused(500)
            return await super().play(team, task, seed)

    stage = make_stage(environment=Own())
    [[(episodes, _)]] = anyio.run(play_chains, stage, [[make_chain(trials=1)]])
    assert episodes[0].counts
    assert stage.purse.lost == {"infrastructure": 1}
