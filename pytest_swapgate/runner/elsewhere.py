"""Episodes in another process or on another machine, through any `concurrent.futures.Executor`."""

from __future__ import annotations

import asyncio
import concurrent.futures
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread

from pytest_swapgate.environments.base import Environment
from pytest_swapgate.models.cassette import attempt
from pytest_swapgate.models.litellm_model import closing_clients
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner.episodes import play_episode
from pytest_swapgate.runner.errors import ArmError, BudgetReachedError
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.runner.purse import EpisodeMeter, Purse
from pytest_swapgate.runner.stage import Stage
from pytest_swapgate.shortening import shortened, written
from pytest_swapgate.teams.episode import Episode, FailureClass, Task, Usage
from pytest_swapgate.teams.fingerprint import BiteError
from pytest_swapgate.teams.team import Team

SENDINGS = 4
"""Times an episode is sent before the executor is given up: workers die, and others take over."""
_LOST = (
    "LostAnswerError",
    "BrokenExecutor",
    "CancelledError",
    "KilledWorker",
    "CommClosedError",
    "ConnectionError",
)
"""Class names of what executors raise for a result that will not come; Dask's have no common base."""


class LostAnswerError(Exception):
    """An executor that gave something else than what was played, or nothing for far too long."""


@dataclass(frozen=True)
class Job:
    """All that one episode needs; picklable if the environment and the models are."""

    environment: Environment
    models: ModelRegistry
    temperature: float | None
    notebook_budget: int
    episode_timeout: float | None
    team: Team
    task: Task
    seed: int
    usd: float | None
    tokens: int | None


@dataclass(frozen=True)
class Answer:
    """What came of it: an episode, or what must stop the run as plain data, for not every exception can travel."""

    episode: Episode | None
    usage: Usage
    spent: Usage
    stop: str = ""
    message: str = ""
    failure: FailureClass = FailureClass.ENVIRONMENT


async def play_elsewhere(
    stage: Stage, executor: Executor, team: Team, task: Task, seed: int, *, meter: EpisodeMeter, halt: Halt
) -> Episode:
    """Play one episode on an executor as `play_episode` plays it here; a lost result is sent for again.

    A cap on money holds inside the episode against what was left when it began, and between episodes exactly; an
    episode that waits in the executor when it is reached is taken back.

    Raises
    ------
    ArmError
        As `play_episode` does; also when the executor loses the episode again and again, or cannot take it.
    BudgetReachedError
        When a cap is reached in the middle.
    """
    stage.purse.check()
    usd, tokens = stage.purse.left()
    job = Job(
        environment=stage.environment,
        models=stage.models,
        temperature=stage.temperature,
        notebook_budget=stage.notebook_budget,
        episode_timeout=stage.episode_timeout,
        team=team,
        task=task,
        seed=seed,
        usd=usd,
        tokens=tokens,
    )
    # An episode may wait in the executor for all that are in flight with it.
    timeout = stage.episode_timeout
    patience = None if timeout is None else timeout * (stage.concurrency + 1)
    answer = await _answer(executor, job, halt, patience)
    meter.booked_elsewhere(answer.usage, answer.spent)
    if answer.stop == "budget":
        stage.purse.check()
        raise BudgetReachedError(answer.message)
    if answer.stop == "bite":
        raise BiteError(answer.message)
    if answer.episode is None:
        raise ArmError(answer.message, failure=answer.failure)
    return answer.episode


def play_job(job: Job) -> Answer:
    """Play one episode in an event loop of its own: what the executor runs."""
    # Not anyio.run: in a process that was forked off an event loop, it believes to be in one.
    return asyncio.run(_play_job(job))


async def _play_job(job: Job) -> Answer:
    purse = Purse(usd=job.usd, tokens=job.tokens)
    stage = Stage(
        environment=job.environment,
        models=job.models,
        purse=purse,
        temperature=job.temperature,
        notebook_budget=job.notebook_budget,
        episode_timeout=job.episode_timeout,
    )
    with attempt() as tried:
        meter = EpisodeMeter(purse, tried)
        try:
            async with closing_clients():
                episode = await play_episode(stage, job.team, job.task, job.seed, meter=meter)
            if meter.reached is not None:
                raise meter.reached
        except (ArmError, BiteError, BudgetReachedError) as error:
            meter.cut()
            tried.again()
            return Answer(
                episode=None,
                usage=meter.usage,
                spent=purse.spent,
                stop={BiteError: "bite", BudgetReachedError: "budget"}.get(type(error), "arm"),
                message=str(error),
                failure=getattr(error, "failure", FailureClass.ENVIRONMENT),
            )
        meter.finish(episode)
        if not episode.counts:
            tried.again()
    return Answer(episode=episode, usage=episode.usage, spent=purse.spent)


async def _answer(executor: Executor, job: Job, halt: Halt, patience: float | None) -> Answer:
    for sending in range(1, SENDINGS + 1):
        try:
            future = executor.submit(play_job, job)
            with halt.sent(future):
                answer = await _in_time(future, patience)
            if not isinstance(answer, Answer):
                raise LostAnswerError(f"it returned {type(answer).__name__}, not what was played")
            return answer
        except Exception as error:
            if isinstance(error, concurrent.futures.CancelledError):
                halt.check()
            what = shortened(f"{type(error).__name__}: {error}".split("\n")[0])
            where = f"{type(executor).__name__}, the executor,"
            if not _is_lost(error):
                raise ArmError(
                    f"{where} could not play an episode: {what}; environment and models must be picklable "
                    "(classes at the top of a module, no locks, no open files, no cassette)",
                    failure=FailureClass.CONFIGURATION,
                ) from error
            if sending == SENDINGS:
                raise ArmError(
                    f"{where} lost the episode of {job.team.id} on task {written(job.task.id)} {SENDINGS} times, "
                    f"at last to {what}; what was played is kept and will be read",
                    failure=FailureClass.INFRASTRUCTURE,
                ) from error
            await anyio.sleep(0.05 * 2**sending)
    raise AssertionError("unreachable: the last sending raises")


def _is_lost(error: Exception) -> bool:
    return isinstance(error, concurrent.futures.CancelledError) or any(
        cls.__name__ in _LOST for cls in type(error).__mro__
    )


async def _in_time(future: Future[Answer], patience: float | None) -> Answer:
    with anyio.move_on_after(patience):
        return await _result(future)
    raise LostAnswerError(f"nothing came back for {patience or 0:g} s")


async def _result(future: Future[Answer]) -> Answer:
    """Wait for a result without holding up the event loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # trio
        await anyio.to_thread.run_sync(concurrent.futures.wait, [future], abandon_on_cancel=True)
        return future.result()
    done = anyio.Event()

    def wake(_: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(done.set)

    # Not asyncio.wrap_future: there, a future that the executor cancelled looks like our own cancellation.
    future.add_done_callback(wake)
    try:
        await done.wait()
    except BaseException:
        future.cancel()
        raise
    return future.result()
