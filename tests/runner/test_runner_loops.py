"""Plain code, event loops and what an exception says about its place."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import threading

import anyio
import pytest
from runner_samples import make_chain, make_stage

from pytest_swapgate.models import ModelError
from pytest_swapgate.runner import (
    ArmError,
    BudgetReachedError,
    CallableArm,
    play_callables,
    play_chains,
    run_blocking,
)
from pytest_swapgate.runner.blocking import inside_event_loop
from pytest_swapgate.runner.errors import leading, where_raised
from pytest_swapgate.teams import BiteError, Episode, FailureClass

BACKENDS = ["asyncio", *(["trio"] if importlib.util.find_spec("trio") else [])]


@pytest.mark.parametrize("backend", BACKENDS)
def test_chains_and_callables_play_under_each_event_loop(backend, tmp_path):
    async def arm(task, seed):
        await anyio.sleep(0)
        return task == "a"

    async def other(task, seed):
        return True

    async def work():
        stage = make_stage()
        chains = await play_chains(stage, [[make_chain()], [make_chain()]])
        arms = [
            CallableArm(role, "g", call, None) for role, call in (("baseline", arm), ("candidate", other))
        ]
        return chains, await play_callables(stage, *arms, ["a", "b", "c"], trials=2, seed=1)

    chains, pairs = anyio.run(work, backend=backend)
    assert [e.score for e in chains[1][0][0]] == [1.0] * 3
    assert [pair.baseline.score for pair in pairs] == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_running_event_loop_is_seen(backend):
    async def work():
        return inside_event_loop()

    assert not inside_event_loop()
    assert anyio.run(work, backend=backend)
    assert not inside_event_loop()


@pytest.mark.parametrize("leaving", [False, True])
def test_async_work_is_run_from_plain_code(leaving):
    async def work():
        await anyio.sleep(0)
        return 7

    async def fail():
        raise ArmError("plain")

    async def skip():
        pytest.skip("not today")

    assert run_blocking(work, leaving_threads=leaving) == 7
    with pytest.raises(ArmError, match="plain"):
        run_blocking(fail, leaving_threads=leaving)
    with pytest.raises(pytest.skip.Exception, match="not today"):
        run_blocking(skip, leaving_threads=leaving)


@pytest.mark.parametrize("leaving", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_async_work_is_run_aside_where_a_loop_runs_already(backend, leaving):
    async def work():
        return 7

    async def outer():
        return run_blocking(work, leaving_threads=leaving)

    assert anyio.run(outer, backend=backend) == 7


@pytest.mark.parametrize("leaving", [False, True])
@pytest.mark.parametrize("aside", [False, True])
def test_ctrl_c_ends_work_also_where_it_runs_aside(aside, leaving):
    ended = threading.Event()

    async def work():
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
        try:
            await anyio.sleep(60)
        finally:
            ended.set()

    async def outer():
        run_blocking(work, leaving_threads=leaving)

    with pytest.raises(KeyboardInterrupt):
        anyio.run(outer) if aside else run_blocking(work, leaving_threads=leaving)
    assert ended.wait(60)


def test_what_is_no_exception_passes_plain_from_aside():
    async def work():
        pytest.skip("not today")

    async def outer():
        run_blocking(work)

    with pytest.raises(BaseException, match="not today") as caught:
        anyio.run(outer)
    assert type(caught.value).__name__ == "Skipped"


# Where it was raised.


def caught(function):
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("it raised nothing")


def own_fault():
    raise KeyError("seat")


def fault_in_the_library():
    json.loads("{")


def fault_in_a_noun():
    Episode(score=2.0)


def silent_fault():
    raise RuntimeError


@pytest.mark.parametrize(
    ("function", "start"),
    [
        (own_fault, "KeyError: 'seat' (test_runner_loops.py:"),
        (fault_in_the_library, "JSONDecodeError: Expecting property name"),
        (
            fault_in_a_noun,
            "ValidationError: Episode.score: Input should be less than or equal to 1 (test_runner_loops.py:",
        ),
        (silent_fault, "RuntimeError (test_runner_loops.py:"),
    ],
)
def test_place_is_the_users_own_line(function, start):
    text = where_raised(caught(function))
    assert text.startswith(start)
    line = int(text.rpartition("test_runner_loops.py:")[2].rstrip(")"))
    assert line == function.__code__.co_firstlineno + 1


def test_long_and_many_lined_messages_are_cut():
    def fault():
        raise ValueError("x" * 1000 + "\nsecond")

    text = where_raised(caught(fault))
    assert "\n" not in text
    assert len(text) < 400


def test_exception_that_was_never_raised_has_no_place():
    assert where_raised(ValueError("odd")) == "ValueError: odd"


def test_place_of_a_group_is_that_of_its_leading_member():
    group = ExceptionGroup("many", [caught(own_fault), ValueError("later")])
    assert where_raised(group).startswith("KeyError: 'seat' (test_runner_loops.py:")


LOST = ModelError("gone", failure=FailureClass.INFRASTRUCTURE)
KEY = ModelError("key", failure=FailureClass.CONFIGURATION)
FAULT = ValueError("mine")


@pytest.mark.parametrize(
    ("members", "first"),
    [
        ([LOST], LOST),
        ([LOST, FAULT], FAULT),
        ([LOST, KEY], KEY),
        ([LOST, FAULT, stop := BudgetReachedError("cap")], stop),
        ([FAULT, bite := BiteError("same")], bite),
        ([FAULT, arm := ArmError("arm")], arm),
    ],
)
def test_what_must_stop_the_run_leads_a_group(members, first):
    assert leading(ExceptionGroup("g", members)) is first
    assert leading(ExceptionGroup("g", [ExceptionGroup("inner", members)])) is first


def test_single_exception_leads_itself():
    assert leading(FAULT) is FAULT
