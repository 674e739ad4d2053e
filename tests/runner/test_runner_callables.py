"""A user's own two functions, side by side: pairing, seeds, order, failures, evidence."""

from __future__ import annotations

import functools
import json
import threading

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runner_samples import make_stage

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models import ModelError
from pytest_swapgate.runner import ArmError, BudgetReachedError, CallableArm, Purse, play_callables
from pytest_swapgate.runner.callables import task_ids
from pytest_swapgate.runner.episodes import REPLAYS
from pytest_swapgate.teams import Episode, FailureClass, Task, Usage

TASKS = ["alpha", "beta", "gamma", "delta"]


def play(baseline, candidate, tasks=TASKS, *, trials=1, seed=0, stage=None, identity=None, **more):
    arms = [
        CallableArm(role, "gate", call, identity)
        for role, call in (("baseline", baseline), ("candidate", candidate))
    ]
    stage = stage or make_stage()
    return anyio.run(functools.partial(play_callables, stage, *arms, tasks, trials=trials, seed=seed, **more))


def recorded(calls, outcome=True):
    def arm(task, seed):
        calls.append((task, seed))
        return outcome

    return arm


def recorded_async(calls, outcome=True):
    async def arm(task, seed):
        calls.append((task, seed))
        await anyio.sleep(0)
        return outcome

    return arm


class CalledAsync:
    """An object that is called like an async function."""

    def __init__(self, calls):
        self.calls = calls

    async def __call__(self, task, seed):
        self.calls.append((task, seed))
        await anyio.sleep(0)
        return True


