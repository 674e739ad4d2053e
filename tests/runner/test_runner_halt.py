"""A cap in the middle: what is there is returned, what is in flight finishes, nothing else is played."""

from __future__ import annotations

import functools
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runner_samples import Model, Talk, make_chain, make_stage, make_team

from pytest_swapgate.runner import (
    ArmError,
    BudgetReachedError,
    CallableArm,
    Purse,
    play_callables,
    play_chains,
)
from pytest_swapgate.runner.halt import Halt

TASKS = ["alpha", "beta", "gamma", "delta"]
GROUPS = [
    [make_chain(make_team(str(g)), arm=arm, first_seed=100 * g) for arm in ("one", "other")] for g in range(3)
]


class Known:
    """A store in memory."""

    def __init__(self, rows=()):
        self.rows = dict(rows)
        self.labels = {}

    def get(self, key):
        return self.rows.get(key)

    def put(self, key, episode, **labels):
        self.rows[key] = episode
        self.labels[key] = labels


def used_up():
    """Return a purse that lets nothing start any more."""
    purse = Purse(episodes=1)
    purse.start()
    return purse


def teams_of_four():
    return [[make_chain(make_team(str(i)), first_seed=100 * i)] for i in range(4)]


def play(stage, groups):
    halt = Halt(stage.purse)
    return anyio.run(functools.partial(play_chains, stage, groups, halt=halt)), halt


def compare(stage, arms, *, trials=2, **more):
    """Play two functions on all tasks."""
    halt = Halt(stage.purse)
    named = [
        CallableArm(role, "gate", arm, "v1")
        for role, arm in zip(("baseline", "candidate"), arms, strict=True)
    ]
    found = anyio.run(
        functools.partial(play_callables, stage, *named, TASKS, trials=trials, seed=0, halt=halt, **more)
    )
    return found, halt


# What is known is read, all of it, and nothing is asked for.


class Silent(Talk):
    """Leaves notebooks as they are, so that an episode does not depend on the one before."""

    writes_notebooks = False


@functools.cache
def whole_chains(environment):
    """Play every chain; return the result, the rows, and the place of each row: group, chain, trial."""
    store = Known()
    played, halt = play(make_stage(environment=environment(), store=store), GROUPS)
    assert halt.reached is None
    places = {
        key: (int(labels["unit"]), ("one", "other").index(labels["arm"]), store.rows[key].seed % 100)
        for key, labels in store.labels.items()
    }
    return played, store.rows, places


@given(
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2))),
    st.integers(1, 4),
    st.sampled_from([Talk, Silent]),
)
@settings(deadline=None, max_examples=60)
def test_chains_end_at_the_first_episode_that_nobody_has_played(known, concurrency, environment):
    whole, rows, places = whole_chains(environment)
    model = Model()
    store = Known((key, rows[key]) for key, place in places.items() if place in known)
    stage = make_stage(
        model, environment=environment(), store=store, purse=used_up(), concurrency=concurrency
    )
    found, halt = play(stage, GROUPS)
    for g, group in enumerate(found):
        for c, (episodes, _) in enumerate(group):
            there = next((trial for trial in range(3) if (g, c, trial) not in known), 3)
            assert episodes == whole[g][c][0][:there]
    assert model.asked == []
    assert stage.purse.played == 0
    assert (halt.reached is None) == (len(known) == 18)
    standing = stage.progress.standing()
    assert standing.done == standing.planned == sum(len(e) for group in found for e, _ in group)


def score(task, seed):
    return (seed % 100) / 100


async def score_async(task, seed):
    await anyio.sleep(0)
    return score(task, seed)


@functools.cache
def whole_pairs():
    store = Known()
    pairs, _ = compare(make_stage(store=store), (score, score))
    places = {}
    for pair in pairs:
        for key, labels in store.labels.items():
            if (labels["unit"], store.rows[key].seed) == (pair.task_id, pair.baseline.seed):
                places[key] = (pair.task_id, pair.trial, labels["arm"])
    return pairs, store.rows, places


@given(
    st.sets(st.tuples(st.sampled_from(TASKS), st.integers(0, 1), st.sampled_from(["baseline", "candidate"]))),
    st.sampled_from([score, score_async]),
)
@settings(deadline=None, max_examples=60)
def test_pairs_are_exactly_those_that_both_functions_have_finished(known, kind):
    whole, rows, places = whole_pairs()
    assert len(places) == 2 * len(whole) == 16
    calls = []

    def plain(task, seed):
        calls.append(task)
        return kind(task, seed)

    async def awaited(task, seed):
        calls.append(task)
        return await kind(task, seed)

    arm = plain if kind is score else awaited
    store = Known((key, rows[key]) for key, place in places.items() if place in known)
    stage = make_stage(store=store, purse=used_up())
    found, halt = compare(stage, (arm, arm))
    both = [p for p in whole if {(p.task_id, p.trial, role) for role in ("baseline", "candidate")} <= known]
    assert found == both
    assert calls == []
    assert (halt.reached is None) == (len(known) == 16)
    standing = stage.progress.standing()
    assert standing.done == standing.planned


# What is in flight finishes, once.


