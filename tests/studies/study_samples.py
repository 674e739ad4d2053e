"""A toy environment with exact truth, and played arms written by hand."""

from __future__ import annotations

from pytest_swapgate.models import Completion
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Stage
from pytest_swapgate.studies import Cohort, TeamArm
from pytest_swapgate.studies.arms import PlayedArm
from pytest_swapgate.teams import Agent, Condition, Episode, Message, Notebook, Task, Team, Usage


class Mute:
    """A model that is never asked for anything but a name."""

    def __init__(self, name="mute"):
        self.name = name

    async def complete(self, messages, **more):
        return Completion("", Usage(calls=1), self.name)


class Secrets:
    """Teams agree on a secret during formation; who shares it scores 1 with one message, else 0.5 with three."""

    seats = ("lead", "hand")
    units = ("points", 10.0)

    def __init__(self, seats=("lead", "hand")):
        self.seats = seats

    def tasks(self, split):
        return [Task(id=f"{split}-{i}", split=split) for i in range(3)]

    async def play(self, team, task, seed):
        known = [team.notebook(seat).partner_notes for seat in self.seats]
        shared = len(set(known)) == 1 and known[0] != ""
        notebooks = {seat: team.notebook(seat) for seat in self.seats}
        if task.split == "formation" and not shared:
            secret = Notebook(task_notes="Talk.", partner_notes=f"The secret is {seed}.")
            notebooks = dict.fromkeys(self.seats, secret)
        said = tuple(Message(sender=self.seats[i % 2], text="x") for i in range(1 if shared else 3))
        return Episode(score=1.0 if shared else 0.5, messages=said, subtasks=1, notebooks=notebooks)


def make_stage(environment=None, *models, **more):
    registry = ModelRegistry()
    for model in models or (Mute(), Mute("other")):
        registry.add(model)
    return Stage(environment or Secrets(), registry, **more)


def make_cohort(teams=6, *, trials=2, seed=0, seats=("lead", "hand"), environment=None):
    """Return a cohort that was never played; every agent has notes of its own."""
    made = tuple(
        Team(
            id=f"team-{i:02d}",
            agents=tuple(
                Agent(
                    seat=seat,
                    model="mute",
                    notebook=Notebook(task_notes=f"T{i}.", partner_notes=f"P{i} {seat}."),
                )
                for seat in seats
            ),
        )
        for i in range(teams)
    )
    stage = make_stage(environment or Secrets(seats))
    return Cohort(stage, made, ((),) * teams, trials=trials, seed=seed, model="mute")


def episode(score=1.0, messages=0, subtasks=1.0, **more):
    """Return an episode; messages are a number, or pairs of sender and kind."""
    if isinstance(messages, int):
        messages = [("lead", "request")] * messages
    said = tuple(Message(sender=sender, text="x", kind=kind) for sender, kind in messages)
    return Episode(score=score, messages=said, subtasks=subtasks, **more)


def played(cohort, condition, episodes, seat=None, replicate=0):
    """Return an arm as if it had been played: team -> its episodes."""
    arm = TeamArm(cohort, condition, seat, replicate=replicate)
    return PlayedArm(
        arm=arm,
        seats=cohort.seats_of_teams(seat),
        episodes=tuple(tuple(episodes[i]) for i in range(len(cohort.teams))),
    )


ALL = (
    Condition.INTACT,
    Condition.PLACEBO,
    Condition.SWAP,
    Condition.SWAP_CLEARED,
    Condition.AMNESIA,
    Condition.NAIVE,
)
