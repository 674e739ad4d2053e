"""Teams in chains: each episode begins with the notebooks that the one before left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from pytest_swapgate.evidence import content_key
from pytest_swapgate.runner.episodes import play_episode
from pytest_swapgate.runner.stage import Stage
from pytest_swapgate.teams.episode import Episode, Task
from pytest_swapgate.teams.fingerprint import team_fingerprint
from pytest_swapgate.teams.team import Team

REPLAYS = 2
"""Times an episode is played again after an infrastructure failure before the trial counts as lost."""


@dataclass(frozen=True)
class Chain:
    """One team under one condition, over its trials.

    Attributes
    ----------
    team
        Who plays first.
    trials
        Task and seed of each episode, in order.
    study, arm
        Labels in the evidence file; ``arm`` also enters the key.
    """

    team: Team
    trials: tuple[tuple[Task, int], ...]
    study: str
    arm: str


async def play_chains(
    stage: Stage, groups: Sequence[Sequence[Chain]]
) -> list[list[tuple[list[Episode], Team]]]:
    """Play groups of chains; groups run side by side, chains of a group in turn, trial by trial.

    Parameters
    ----------
    groups
        Chains that belong together (the arms of one team) form a group, so that common drift cancels.

    Returns
    -------
    list of list of (episodes, team afterwards)
        In the order of the input.
    """
    results: list[list[tuple[list[Episode], Team]]] = [[] for _ in groups]
    limiter = anyio.CapacityLimiter(stage.concurrency)
    failed: list[BaseException] = []

    async def play_group(index: int, chains: Sequence[Chain]) -> None:
        async with limiter:
            if failed:
                return
            try:
                results[index] = await _play_interleaved(stage, chains)
            except Exception as error:
                # One plain exception, not a group of them: it is shown to a user.
                failed.append(error)
                tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for index, chains in enumerate(groups):
            tasks.start_soon(play_group, index, chains)
    if failed:
        raise failed[0]
    return results


async def _play_interleaved(stage: Stage, chains: Sequence[Chain]) -> list[tuple[list[Episode], Team]]:
    teams = [chain.team for chain in chains]
    episodes: list[list[Episode]] = [[] for _ in chains]
    for trial in range(max((len(chain.trials) for chain in chains), default=0)):
        for i, chain in enumerate(chains):
            if trial < len(chain.trials):
                task, seed = chain.trials[trial]
                episode = await _read_or_play(stage, chain, teams[i], task, seed, trial)
                episodes[i].append(episode)
                teams[i] = teams[i].after(episode)
    return list(zip(episodes, teams, strict=True))


async def _read_or_play(stage: Stage, chain: Chain, team: Team, task: Task, seed: int, trial: int) -> Episode:
    store = stage.store
    key = content_key(
        environment=stage.digest,
        team=team_fingerprint(team),
        condition=chain.arm,
        task=task.model_dump(mode="json"),
        seed=seed,
        trial=trial,
        temperature=stage.temperature,
        budget=stage.notebook_budget,
    )
    if store is not None and not stage.fresh:
        found = store.get(key)
        if found is not None:
            stage.purse.found()
            return found
    for attempt in range(REPLAYS + 1):
        stage.purse.start()
        episode = await play_episode(stage, team, task, seed)
        stage.purse.finish(episode.usage)
        if episode.counts or attempt == REPLAYS:
            break
    if store is not None and episode.counts:
        store.put(key, episode, study=chain.study, unit=team.id, arm=chain.arm, run=stage.run)
    return episode
