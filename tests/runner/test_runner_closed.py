"""A purse that is closed from another thread: what is in flight is cut, what had finished is returned."""

from __future__ import annotations

import asyncio
import functools
import threading

import anyio
import pytest
from runner_samples import Model, Talk, make_chain, make_stage, make_team

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.gate.this_thread import ThisThread
from pytest_swapgate.runner import BudgetReachedError, CallableArm, Purse, play_callables, play_chains
from pytest_swapgate.runner.blocking import interrupt_main_thread
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.runner.locking import locked

WHY = "the run was stopped"
LONG = 600


def aside(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


class Stuck(Talk):
    """Closes the purse in the middle of an episode that would then take long."""

    def __init__(self, purse, after):
        self.purse = purse
        self.after = after

    async def play(self, team, task, seed):
        episode = await super().play(team, task, seed)
        if self.purse.played >= self.after:
            await anyio.to_thread.run_sync(self.purse.close, WHY)
            await anyio.sleep(LONG)
        return episode


@pytest.mark.parametrize("concurrency", [1, 3])
def test_chains_end_with_what_had_finished_and_book_what_was_cut(concurrency):
    purse, model = Purse(), Model()
    stage = make_stage(model, environment=Stuck(purse, 4), purse=purse, concurrency=concurrency)
    halt = Halt(purse)
    groups = [[make_chain(make_team(str(g)), first_seed=100 * g)] for g in range(3)]
    found = anyio.run(functools.partial(play_chains, stage, groups, halt=halt))
    whole = sum(len(episodes) for group in found for episodes, _ in group)
    assert 4 <= whole == purse.played < 9
    assert str(halt.reached) == f"{WHY}; what was played is kept and will be read"
    assert purse.usage.calls == len(model.asked)  # those of the episodes that were cut as well
    standing = stage.progress.standing()
    assert standing.done == standing.planned == whole


def test_without_a_halt_the_end_is_an_error_that_says_why():
    purse = Purse()
    stage = make_stage(environment=Stuck(purse, 2), purse=purse)
    with pytest.raises(BudgetReachedError, match=f"^{WHY}; what was played is kept"):
        anyio.run(play_chains, stage, [[make_chain()]])


def test_async_functions_are_cut_and_plain_ones_are_interrupted():
    async def waits(task, seed):
        if task == "b":
            purse.close(WHY)
            await anyio.sleep(LONG)
        return True

    def blocks(task, seed):
        if task == "b":
            threading.Timer(0.2, purse.close, [WHY]).start()
            threading.Event().wait(LONG)
        return True

    for kind in (waits, blocks):
        purse = Purse()
        stage = make_stage(purse=purse, concurrency=1)
        halt = Halt(purse)
        here = ThisThread(purse)
        call = kind if kind is waits else here.arm(kind)
        arms = [CallableArm(role, "g", call, None) for role in ("baseline", "candidate")]
        work = functools.partial(play_callables, stage, *arms, ["a", "b", "c"], trials=1, seed=1, halt=halt)
        pairs = here.run(work) if kind is blocks else anyio.run(work)
        assert "b" not in [pair.task_id for pair in pairs]
        assert halt.reached is not None


def test_control_c_in_a_plain_function_is_still_control_c():
    def stops(task, seed):
        raise KeyboardInterrupt

    here = ThisThread(Purse())

    async def work():
        return await here.arm(stops)("a", 1)

    with pytest.raises(KeyboardInterrupt):
        here.run(work)


def test_nothing_starts_once_a_purse_is_closed_and_the_first_reason_stays():
    purse = Purse()
    cut = []
    with purse.at_close(lambda: cut.append("early")):
        aside(lambda: purse.close(WHY))
        purse.close("another reason")
    with purse.at_close(lambda: cut.append("late")):  # it has been closed already
        pass
    assert cut == ["early", "late"]
    for ask in (purse.start, purse.check, purse.check_open):
        with pytest.raises(BudgetReachedError, match=WHY):
            ask()


def test_whoever_waits_for_another_process_is_let_go(tmp_path):
    with EvidenceStore.open(tmp_path / "e.db") as store, EvidenceStore.open(tmp_path / "e.db") as other:
        purse = Purse()
        stage = make_stage(store=store, purse=purse)

        async def wait():
            async with locked(stage, ["formation"]):
                raise AssertionError("it is held by the other one")

        with other.lock(f"{stage.digest}/formation"):
            threading.Timer(0.3, purse.close, [WHY]).start()
            with pytest.raises(BudgetReachedError, match=WHY):
                anyio.run(wait)


async def swallowing(seconds):
    """Wait; make a result of whatever happens meanwhile."""
    try:
        await anyio.sleep(seconds)
    except BaseException:
        return False
    return True


class Swallows(Talk):
    """Makes a score of 0 of whatever cuts it."""

    def __init__(self, purse, after=4):
        self.purse = purse
        self.after = after

    async def play(self, team, task, seed):
        episode = await super().play(team, task, seed)
        if self.purse.played < self.after:
            return episode
        threading.Timer(0.1, self.purse.close, [WHY]).start()
        await swallowing(LONG)
        return episode.model_copy(update={"score": 0.0})


def test_an_episode_that_was_cut_counts_for_nothing_though_its_code_swallows_it():
    purse = Purse()
    stage = make_stage(environment=Swallows(purse), purse=purse, concurrency=1)
    halt = Halt(purse)
    found = anyio.run(functools.partial(play_chains, stage, [[make_chain(trials=6)]], halt=halt))
    assert [episode.score for episode in found[0][0][0]] == [1.0] * 4

    async def arm(task, seed):
        return await swallowing(LONG if task == "b" else 0)

    purse = Purse()
    stage = make_stage(purse=purse, concurrency=3)
    halt = Halt(purse)
    threading.Timer(0.3, purse.close, [WHY]).start()
    arms = [CallableArm(role, "g", arm, None) for role in ("baseline", "candidate")]
    work = functools.partial(play_callables, stage, *arms, ["a", "b", "c"], trials=1, seed=1, halt=halt)
    pairs = anyio.run(work)
    assert [(pair.task_id, pair.baseline.score, pair.candidate.score) for pair in pairs] == [
        ("a", 1.0, 1.0),
        ("c", 1.0, 1.0),
    ]


@pytest.mark.parametrize("teams", [False, True])
def test_an_episode_out_of_time_is_lost_though_its_code_swallows_it(teams):
    if teams:
        purse = Purse()
        stage = make_stage(environment=Swallows(Purse(), after=0), purse=purse, episode_timeout=0.1)
        ((([episode], _),),) = anyio.run(play_chains, stage, [[make_chain(trials=1)]])
    else:
        stage = make_stage(episode_timeout=0.1)

        async def arm(task, seed):
            return await swallowing(LONG)

        arms = [CallableArm(role, "g", arm, None) for role in ("baseline", "candidate")]
        pairs = anyio.run(functools.partial(play_callables, stage, *arms, ["a"], trials=1, seed=1))
        episode = pairs[0].candidate
    assert episode.failure == "infrastructure"
    assert episode.error == "the episode was not over after 0.1 s"


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("kept", [None, RuntimeError])
def test_control_c_ends_a_plain_function_that_swallows_it(inside, kept):
    played = []

    def work(task, seed):
        played.append(task)
        try:
            threading.Timer(0.2, interrupt_main_thread).start()
            threading.Event().wait(LONG)
        except BaseException as error:
            if kept is not None:
                raise kept from error
        return True

    here = ThisThread(Purse())
    stage = make_stage()
    call = work if inside else here.arm(work)
    arms = [CallableArm(role, "g", call, None) for role in ("baseline", "candidate")]
    compare = functools.partial(play_callables, stage, *arms, ["a", "b", "c"], trials=1, seed=1)
    with pytest.raises(KeyboardInterrupt):
        anyio.run(compare) if inside else here.run(compare)
    assert len(played) == 1
    assert stage.purse.played == 0


def test_control_c_stops_arms_that_never_wait_in_an_event_loop():
    played = []

    def plain(task, seed):
        played.append(task)
        if len(played) == 5:
            asyncio.current_task().cancel()  # what asyncio makes of Ctrl-C
        return True

    async def coroutine(task, seed):
        return True

    async def whole():
        arms = [CallableArm("baseline", "g", coroutine, None), CallableArm("candidate", "g", plain, None)]
        await play_callables(make_stage(), *arms, list(range(40)), trials=1, seed=1)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(whole())
    assert len(played) == 5
