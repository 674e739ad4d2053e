"""One episode of one team: played, its failures filed, its notebooks rewritten."""

from __future__ import annotations

import inspect
from typing import Any

import anyio.to_thread

from pytest_swapgate.environments.base import writes_notebooks
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.runner.errors import ArmError, BudgetReachedError, where_raised
from pytest_swapgate.runner.rewriting import rewrite_notebooks
from pytest_swapgate.runner.stage import Stage
from pytest_swapgate.teams.episode import Episode, FailureClass, Task
from pytest_swapgate.teams.fingerprint import BiteError
from pytest_swapgate.teams.team import Team


async def play_episode(stage: Stage, team: Team, task: Task, seed: int) -> Episode:
    """Play one episode and return it whole: usage, first payloads, notebooks afterwards.

    A provider's failure makes an episode that does not count; a failure of the model itself makes one of score 0.

    Raises
    ------
    ArmError
        When the environment raises or returns something that is no episode, or the configuration is wrong.
    BiteError
        When an adapter did not seat the occupant.
    """
    playing = PlayingTeam(team, stage.models, temperature=stage.temperature)
    try:
        outcome = await _outcome(stage, playing, task, seed)
        episode = outcome.replayed_as(task_id=task.id, seed=seed)
        if writes_notebooks(stage.environment) and not episode.notebooks and episode.counts:
            notebooks = await rewrite_notebooks(playing, episode, seed=seed, budget=stage.notebook_budget)
            episode = episode.model_copy(update={"notebooks": notebooks})
    except ModelError as error:
        if error.failure is FailureClass.CONFIGURATION:
            raise ArmError(str(error), failure=error.failure) from error
        episode = Episode(score=0.0, failure=error.failure, error=str(error), task_id=task.id, seed=seed)
    return episode.model_copy(
        update={
            "usage": episode.usage + playing.usage,
            "payloads": {**playing.payloads, **episode.payloads},
        }
    )


async def _outcome(stage: Stage, playing: PlayingTeam, task: Task, seed: int) -> Episode:
    play = stage.environment.play
    name = f"{type(stage.environment).__name__}.play"
    try:
        if inspect.iscoroutinefunction(play):
            outcome: Any = await play(playing, task, seed)
        else:
            outcome = await anyio.to_thread.run_sync(play, playing, task, seed)
            if inspect.isawaitable(outcome):
                outcome = await outcome
    except (ModelError, BiteError, ArmError, BudgetReachedError):
        raise
    except Exception as error:
        raise ArmError(f"{name} raised {where_raised(error)} on task {task.id!r}") from error
    if not isinstance(outcome, Episode):
        raise ArmError(f"{name} must return an Episode, got {type(outcome).__name__} on task {task.id!r}")
    return outcome
