"""Ctrl-C, cancellation and kill -9: what finished is kept, nothing is left behind, the next run goes on."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest
from fault_samples import Quiz, compare, make_quick_stage, make_stage, outcomes, run_gate
from fault_server import serving

from pytest_swapgate.evidence import EvidenceStore

KILLS = int(os.environ.get("TEST_KILLS", "5"))
HERE = Path(__file__).parent


def start(evidence, url, kind):
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(HERE / "stopped_study.py"), str(evidence), url, kind],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("kind", ["async", "plain", "locked"])
def test_ctrl_c_stops_at_once_and_keeps_what_finished(tmp_path, kind):
    with serving() as server:
        process = start(tmp_path / "e.db", server.url, kind)
        assert process.stdout.readline() == "playing\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        said = process.stdout.readline().split()
        waited = time.monotonic() - asked
        if kind == "plain":
            process.kill()  # a thread cannot be stopped, and Python waits for it
        _, errors = process.communicate(timeout=60)
    assert said[:1] == ["stopped"], errors
    assert errors == ""
    assert waited < 15  # a second, but machines do other things too; the episodes would take 60
    with EvidenceStore.read(tmp_path / "e.db") as store:
        assert len(list(store.episodes())) == int(said[1]) == int(said[2])
        assert store.check() == ()


def test_cancelled_run_keeps_what_finished_and_leaves_nothing_behind(tmp_path):
    class Slow(Quiz):
        async def play(self, team, task, seed):
            episode = await super().play(team, task, seed)
            if seed % 5 == 0:
                await anyio.sleep(60)
            return episode

    async def cancelled(stage):
        async with anyio.create_task_group() as group:
            group.start_soon(compare, stage)
            while stage.purse.played < 20:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        with anyio.move_on_after(5):  # what is closing may close
            while len(asyncio.all_tasks()) > 1:
                await anyio.sleep(0.01)
        return [repr(task.get_coro()) for task in asyncio.all_tasks()]

    with serving() as server, EvidenceStore.open(tmp_path / "e.db") as store:
        threads = set(threading.enumerate())
        stage = make_stage(server.url, environment=Slow(), store=store)
        tasks = anyio.run(cancelled, stage)
        assert len(tasks) == 1, tasks
        assert len(list(store.episodes())) == stage.purse.played > 0
        wait_until(lambda: set(threading.enumerate()) <= threads)
        wait_until(lambda: server.open_connections == 0)
    gc.collect()  # a ResourceWarning would fail this test


def test_finished_run_closes_its_connections_also_in_a_loop_that_goes_on():
    async def twice(stage):
        await compare(stage, trials=2)
        await anyio.to_thread.run_sync(wait_until, lambda: server.open_connections == 0)
        await compare(stage, trials=2)
        await anyio.to_thread.run_sync(wait_until, lambda: server.open_connections == 0)

    with serving() as server:
        anyio.run(twice, make_stage(server.url))
    gc.collect()


def wait_until(condition):
    """Wait until what ends by itself has ended."""
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    assert condition()


def test_killed_at_random_moments_a_run_loses_only_what_was_in_flight_and_plays_nothing_twice(tmp_path):
    with serving() as calm:
        expected, report = run_gate(make_quick_stage(calm.url))
    evidence = tmp_path / "e.db"
    drawn = random.Random(11)
    kept = 0
    with serving(delay=0.02) as server:
        for _ in range(KILLS):
            process = start(evidence, server.url, "quick")
            process.stdout.readline()
            time.sleep(drawn.uniform(0.0, 1.2 / KILLS))
            process.kill()
            process.communicate()
            with EvidenceStore.open(evidence) as store:
                assert store.check() == ()
                now = len(list(store.episodes()))
            assert now >= kept
            kept = now
        assert kept < 400, "killed too late to show anything"
        process = start(evidence, server.url, "quick")
        printed, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        with EvidenceStore.open(evidence) as store:
            assert store.check() == ()
            assert store.conflicts == 0
            assert len(list(store.episodes())) == 400
    verdict, played = json.loads(printed.splitlines()[-1])
    assert verdict == report.verdict.value
    assert [tuple(row) for row in played] == [(t, s, score, f) for t, s, score, f in outcomes(expected)]
    # Answered more often than once: only what was in flight when it was killed, at most 8 a time.
    twice = sum(count - 1 for count in server.answers.values())
    assert len(server.answers) == 400
    assert twice <= 8 * KILLS
