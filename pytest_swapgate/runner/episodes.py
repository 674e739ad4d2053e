"""One episode of one team: played, its failures filed, its notebooks rewritten, its calls booked."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from pytest_swapgate.environments.base import writes_notebooks
from pytest_swapgate.models.base import Meter
from pytest_swapgate.models.cassette import attempt
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.runner.errors import ArmError, BudgetReachedError, leading, where_raised
from pytest_swapgate.runner.outages import outage
from pytest_swapgate.runner.purse import EpisodeMeter
from pytest_swapgate.runner.rewriting import rewrite_notebooks
from pytest_swapgate.runner.stage import Stage
from pytest_swapgate.shortening import written
from pytest_swapgate.teams.episode import Episode, FailureClass, Task
from pytest_swapgate.teams.fingerprint import BiteError
from pytest_swapgate.teams.outcome import OutcomeError
from pytest_swapgate.teams.team import Team

REPLAYS = 2
"""Times an episode is played again after an infrastructure failure before the trial counts as lost."""


async def play_until_it_counts(stage: Stage, play: Callable[[EpisodeMeter], Awaitable[Episode]]) -> Episode:
    """Play an episode, again if it was lost, and book each time; return the last one.

    What a cassette gave to, or took from, a time that does not count is taken back.

    Parameters
    ----------
    play
        Plays it once, its model calls seen by the meter that it is given.

    Raises
    ------
    BudgetReachedError
        When a cap is reached; an episode that was cut by it is not returned.
    """
    before = 0
    for _ in range(REPLAYS + 1):
        cut = _watching_for_cuts()
        stage.purse.start()
        with attempt() as tried:
            meter = EpisodeMeter(stage.purse, tried)
            try:
                episode = await play(meter)
                await cut()
                if meter.reached is not None:
                    raise meter.reached
            except BaseException:
                meter.cut()
                tried.again()
                raise
            meter.finish(episode)
            if episode.counts:
                break
            stage.progress.lose(episode)
            tried.again()
            before += 1
    before -= not episode.counts  # the time that is returned is no earlier one
    return episode.model_copy(update={"lost_attempts": before}) if before else episode


def _watching_for_cuts() -> Callable[[], Awaitable[None]]:
    """Return what raises if this task was cancelled since, though whatever it ran has swallowed it.

    An episode that was cut says nothing, whatever came back: code that catches everything makes a failure of it.
    """

    def asked() -> int:
        try:
            task = asyncio.current_task()
        except RuntimeError:  # trio: it does not forget
            return 0
        return 0 if task is None else task.cancelling()

    async def check() -> None:
        await anyio.lowlevel.checkpoint_if_cancelled()
        if asked() > before:
            raise asyncio.CancelledError

    before = asked()
    return check


async def play_episode(
    stage: Stage, team: Team, task: Task, seed: int, *, meter: Meter | None = None
) -> Episode:
    """Play one episode and return it whole: usage, first payloads, notebooks afterwards.

    A provider's failure makes an episode that does not count; a failure of the model itself makes one of score 0.

    Raises
    ------
    ArmError
        When the environment raises or returns something that is no episode, or the configuration is wrong.
    BiteError
        When an adapter did not seat the occupant.
    """
    playing = PlayingTeam(team, stage.models, temperature=stage.temperature, meter=meter)
    episode = timed_out(stage.episode_timeout)
    try:
        with anyio.move_on_after(stage.episode_timeout) as limit:
            played = await _play(stage, playing, task, seed)
        if not limit.cancel_called:  # else it may have been swallowed
            episode = played
    except ModelError as error:
        episode = Episode(score=0.0, failure=error.failure, error=str(error))
    if episode.failure is FailureClass.CONFIGURATION:
        raise ArmError(episode.error, failure=FailureClass.CONFIGURATION)
    return episode.replayed_as(task_id=task.id, seed=seed).model_copy(
        update={
            "usage": episode.usage + playing.usage,
            "payloads": episode.payloads or playing.payloads,
        }
    )


def timed_out(seconds: float | None) -> Episode:
    """Return the episode that took too long."""
    return Episode(
        score=0.0,
        failure=FailureClass.INFRASTRUCTURE,
        error=f"the episode was not over after {seconds or 0:g} s",
    )


async def _play(stage: Stage, playing: PlayingTeam, task: Task, seed: int) -> Episode:
    name = f"{type(stage.environment).__name__}.play"
    try:
        outcome = await _outcome(stage, playing, task, seed)
        if not isinstance(outcome, Episode):
            raise ArmError(
                f"{name} must return an Episode, got {type(outcome).__name__} on task {written(task.id)}"
            )
        # Before the notebooks are rewritten: that request shows every occupant, whatever play() looked at.
        payloads = {**playing.payloads, **outcome.payloads}
        episode = outcome.replayed_as(task_id=task.id, seed=seed).model_copy(update={"payloads": payloads})
        if writes_notebooks(stage.environment) and not episode.notebooks and episode.counts:
            name = "a model, asked to rewrite its notebook,"
            notebooks = await rewrite_notebooks(playing, episode, seed=seed, budget=stage.notebook_budget)
            episode = episode.model_copy(update={"notebooks": notebooks})
    except OutcomeError as error:
        raise ArmError(str(error)) from error
    except Exception as error:
        cause = leading(error)
        if isinstance(cause, ModelError | BiteError | ArmError | BudgetReachedError):
            raise cause from None
        lost = outage(cause, name)
        if lost is not None and not isinstance(cause, TimeoutError):
            raise lost from None
        raise ArmError(f"{name} raised {where_raised(cause)} on task {written(task.id)}") from error
    return episode


def plays_in_threads(stage: Stage) -> bool:
    """Whether episodes are played by a plain function, which nobody can stop, in a thread of this process."""
    environment = stage.environment
    plain = not inspect.iscoroutinefunction(environment.play) or getattr(
        environment, "plays_in_threads", False
    )
    return stage.executor is None and plain


async def _outcome(stage: Stage, playing: PlayingTeam, task: Task, seed: int) -> Any:
    play = stage.environment.play
    if inspect.iscoroutinefunction(play):
        return await play(playing, task, seed)
    # A thread cannot be stopped: who stops the run does not wait for it.
    outcome: Any = await anyio.to_thread.run_sync(play, playing, task, seed, abandon_on_cancel=True)
    return await outcome if inspect.isawaitable(outcome) else outcome