@pytest.mark.parametrize("halted", [True, False])
def test_episodes_that_were_started_finish_and_are_kept(halted):
    class Slow(Model):
        async def complete(self, messages, **more):
            await anyio.sleep(0.001)
            return await super().complete(messages, **more)

    store, model = Known(), Slow()
    stage = make_stage(model, store=store, purse=Purse(episodes=3), concurrency=4)
    chains = teams_of_four()
    if halted:
        found, halt = play(stage, chains)
        assert [len(episodes) for [(episodes, _)] in found] == [1, 1, 1, 0]
        assert "cap of 3 episodes" in str(halt.reached)
    else:
        with pytest.raises(BudgetReachedError, match="cap of 3 episodes"):
            anyio.run(play_chains, stage, chains)
    assert len(store.rows) == stage.purse.played == 3
    assert len(model.asked) == 3 * 4


def test_pairs_that_are_in_flight_finish_the_arm_they_are_at():
    played = []

    async def arm(task, seed):
        await anyio.sleep(0.001)
        played.append(task)
        return True

    stage = make_stage(purse=Purse(episodes=5), concurrency=3)
    found, halt = compare(stage, (arm, arm), trials=1)
    assert len(played) == stage.purse.played == 5
    assert len(found) == 2
    assert halt.reached is not None


def test_an_arm_that_breaks_while_the_rest_finishes_is_no_partial_result():
    async def arm(task, seed):
        await anyio.sleep(0.02)
        raise ValueError("mine")

    async def capped(task, seed):
        await anyio.sleep(0.001)
        raise BudgetReachedError("cap")

    with pytest.raises(ArmError, match="the baseline arm raised ValueError: mine"):
        compare(make_stage(concurrency=8), (arm, capped))


def test_no_team_plays_on_after_a_cap_that_the_purse_does_not_know():
    class Own(Talk):
        async def play(self, team, task, seed):
            raise BudgetReachedError("a cap of mine")

    stage = make_stage(environment=Own(), concurrency=1)
    found, halt = play(stage, GROUPS)
    assert {len(episodes) for group in found for episodes, _ in group} == {0}
    assert str(halt.reached) == "a cap of mine"
    assert stage.purse.spending.started == 1


def test_nothing_starts_after_a_cap_that_the_purse_does_not_know():
    calls = []

    def arm(task, seed):
        calls.append(task)
        raise BudgetReachedError("a cap of mine")

    found, halt = compare(make_stage(), (arm, arm))
    assert (len(calls), found, str(halt.reached)) == (1, [], "a cap of mine")


# Looks.


def test_no_look_is_taken_at_pairs_that_are_not_all_there():
    looked = []

    def stop(pairs):
        looked.append(len(pairs))
        return False

    stage = make_stage(purse=Purse(episodes=10))
    found, halt = compare(stage, (score, score), looks=(2, 4, 6, 8), stop=stop)
    assert looked == [2, 4]
    assert len(found) == 5
    assert halt.reached is not None
    standing = stage.progress.standing()
    assert standing.done == standing.planned == 10


def test_a_cap_that_the_last_pair_uses_up_is_not_reached():
    looked = []
    found, halt = compare(
        make_stage(purse=Purse(episodes=8)),
        (score, score),
        looks=(2, 4),
        stop=lambda p: looked.append(len(p)),
    )
    assert (looked, len(found), halt.reached) == ([2, 4], 4, None)


# Executors.


class Busy(Executor):
    """Has room for one job, and leaves all others waiting."""

    def __init__(self):
        self.given = []

    def submit(self, function, /, *args):
        future = Future()
        self.given.append(future)
        if len(self.given) == 1:
            future.set_running_or_notify_cancel()
            threading.Thread(target=lambda: future.set_result(function(*args))).start()
        return future


def test_money_that_is_gone_takes_back_what_waits_in_an_executor():
    async def work():
        with anyio.fail_after(20):
            return await play_chains(stage, teams_of_four(), halt=halt)

    model, executor = Model(), Busy()
    stage = make_stage(model, executor=executor, purse=Purse(usd=1.0), concurrency=4)
    halt = Halt(stage.purse)
    found = anyio.run(work)
    assert [len(episodes) for [(episodes, _)] in found] == [1, 0, 0, 0]
    assert [future.cancelled() for future in executor.given] == [False, True, True, True]
    assert "budget of USD 1 is reached" in str(halt.reached)
    assert len(model.asked) == 4


def test_started_episodes_that_wait_in_an_executor_are_played_under_a_cap_on_episodes():
    refused = threading.Event()

    class Told(Purse):
        def start(self):
            try:
                super().start()
            except BudgetReachedError:
                refused.set()
                raise

    model = Model(hook=lambda _: refused.wait(20))
    with ThreadPoolExecutor(1) as threads:
        stage = make_stage(model, executor=threads, purse=Told(episodes=2), concurrency=4)
        found, _ = play(stage, teams_of_four())
    assert [len(episodes) for [(episodes, _)] in found] == [1, 1, 0, 0]
    assert len(model.asked) == 2 * 4


# Turns.


@pytest.mark.parametrize("concurrency", [1, 2, 16])
def test_teams_get_on_alike_so_that_a_cap_leaves_something_of_each(concurrency):
    groups = [[make_chain(make_team(str(i)), first_seed=100 * i, arm=arm) for arm in "ab"] for i in range(6)]
    found, _ = play(make_stage(purse=Purse(episodes=24), concurrency=concurrency), groups)
    assert {len(episodes) for group in found for episodes, _ in group} == {2}
