"""Teams in chains: each episode begins with the notebooks that the one before left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import anyio.lowlevel

from pytest_swapgate.evidence import content_key
from pytest_swapgate.models.litellm_model import closing_clients
from pytest_swapgate.runner.elsewhere import play_elsewhere
from pytest_swapgate.runner.episodes import play_episode, play_until_it_counts
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.runner.purse import EpisodeMeter
from pytest_swapgate.runner.side_by_side import side_by_side
from pytest_swapgate.runner.stage import Stage
from pytest_swapgate.teams.episode import Episode, Task
from pytest_swapgate.teams.fingerprint import team_fingerprint
from pytest_swapgate.teams.team import Team


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
    stage: Stage, groups: Sequence[Sequence[Chain]], *, halt: Halt | None = None
) -> list[list[tuple[list[Episode], Team]]]:
    """Play groups of chains; groups run side by side, chains of a group in turn, trial by trial.

    Groups that wait take turns after every trial, so that all of them get on alike: where a cap is reached, many
    groups with a few trials say more than a few that are complete.

    Parameters
    ----------
    groups
        Chains that belong together (the arms of one team) form a group, so that common drift cancels.
    halt
        Remembers a cap that is reached; a chain that it cuts then ends with its last finished episode. None raises
        the cap instead. Either way what is in flight may finish, and nothing else is played.

    Returns
    -------
    list of list of (episodes, team afterwards)
        In the order of the input.

    Raises
    ------
    BudgetReachedError
        When a cap is reached and there is no ``halt``.
    """
    results: list[list[tuple[list[Episode], Team]]] = [[] for _ in groups]
    cap = Halt(stage.purse) if halt is None else halt
    turns = anyio.CapacityLimiter(stage.concurrency)

    async def play_group(index: int) -> None:
        results[index] = await _play_interleaved(stage, groups[index], cap, turns)

    planned = sum(len(chain.trials) for group in groups for chain in group)
    stage.progress.plan(planned)
    async with closing_clients():
        await side_by_side(play_group, range(len(groups)), max(1, len(groups)))
    if cap.reached is not None:
        stage.progress.plan(sum(len(episodes) for group in results for episodes, _ in group) - planned)
        if halt is None:
            raise cap.reached
    return results


async def _play_interleaved(
    stage: Stage, chains: Sequence[Chain], halt: Halt, turns: anyio.CapacityLimiter
) -> list[tuple[list[Episode], Team]]:
    teams = [chain.team for chain in chains]
    episodes: list[list[Episode]] = [[] for _ in chains]
    for trial in range(max((len(chain.trials) for chain in chains), default=0)):
        async with turns:
            # Whoever had the turn before may have ended the run.
            await anyio.lowlevel.checkpoint_if_cancelled()
            for i, chain in enumerate(chains):
                if trial < len(chain.trials) and len(episodes[i]) == trial:  # a chain that was cut stays cut
                    task, seed = chain.trials[trial]
                    with halt.catching():
                        episode = await _read_or_play(stage, chain, teams[i], task, seed, trial, halt)
                        episodes[i].append(episode)
                        teams[i] = teams[i].after(episode)
    return list(zip(episodes, teams, strict=True))


async def _read_or_play(
    stage: Stage, chain: Chain, team: Team, task: Task, seed: int, trial: int, halt: Halt
) -> Episode:
    store = stage.store
    identities = [stage.model_identity(agent.model) for agent in team.agents]
    key = content_key(
        environment=stage.digest,
        team=team_fingerprint(team),
        condition=chain.arm,
        task=task.model_dump(mode="json"),
        seed=seed,
        trial=trial,
        temperature=stage.temperature,
        budget=stage.notebook_budget,
        # Where names say all, the key is the one that it was before models could say more.
        **({"models": identities} if any(identities) else {}),
    )
    if store is not None and not stage.fresh:
        found = store.get(key)
        if found is not None:
            stage.purse.found()
            stage.progress.finish(found, read=True)
            return found
    halt.check()

    async def play(meter: EpisodeMeter) -> Episode:
        if stage.executor is None:
            return await play_episode(stage, team, task, seed, meter=meter)
        return await play_elsewhere(stage, stage.executor, team, task, seed, meter=meter, halt=halt)

    with halt.cutting():
        episode = await play_until_it_counts(stage, play)
    if store is not None and episode.counts:
        store.put(key, episode, study=chain.study, unit=team.id, arm=chain.arm, run=stage.run)
    stage.progress.finish(episode)
    return episode
