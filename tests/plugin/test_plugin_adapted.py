"""Teams of another framework: their code is part of what was played, unless the user gives a word for it."""

from __future__ import annotations

import pytest

CREW = '''
import json
import random

import graph
from pytest_swapgate import Agent, Episode, Message, Task, Team

SEATS = ("lead", "hand")
TASKS = [Task(id=f"{split}-{n}", split=split) for split in ("formation", "held_out") for n in range(3)]


class Crew:
    """Members who learn a word together; those who do not share it lose what graph.py says."""

    def __init__(self):
        self.words = dict.fromkeys(SEATS, "")

    def snapshot(self):
        words = self.words.items()
        return Team(id="crew", agents=tuple(Agent(seat=s, model="theirs", state=json.dumps(w)) for s, w in words))

    def restore(self, team):
        for agent in team.agents:
            self.change_seat(agent.seat, agent)

    def change_seat(self, seat, occupant):
        self.words[seat] = json.loads(occupant.state)

    def play(self, task, seed):
        strangers = len(set(self.words.values())) > 1
        if not any(self.words.values()):
            self.words = dict.fromkeys(SEATS, f"word-{seed}")
        return Episode(
            score=random.Random(seed).uniform(0.9, 1.0) - graph.LOSS * strangers,
            messages=[Message(sender=seat, text="hm") for seat in SEATS],
            subtasks=1,
        )
'''
CONFTEST = """
import pytest
from crew import TASKS, Crew
from pytest_swapgate.environments import AdaptedEnvironment


@pytest.fixture(scope="session")
def swapgate_environment():
    return AdaptedEnvironment(Crew, TASKS)
"""
READ = "96 episodes (96 read from evidence)"
EXECUTOR = """

@pytest.fixture(scope="session")
def swapgate_executor():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        yield processes
"""


@pytest.fixture
def crew(teams):
    example = teams("swap()")
    return example.with_files({"conftest.py": CONFTEST, "crew.py": CREW, "graph.py": "LOSS = 0.0\n"})


def changed(example):
    return example.with_files({"graph.py": "LOSS = 0.5\n"})


def test_a_change_behind_the_adapter_is_played_anew_and_shows(crew, run):
    run(crew).assert_ends(0, passed=1).assert_silent_about(READ)
    run(crew).assert_ends(0, passed=1).assert_says(READ)
    result = run(changed(crew)).assert_ends(1, failed=1).assert_silent_about("read from evidence")
    result.assert_line(r"score +harm +\+[45]\d.* FAIL")


def test_a_digest_is_the_users_word_until_it_changes(crew, run):
    named = crew.edited("conftest.py", "TASKS)", 'TASKS, digest="v1")')
    run(named).assert_ends(0, passed=1)
    run(changed(named), AGENT_MODEL="other").assert_ends(0, passed=1).assert_says(READ)
    run(changed(named.edited("conftest.py", '"v1"', '"v2"'))).assert_ends(1, failed=1).assert_silent_about(
        READ
    )


def test_workers_and_one_process_play_the_same_system(crew, run):
    xdist = {"plugins": "pytest_swapgate.plugin xdist.plugin"}
    gate = crew.files["test_gate.py"]
    both = crew.with_files(
        {"test_gate.py": gate + gate[gate.index("@pytest") :].replace("test_gate", "test_other")}
    )
    run(both, "-n", "2", **xdist).assert_ends(0, passed=2).assert_silent_about("swapgate problem")
    again = run(both, plugins="pytest_swapgate.plugin").assert_ends(0, passed=2)
    assert sum(READ in line for line in again.lines) == 2
    run(both, "-n", "2", **xdist).assert_ends(0, passed=2).assert_says(READ)
    run(changed(both), "-n", "2", **xdist).assert_ends(1, failed=2).assert_line(r"96 episodes, .*")


def test_an_executor_plays_the_same_system(crew):
    elsewhere = crew.with_files({"conftest.py": CONFTEST + EXECUTOR})
    elsewhere.run_pytest().assert_ends(0, passed=1).assert_silent_about(READ)
    elsewhere.run_pytest().assert_ends(0, passed=1).assert_says(READ)
    changed(elsewhere).run_pytest().assert_ends(1, failed=1).assert_silent_about(READ)
