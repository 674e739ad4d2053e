"""A run that is stopped ends at once, whatever plays, keeps what had finished, and says so."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.gates.hurry import hurry

XDIST = "pytest_swapgate.plugin xdist.plugin"
LONG = 600
"""Seconds of an episode that is to be cut: far more than a test of a run may take."""
LASTS = """
import os, pathlib

finished = []

def lasts(task):
    if task <= 40 or "GO" in os.environ:
        finished.append(task)
        return 0
    if len(finished) >= 4:
        pathlib.Path("../stuck").touch()
    return LONG
""".replace("LONG", str(LONG))
ARMS = {
    "async": LASTS
    + """
import anyio

async def first(task, seed):
    await anyio.sleep(lasts(task))
    return True

async def second(task, seed): return await first(task, seed)
""",
    "plain": LASTS
    + """
import time

def first(task, seed):
    time.sleep(lasts(task))
    return True

def second(task, seed): return first(task, seed)
""",
}
GATE = """
@pytest.mark.swap_penalty(score=0.2)
def test_gate(paired_runner): paired_runner(first, second, range(80), fingerprint="v1")
"""
FAILS_LATER = """
import pathlib, time

def test_fails_when_the_gate_plays():
    while not pathlib.Path("../stuck").exists(): time.sleep(0.05)
    assert False
"""


def kept(example):
    with EvidenceStore.read(example.evidence) as store:
        return len(list(store.episodes()))


@pytest.mark.parametrize("kind", ARMS)
def test_a_failure_under_x_stops_what_other_workers_play(written, kind):
    example = written(ARMS[kind] + GATE)
    stopping = example.with_files({"test_later.py": FAILS_LATER})
    result = stopping.run_pytest("-n2", "--dist=loadfile", "-x", plugins=XDIST).assert_ends(2, failed=2)
    result.assert_no_traceback_of_ours().assert_line(
        r"swap_penalty INCONCLUSIVE: the run was stopped after a failure \(-x\); what was played is kept and will be "
        r"read; by then \d+ of 80 planned pairs were played.*"
    ).assert_silent_about("swapgate: stopped")
    before = kept(example)
    assert before > 0
    again = example.run_pytest(GO="1").assert_ends(0, passed=1)
    again.assert_says(f"160 episodes ({before} read from evidence)")


def test_failures_below_maxfail_stop_nothing(written):
    example = written(ARMS["async"] + GATE).with_files({"test_later.py": "def test_fails(): assert False"})
    result = example.run_pytest("-n2", "--dist=loadfile", "--maxfail=2", plugins=XDIST, GO="1")
    result.assert_ends(1, passed=1, failed=1).assert_says("160 episodes").assert_silent_about("stopped")


DESK = f"""
import pathlib, threading, time
import anyio

class Stuck(Desk):
    played = 0

    def play(self, team, task, seed):
        Stuck.played += 1
        if Stuck.played > 40:
            STOP
            pathlib.Path("../stuck").touch()
            time.sleep({LONG})
        return anyio.from_thread.run(super().play, team, task, seed)

@pytest.fixture(scope="session")
def swapgate_environment():
    return Stuck()
"""
BY_SIGNAL = (
    "import os, signal; Stuck.played == 41 and "
    "threading.Timer(0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()"
)


def stuck(teams, stop="pass"):
    example = teams("replace('front', model='simulated:twin')")
    return example.with_files({"conftest.py": example.files["conftest.py"] + DESK.replace("STOP", stop)})


def test_control_c_does_not_wait_for_a_plain_play_that_nobody_can_stop(teams):
    example = stuck(teams, BY_SIGNAL)
    result = example.run_pytest()
    assert result.exit_code == 2, result.text
    result.assert_says("a comparison was begun and never judged: its test was stopped")
    result.assert_line(r".*/test_gate.py:\d+: KeyboardInterrupt")
    result.assert_line(r"swapgate: stopped; \d+ episodes that this run had finished are kept in .*")
    assert kept(example) > 0


def test_a_failure_under_x_does_not_wait_for_a_plain_play(teams):
    example = stuck(teams).with_files({"test_later.py": FAILS_LATER})
    result = example.run_pytest("-n2", "--dist=loadfile", "-x", plugins=XDIST)
    assert result.exit_code == 2, result.text
    result.assert_says("the run was stopped after a failure (-x)").assert_no_traceback_of_ours()


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to another process")
def test_control_c_of_the_controller_alone_reaches_the_workers(written):
    example = written(ARMS["async"] + GATE)
    example.write()
    command = [sys.executable, "-m", "pytest", "-ppytest_swapgate.plugin", "-pxdist.plugin", "-n1"]
    with subprocess.Popen(
        command,
        cwd=example.folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        while not example.evidence.exists() or not kept(example):
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=LONG / 4)
    assert process.returncode == 2, said
    assert "episodes that this run had finished are kept in .swapgate/evidence.db: the next run" in said
    assert "INTERNALERROR" not in said


def test_a_stopped_run_that_had_played_nothing_says_nothing_of_ours(written):
    result = written("def test_stops(): raise KeyboardInterrupt").run_pytest()
    assert result.exit_code == 2
    result.assert_silent_about("swapgate:", "= swapgate =")


@pytest.mark.parametrize(
    ("main", "loaded", "worker", "frozen"),
    [
        ({"__file__": "/usr/bin/pytest"}, True, False, True),
        ({"__spec__": SimpleNamespace(name="pytest.__main__")}, True, False, True),
        ({"__file__": "/srv/notebook.py"}, True, False, False),
        ({"__file__": "/srv/notebook.py"}, True, True, True),
        ({"__file__": "/usr/bin/pytest"}, False, False, False),
    ],
)
def test_garbage_is_left_alone_only_in_a_process_that_is_about_to_end(
    monkeypatch, main, loaded, worker, frozen
):
    frozen_now = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen_now.append(True))
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(**main))
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    if loaded:
        monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace())
    hurry(worker=worker)
    assert bool(frozen_now) == frozen