KINDS = {
    "plain": (recorded, recorded),
    "async": (recorded_async, recorded_async),
    "mixed": (recorded, recorded_async),
    "objects": (CalledAsync, CalledAsync),
    "partial": (
        lambda calls: functools.partial(recorded_async(calls)),
        lambda calls: functools.partial(recorded(calls)),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_both_arms_get_every_task_with_the_same_seed(kind):
    first, second = [], []
    outcomes = play(KINDS[kind][0](first), KINDS[kind][1](second), trials=3)
    assert sorted(first) == sorted(second)
    assert len(set(first)) == 12
    assert [(o.task_id, o.trial) for o in outcomes] == [(task, trial) for task in TASKS for trial in range(3)]
    for outcome in outcomes:
        assert outcome.baseline.seed == outcome.candidate.seed
        assert (outcome.task_id, outcome.baseline.seed) in first
    assert all(isinstance(seed, int) and type(seed) is int for _, seed in first)


def test_seeds_follow_the_root_and_not_the_arms():
    def seeds(root, trials=2):
        calls = []
        play(recorded(calls), recorded([]), seed=root, trials=trials)
        return sorted(calls)

    assert seeds(1) == seeds(1)
    assert seeds(1) != seeds(2)
    # More trials keep the first ones, so that evidence is found again.
    assert set(seeds(1, trials=2)) < set(seeds(1, trials=3))


def test_arm_that_goes_first_is_drawn_for_each_pair():
    order = []
    play(
        lambda task, seed: order.append("b") or True,
        lambda task, seed: order.append("c") or True,
        [str(i) for i in range(200)],
    )
    firsts = order[::2]
    assert 70 < firsts.count("b") < 130
    assert [{a, b} for a, b in zip(order[::2], order[1::2], strict=True)] == [{"b", "c"}] * 200


def test_tasks_are_played_in_random_order_trial_by_trial():
    calls = []
    tasks = [str(i) for i in range(30)]
    play(recorded(calls), recorded([]), tasks, trials=2)
    order = [task for task, _ in calls]
    assert sorted(order[:30]) == sorted(order[30:]) == sorted(tasks)
    assert order[:30] != tasks
    assert order[:30] != order[30:]


def test_plain_functions_run_one_after_the_other_in_one_thread():
    threads = set()
    play(lambda task, seed: threads.add(threading.get_ident()) or True, lambda task, seed: False)
    assert len(threads) == 1


@pytest.mark.parametrize("concurrency", [1, 4])
def test_async_pairs_run_side_by_side_up_to_the_limit(concurrency):
    running, most = [0], [0]

    async def arm(task, seed):
        running[0] += 1
        most[0] = max(most[0], running[0])
        await anyio.sleep(0.002)
        running[0] -= 1
        return True

    async def other(task, seed):
        return await arm(task, seed)

    play(arm, other, [str(i) for i in range(12)], stage=make_stage(concurrency=concurrency))
    assert most[0] == concurrency


def test_outcomes_become_episodes():
    episode = Episode(score=0.5, subtasks=3, usage=Usage(calls=2))
    [first, *_] = play(lambda task, seed: episode, lambda task, seed: np.float64(0.25))
    assert first.baseline == episode.replayed_as(task_id="alpha", seed=first.baseline.seed)
    assert (first.candidate.score, first.candidate.success) == (0.25, False)


def test_played_looks_stop_in_time():
    seen = []

    def stop(outcomes):
        seen.append(len(outcomes))
        return len(outcomes) >= 4

    outcomes = play(recorded([]), recorded([]), [str(i) for i in range(9)], looks=(2, 4, 6, 9), stop=stop)
    assert seen == [2, 4]
    assert len(outcomes) == 4


# Names of tasks.


class Named:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    ("tasks", "names"),
    [
        (["a", "b"], ["a", "b"]),
        ([{"id": "x"}, {"name": "y"}, {"id": 7}], ["x", "y", "7"]),
        ([Task(id="t")], ["t"]),
        ([Named(id="i"), Named(name="n"), Named()], ["i", "n", "task-2"]),
        ([1, 2.5, None, ("a",)], ["task-0", "task-1", "task-2", "task-3"]),
        (["a", "a", "a"], ["a", "a#1", "a#2"]),
        (["a", "a#2", "a"], ["a", "a#2", "a#2#2"]),
        (["", {"id": ""}], ["task-0", "task-1"]),
        (["task-1", 5], ["task-1", "task-1#1"]),
        ([{"id": 0}, {"id": False, "name": "x"}], ["0", "task-1"]),
    ],
)
def test_tasks_are_named_by_what_they_are(tasks, names):
    assert task_ids(tasks) == names


@given(st.lists(st.sampled_from(["a", "a#1", "a#2", "a#1#2", "task-3", "", 3, None]), max_size=12))
@settings(deadline=None, max_examples=100)
def test_no_two_tasks_share_a_name(tasks):
    names = task_ids(tasks)
    assert len(set(names)) == len(tasks)
    assert all(names)


# What stops a run.


def broken(task, seed):
    if task == "gamma":
        json.loads("{")
    return True


async def broken_async(task, seed):
    await anyio.sleep(0)
    return broken(task, seed)


@pytest.mark.parametrize("arm", [broken, broken_async])
@pytest.mark.parametrize("role", ["baseline", "candidate"])
def test_arm_that_raises_is_one_line_with_the_users_place(arm, role):
    fine = recorded_async([]) if arm is broken_async else recorded([])
    arms = (arm, fine) if role == "baseline" else (fine, arm)
    with pytest.raises(
        ArmError,
        match=rf"^the {role} arm raised JSONDecodeError: .* \(test_runner_callables.py:\d+\) on task 'gamma'$",
    ):
        play(*arms)


@pytest.mark.parametrize(
    ("outcome", "complaint"),
    [
        (float("nan"), "returned nan"),
        (1.2, "returned 1.2"),
        (-0.5, "returned -0.5"),
        (None, r"returned NoneType \(no return statement\?\)"),
        ("yes", "returned str"),
    ],
)
@pytest.mark.parametrize("kind", [recorded, recorded_async])
def test_what_is_no_outcome_is_one_line(kind, outcome, complaint):
    with pytest.raises(ArmError, match=rf"^the candidate arm on task '\w+' {complaint}: accepted are"):
        play(kind([]), kind([], outcome))


def test_forgotten_await_inside_an_async_arm_is_named():
    async def inner():
        return True

    async def arm(task, seed):
        return inner()

    with pytest.raises(ArmError, match="coroutine that was not awaited"):
        play(arm, recorded_async([]))


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_pytest_outcomes_pass_through_plain(kind):
    def skipping(task, seed):
        pytest.skip("no server")

    async def skipping_async(task, seed):
        pytest.skip("no server")

    arms = (skipping, recorded([])) if kind == "plain" else (skipping_async, recorded_async([]))
    with pytest.raises(pytest.skip.Exception, match="no server"):
        play(*arms)


def test_configuration_error_stops_at_once():
    calls = []

    def arm(task, seed):
        calls.append(task)
        raise ModelError("check the key", failure=FailureClass.CONFIGURATION)

    with pytest.raises(ArmError, match="the candidate arm: check the key") as caught:
        play(recorded([]), arm)
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert len(calls) == 1


def test_errors_of_ours_pass_through_an_arm():
    async def arm(task, seed):
        async with anyio.create_task_group():
            raise BudgetReachedError("cap")

    with pytest.raises(BudgetReachedError, match="cap"):
        play(arm, recorded_async([]))


def test_infrastructure_failure_is_played_again_then_lost():
    calls = []

    def arm(task, seed):
        calls.append(task)
        if task == "beta" or (task == "gamma" and calls.count("gamma") == 1):
            raise ModelError("gone", failure=FailureClass.INFRASTRUCTURE, usage=Usage(calls=2))
        return True

    stage = make_stage()
    outcomes = {o.task_id: o.candidate for o in play(recorded([]), arm, stage=stage)}
    assert calls.count("beta") == REPLAYS + 1
    assert calls.count("gamma") == 2
    assert (outcomes["beta"].failure, outcomes["beta"].error) == (FailureClass.INFRASTRUCTURE, "gone")
    assert outcomes["gamma"].counts
    assert stage.purse.usage.calls == 2 * (REPLAYS + 1) + 2


def test_agents_failure_counts():
    def arm(task, seed):
        raise ModelError("no text", failure=FailureClass.AGENT)

    assert all(o.candidate.counts and o.candidate.score == 0 for o in play(recorded([]), arm))


def test_async_arm_that_hangs_is_lost_to_the_infrastructure():
    async def arm(task, seed):
        await anyio.sleep_forever()

    outcomes = play(arm, recorded_async([]), ["a", "b", "c"], stage=make_stage(episode_timeout=0.02))
    assert {o.baseline.failure for o in outcomes} == {FailureClass.INFRASTRUCTURE}


def test_cap_on_episodes_holds_for_callables():
    calls = []
    stage = make_stage(purse=Purse(episodes=5))
    with pytest.raises(BudgetReachedError, match="cap of 5 episodes"):
        play(recorded(calls), recorded(calls), stage=stage)
    assert len(calls) == 5


# Evidence.


@pytest.fixture
def store(tmp_path):
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        yield opened


def test_known_arms_are_read_and_unknown_ones_played_anew(store):
    first = play(recorded([]), recorded([]), trials=2, stage=make_stage(store=store), identity="v1")
    for identity, played in (("v1", 0), ("v2", 16), (None, 16)):
        calls = []
        stage = make_stage(store=store, run=f"run-{identity}")
        again = play(recorded(calls), recorded(calls), trials=2, stage=stage, identity=identity)
        assert (stage.purse.played, stage.purse.read) == (played, 16 - played)
        assert len(calls) == played
        assert again == first


def test_outcomes_without_identity_are_kept_for_reports_only(store):
    play(recorded([]), recorded([]), stage=make_stage(store=store))
    assert {(row.study, row.unit, row.arm) for row in store.episodes()} == {
        ("gate", task, role) for task in TASKS for role in ("baseline", "candidate")
    }


def test_lost_outcomes_are_not_kept(store):
    def arm(task, seed):
        raise ModelError("gone", failure=FailureClass.INFRASTRUCTURE)

    play(recorded([]), arm, stage=make_stage(store=store), identity="v1")
    assert {row.arm for row in store.episodes()} == {"baseline"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"id": "a", "prompt": "x"}, {"id": "a", "prompt": "y"}),
        (Task(id="a", data={"x": 1}), Task(id="a", data={"x": 2})),
        (1, 2),
        ((1, "b"), (1, "c")),
    ],
)
def test_content_of_a_task_enters_its_key(store, one, other):
    def run(task):
        stage = make_stage(store=store)
        play(recorded([]), recorded([]), [task], stage=stage, identity="v1")
        return stage.purse.played

    assert [run(one), run(one), run(other)] == [2, 0, 2]


def test_task_without_a_lasting_text_is_played_anew(store):
    task = Named(id="a")
    for _ in range(2):
        stage = make_stage(store=store, run="r")
        play(recorded([]), recorded([]), [task], stage=stage, identity="v1")
        assert stage.purse.played == 2
