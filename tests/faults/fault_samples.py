"""A tiny environment that asks a served model, and a study of it."""

from __future__ import annotations

import json

import anyio

from pytest_swapgate.gate.compare_teams import compare_teams
from pytest_swapgate.gate.judge import judge
from pytest_swapgate.gate.tolerances import SwapPenalty
from pytest_swapgate.models import Completion
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Purse, Stage
from pytest_swapgate.studies import form_cohort
from pytest_swapgate.studies.formed import FormedTeams
from pytest_swapgate.teams import Episode, Task, Usage

PRICE = (0.001, 0.002)
TOLERANCE = SwapPenalty(score=0.15, cost=None, score_sd=0.15)


class SocketModel:
    """Asks the server without litellm, whose import takes longer than a whole study here."""

    def __init__(self, url, name):
        self.name = f"openai/{name}"
        self.served = name
        self.port = int(url.split(":")[2].split("/")[0])

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        body = json.dumps({"model": self.served, "messages": messages}).encode()
        async with await anyio.connect_tcp("127.0.0.1", self.port) as stream:
            await stream.send(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            received = b""
            while not received.endswith(b"}}"):
                received += await stream.receive()
        answer = json.loads(received.partition(b"\r\n\r\n")[2])
        used = answer["usage"]
        tokens = (used["prompt_tokens"], used["completion_tokens"])
        return Completion(
            answer["choices"][0]["message"]["content"],
            Usage(
                calls=1,
                prompt_tokens=tokens[0],
                completion_tokens=tokens[1],
                usd=tokens[0] * PRICE[0] + tokens[1] * PRICE[1],
            ),
            self.name,
        )


def make_quick_stage(url, *, environment=None, **more):
    registry = ModelRegistry()
    for name in ("good", "bad"):
        registry.add(SocketModel(url, name))
    return Stage(environment or Quiz(), registry, **{"purse": Purse(), **more})


class Quiz:
    """The lead answers one question; yes is right."""

    seats = ("lead", "hand")
    writes_notebooks = False
    digest = "quiz 1"

    def tasks(self, split):
        return [Task(id=f"{split}-{i}", split=split) for i in range(3)]

    async def play(self, team, task, seed):
        team.notebook("hand")
        said = await team.ask("lead", [{"role": "user", "content": f"{task.id} {seed}"}])
        return Episode(score=float(said == "yes"), subtasks=1)


def make_stage(url, *, price=PRICE, attempts=5, timeout=20.0, backoff=0.001, environment=None, **more):
    registry = ModelRegistry()
    for name in ("openai/good", "openai/bad"):
        registry.add(
            LiteLLMModel(
                name,
                options={"api_base": url, "api_key": "sk-x"},
                price=price,
                attempts=attempts,
                timeout=timeout,
                backoff=backoff,
            )
        )
    return Stage(environment or Quiz(), registry, **{"purse": Purse(), **more})


async def compare(stage, *, teams=20, trials=10):
    """Replace the lead of every team; return the outcome of 2 x teams x trials episodes."""
    cohort = await form_cohort(stage, model="openai/good", teams=teams, episodes=0, trials=trials)
    formed = FormedTeams(cohort, {})
    arms = formed.placebo("lead"), formed.replace("lead", model="openai/bad")
    return await compare_teams((TOLERANCE,), *arms)


def run_gate(stage, **more):
    """Return outcome and report."""

    async def work():
        return await compare(stage, **more)

    result = anyio.run(work)
    return result, judge(TOLERANCE, result, nodeid="t")


def episodes_of(result):
    return [e for unit in result.units for cell in unit.cells for e in (*cell.baseline, *cell.candidate)]


def outcomes(result):
    """Return what every episode came to, but for what it consumed."""
    return [(e.task_id, e.seed, e.score, e.failure) for e in episodes_of(result)]
