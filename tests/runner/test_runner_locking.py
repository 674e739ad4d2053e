"""One process plays what several need; the others wait, then read."""

from __future__ import annotations

import os
import subprocess
import sys

import anyio
import pytest
from runner_samples import make_chain, make_stage

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.runner import play_chains
from pytest_swapgate.runner.locking import locked

_WORKER = """
import sys
sys.path.insert(0, sys.argv[1])
import anyio
from runner_samples import Talk, make_chain, make_stage
from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.runner import play_chains
from pytest_swapgate.runner.locking import locked

class Slow(Talk):
    async def play(self, team, task, seed):
        await anyio.sleep(0.05)
        return await super().play(team, task, seed)
Slow.digest = "slow"

async def work():
    with EvidenceStore.open(sys.argv[2]) as store:
        stage = make_stage(environment=Slow(), store=store)
        print("ready", flush=True)
        sys.stdin.readline()
        async with locked(stage, ["formation"]):
            await play_chains(stage, [[make_chain()]])
        print(stage.purse.played, stage.purse.read, store.conflicts, flush=True)

anyio.run(work)
"""


def test_of_several_processes_one_plays_and_the_others_read(tmp_path):
    path = tmp_path / "evidence.db"
    EvidenceStore.open(path).close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, os.path.dirname(__file__), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    try:
        for worker in workers:
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:  # all wait at the line: now they go together
            worker.stdin.write("go\n")
            worker.stdin.flush()
        found = sorted(worker.communicate(timeout=60)[0].split() for worker in workers)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert found == [["0", "3", "0"], ["0", "3", "0"], ["3", "0", "0"]]


@pytest.fixture
def stage(tmp_path):
    with EvidenceStore.open(tmp_path / "evidence.db") as store:
        yield make_stage(store=store)


def test_lock_shuts_out_the_same_names(stage):
    order = []

    async def hold(name, *names):
        async with locked(stage, names):
            order.append(f"{name} in")
            await anyio.sleep(0.03)
            order.append(f"{name} out")

    async def work():
        async with anyio.create_task_group() as group:
            group.start_soon(hold, "a", "x", "y")
            group.start_soon(hold, "b", "y", "x")

    anyio.run(work)
    assert order in (["a in", "a out", "b in", "b out"], ["b in", "b out", "a in", "a out"])


def test_lock_lets_other_names_in(stage):
    async def work():
        with anyio.fail_after(10):
            async with locked(stage, ["x"]), locked(stage, ["z"]):
                return True

    assert anyio.run(work)


def test_lock_is_given_back_after_a_failure(stage):
    async def work():
        with pytest.raises(RuntimeError):
            async with locked(stage, ["x"]):
                raise RuntimeError
        with anyio.fail_after(5):
            async with locked(stage, ["x"]):
                return True

    assert anyio.run(work)


def test_same_name_twice_is_one_lock(stage):
    async def work():
        with anyio.fail_after(5):
            async with locked(stage, ["x", "x"]):
                return True

    assert anyio.run(work)


def test_event_loop_stays_free_while_waiting(stage):
    ticks = []

    async def hold():
        async with locked(stage, ["x"]):
            await anyio.sleep(0.1)

    async def wait():
        await anyio.sleep(0.01)
        async with locked(stage, ["x"]):
            ticks.append("held")

    async def tick():
        while "held" not in ticks:
            ticks.append("tick")
            await anyio.sleep(0.01)

    async def work():
        async with anyio.create_task_group() as group:
            for task in (hold, wait, tick):
                group.start_soon(task)

    anyio.run(work)
    assert ticks.count("tick") >= 2


def test_without_an_evidence_file_nothing_is_locked():
    stage = make_stage()

    async def work():
        async with locked(stage, ["x"]), locked(stage, ["x"]):
            return await play_chains(stage, [[make_chain(trials=1)]])

    assert len(anyio.run(work)) == 1
