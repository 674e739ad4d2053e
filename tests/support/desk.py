"""A small project for examples: two clerks at a desk, cheap to form and to play, with a harm that is known."""

from __future__ import annotations

from pathlib import Path

from support.example import INI, Example

DESK = '''
import random

import pytest
from pytest_swapgate import Completion, Episode, Message, Notebook, Task, Usage


class Clerk:
    """Says the word of its notebook, or makes one up; a careless one says something else."""

    def __init__(self, name):
        if name not in ("simulated", "simulated:twin", "simulated:careless"):
            raise ValueError("accepted are simulated, simulated:twin and simulated:careless")
        self.name = name

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        word = messages[-1]["content"].partition("The word is ")[2].partition(".")[0]
        text = "hm" if self.name.endswith("careless") else word or f"word-{random.Random(seed).randrange(1000)}"
        return Completion(text, Usage(calls=1, prompt_tokens=20, completion_tokens=1), self.name)


class Desk:
    seats = ("front", "back")

    def tasks(self, split):
        return [Task(id=f"{split}-{n}", split=split) for n in range(3)]

    def simulated(self, name):
        return Clerk(name)

    async def play(self, team, task, seed):
        known = {seat: team.notebook(seat) for seat in self.seats}
        noise = random.Random(f"{seed} {task.id} {[known[seat].render() + team[seat].model for seat in self.seats]}")
        said = {
            seat: await team.ask(seat, [{"role": "user", "content": known[seat].render()}], seed=noise.randrange(10**6))
            for seat in self.seats
        }
        word = known["front"].partner_notes or f"The word is {said['front']}."
        talk = [("front", "request")] * 3 + [("back", "status")] * (3 + noise.randrange(3))
        if said["front"] != said["back"] and known["front"].partner_notes:
            talk += [("back", "clarification")] * 3 + [("front", "correction")] * 3
        return Episode(
            score=noise.uniform(0.8, 1.0) - (0.4 if "hm" in said.values() else 0.0),
            messages=[Message(sender=seat, text=said[seat], kind=kind) for seat, kind in talk],
            subtasks=4,
            notebooks={
                seat: Notebook(task_notes=f"Note {noise.random()}.", partner_notes=known[seat].partner_notes or word)
                for seat in self.seats
            },
        )


@pytest.fixture(scope="session")
def swapgate_environment():
    return Desk()
'''
DESK_INI = INI + "swapgate_teams = 8\nswapgate_formation = 2\nswapgate_trials = 4\n"

TEAMS = """
@pytest.mark.swap_penalty(score=0.20, cost=0.60)
def test_gate(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.ARM)
"""
FUNCTIONS = '''
def passes(share):
    """An arm that succeeds on that share of the trials, each by its own lot."""
    import random

    def arm(task, seed):
        return random.Random(f"{task} {seed} {share}").random() < share

    return arm


@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner):
    paired_runner(passes(0.90), passes(SHARE), range(60))
'''


def desk(folder: Path, arm: str = "swap()") -> Example:
    """Return a project with one gate over formed teams; swap() fails on the cost, replace(..twin) passes."""
    return Example(folder, {"conftest.py": DESK, "pytest.ini": DESK_INI}).with_test(TEAMS.replace("ARM", arm))


def functions(folder: Path, share: float = 0.9) -> Example:
    """Return a project with one gate over two functions: 0.9 passes, 0.75 is inconclusive, 0.3 fails."""
    return Example(folder, {"pytest.ini": INI}).with_test(FUNCTIONS.replace("SHARE", str(share)))


def tests_only(folder: Path, body: str) -> Example:
    """Return a project with one test module and nothing else."""
    return Example(folder, {"pytest.ini": INI}).with_test(body)
