"""A small environment and models that fail on demand."""

from __future__ import annotations

from pytest_swapgate.models import Completion
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Chain, Purse, Stage
from pytest_swapgate.teams import Agent, Episode, Message, Task, Team, Usage

TASKS = tuple(Task(id=f"task-{i}") for i in range(3))


class Talk:
    """Both seats say one thing; the score is the share of answers that are ``yes``."""

    seats = ("one", "two")

    def tasks(self, split):
        return [task.model_copy(update={"split": split, "id": f"{split}-{task.id}"}) for task in TASKS]

    async def play(self, team, task, seed):
        said = []
        for seat in self.seats:
            asked = [{"role": "user", "content": f"{task.id}\n{team.notebook(seat).render()}"}]
            said.append(Message(sender=seat, text=await team.ask(seat, asked, seed=seed)))
        return Episode(score=sum(m.text == "yes" for m in said) / 2, messages=tuple(said), subtasks=1)


class Model:
    """Says yes; writes down how often it has written. Calls ``hook`` before each answer."""

    def __init__(self, name="model", hook=None):
        self.name = name
        self.hook = hook
        self.asked = []

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        prompt = messages[-1]["content"]
        self.asked.append(prompt)
        if self.hook is not None:
            self.hook(prompt)
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=1, usd=0.25)
        if "Rewrite your notebook" in prompt:
            written = prompt.count("Episode.")
            return Completion("## Partner notes\n" + "Episode. " * (written + 1), usage, self.name)
        return Completion("yes", usage, self.name)


def make_team(name="t", model="model"):
    return Team(id=name, agents=tuple(Agent(seat=seat, model=model, origin=name) for seat in Talk.seats))


def make_stage(*models, environment=None, **more):
    registry = ModelRegistry()
    for model in models or (Model(),):
        registry.add(model)
    return Stage(environment or Talk(), registry, **{"purse": Purse(), **more})


def make_chain(team=None, arm="arm", trials=3, study="study", first_seed=10):
    plan = tuple((TASKS[i % len(TASKS)], first_seed + i) for i in range(trials))
    return Chain(team or make_team(), plan, study=study, arm=arm)
