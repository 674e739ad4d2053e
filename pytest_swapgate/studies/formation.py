"""Formation: K teams built alike, each with its own seed and task order, play E episodes and learn.

Source: the swap-test paper, sections 3.1 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_swapgate.environments.base import Environment, role_prompt
from pytest_swapgate.runner import ArmError, BudgetReachedError, Chain, Stage, play_chains
from pytest_swapgate.runner.errors import where_raised
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.runner.locking import locked
from pytest_swapgate.shortening import shortened, written
from pytest_swapgate.teams import Agent, Episode, Task, Team, role_matched_pairs
from pytest_swapgate.teams.episode import FailureClass, Split

TEAMS = 12
EPISODES = 10
TRIALS = 10
LOST_SHARE = 0.05
"""Share of episodes that may be lost; the same as in a gate."""


@dataclass(frozen=True)
class Cohort:
    """Formed teams, their pairing, and the trials that they are measured on.

    Attributes
    ----------
    stage
        Where they play.
    teams
        The teams after formation.
    formation
        Formation episodes of each team.
    trials
        Evaluation episodes of each team and condition.
    seed
        Root of every draw.
    model
        The model of every agent.
    """

    stage: Stage
    teams: tuple[Team, ...]
    formation: tuple[tuple[Episode, ...], ...]
    trials: int
    seed: int
    model: str

    def anew(self) -> Cohort:
        """Return this cohort on a stage that has looked again at what surrounds it."""
        return replace(self, stage=self.stage.anew())

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats of every team."""
        return self.teams[0].seats

    @property
    def name(self) -> str:
        """What tells this cohort from others that share an evidence file."""
        return f"{self.stage.digest}/{self.model}/{len(self.teams)}/{self.seed}"

    def check_seat(self, seat: str | None) -> None:
        """Refuse a seat that no team has."""
        if seat is not None and seat not in self.seats:
            raise ArmError(
                f"seat must be one of {', '.join(self.seats)} (or None to draw one), got {written(seat)}"
            )

    def pairs(self, seat: str | None) -> tuple[tuple[int, int, str], ...]:
        """Return the disjoint swap pairs and the seat that each trades."""
        self.check_seat(seat)
        try:
            return role_matched_pairs(self.teams, rng=np.random.default_rng([self.seed, 3]), seat=seat)
        except ValueError as error:
            raise ArmError(f"{error}; set --swapgate-teams to an even number") from error

    def seats_of_teams(self, seat: str | None) -> tuple[str, ...]:
        """Return the seat that a change touches in each team: the given one, or the one its pair drew."""
        self.check_seat(seat)
        if seat is not None:
            return (seat,) * len(self.teams)
        drawn = {team: s for first, second, s in self.pairs(None) for team in (first, second)}
        return tuple(drawn[index] for index in range(len(self.teams)))

    def evaluation(self, team: int, *, replicate: int = 0) -> tuple[tuple[Task, int], ...]:
        """Return task and seed of each evaluation trial of a team: the same in every condition."""
        tasks = tuple(self.stage.environment.tasks("held_out"))
        rng = np.random.default_rng([self.seed, 2, team, replicate])
        seeds = rng.integers(2**31, size=self.trials)
        return tuple((tasks[r % len(tasks)], int(seeds[r])) for r in range(self.trials))


async def form_cohort(
    stage: Stage,
    *,
    model: str,
    teams: int = TEAMS,
    episodes: int = EPISODES,
    trials: int = TRIALS,
    seed: int = 0,
) -> Cohort:
    """Form a cohort; what is in the evidence file already is read, not played.

    Parameters
    ----------
    model
        Name of the model of every agent.
    teams, episodes, trials
        Teams K >= 2, formation episodes E >= 0 a team, evaluation trials R >= 1 a team and condition.
    seed
        Root of task orders, trial seeds, pairing and drawn seats.

    Raises
    ------
    ArmError
        When the environment has no tasks of a split, or cannot be played, or when more than 5 % of the formation
        was lost to failures that are not the agents'.
    BudgetReachedError
        When a cap is reached before all teams are formed.
    """
    for name, value, least in (("teams", teams, 2), ("episodes", episodes, 0), ("trials", trials, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    check_seats(stage.environment)
    tasks = check_tasks(stage.environment, formation=episodes > 0)
    unformed = [_unformed(stage.environment, index, model) for index in range(teams)]
    groups = []
    for index, team in enumerate(unformed):
        trials_of_team = _formation_trials(tasks, index, episodes, seed)
        groups.append([Chain(team, trials_of_team, study="formation", arm="formation")])
    halt = Halt(stage.purse)
    async with locked(stage, ["formation"]):
        played = await play_chains(stage, groups, halt=halt)
    if halt.reached is not None:
        done = sum(len(group[0][0]) for group in played)
        raise BudgetReachedError(
            f"{halt.reached}; reached while the teams were formed, after {done} of {teams * episodes} formation "
            "episodes: there is nothing to compare yet"
        )
    _check_formation([episode for group in played for episode in group[0][0]])
    formed = tuple(group[0][1].model_copy(update={"id": unformed[i].id}) for i, group in enumerate(played))
    return Cohort(
        stage=stage,
        teams=formed,
        formation=tuple(tuple(group[0][0]) for group in played),
        trials=trials,
        seed=seed,
        model=model,
    )


def _check_formation(episodes: Sequence[Episode]) -> None:
    """Refuse teams that were not formed: they would look like teams that had nothing to learn."""
    lost = [episode for episode in episodes if not episode.counts]
    if len(lost) > LOST_SHARE * len(episodes):
        raise ArmError(
            f"the teams could not be formed: {len(lost)} of {len(episodes)} episodes were lost, the last one to "
            f"{lost[-1].failure}: {shortened(lost[-1].error) or 'no reason given'}; run again, what was played is kept",
            failure=FailureClass.INFRASTRUCTURE,
        )


def check_seats(environment: Environment) -> None:
    """Refuse an environment whose seats cannot hold a team."""
    seats: Any = environment.seats  # a user's
    good = not isinstance(seats, str) and all(isinstance(seat, str) and seat for seat in seats)
    if not good or len(seats) < 2 or len(set(seats)) != len(seats):
        raise ArmError(
            f"{type(environment).__name__}.seats must be at least two distinct names, got {written(seats)}"
        )


def check_tasks(environment: Environment, *, formation: bool = True) -> tuple[Task, ...]:
    """Return the formation tasks; refuse an environment without tasks of a needed split, or with doubled names."""
    name = type(environment).__name__
    forming, held_out = _tasks(environment, "formation"), _tasks(environment, "held_out")
    if not held_out:
        raise ArmError(f"{name}.tasks('held_out') is empty: teams are measured on at least one held-out task")
    if formation and not forming:
        raise ArmError(
            f"{name}.tasks('formation') is empty: give formation tasks, or form with --swapgate-formation 0"
        )
    both = {task.id for task in forming} & {task.id for task in held_out}
    if both:
        raise ArmError(
            f"{name}: task {written(min(both))} is in both splits; a held-out task must not be formed on"
        )
    return forming


def _tasks(environment: Environment, split: Split) -> tuple[Task, ...]:
    called = f"{type(environment).__name__}.tasks({split!r})"
    try:
        tasks = tuple(environment.tasks(split))
    except Exception as error:
        raise ArmError(f"{called} raised {where_raised(error)}") from error
    for task in tasks:
        if not isinstance(task, Task):
            raise ArmError(f"{called} must return Task objects, got {type(task).__name__}")
    ids = [task.id for task in tasks]
    doubled = [one for one in ids if ids.count(one) > 1]
    if doubled:
        raise ArmError(f"{called} has task {written(doubled[0])} twice; every task has its own id")
    return tasks


def _unformed(environment: Environment, index: int, model: str) -> Team:
    fresh = getattr(environment, "fresh_team", None)
    name = f"team-{index:02d}"
    if callable(fresh):
        team: Team = fresh(index)
        return team
    agents = tuple(
        Agent(seat=seat, model=model, role=role_prompt(environment, seat), origin=name)
        for seat in environment.seats
    )
    return Team(id=name, agents=agents)


def _formation_trials(
    tasks: tuple[Task, ...], team: int, episodes: int, seed: int
) -> tuple[tuple[Task, int], ...]:
    """Return a team's own order: all tasks shuffled, again and again, until E episodes are filled.

    A longer formation begins like a shorter one, so that what was played is read.
    """
    rng = np.random.default_rng([seed, 1, team])
    first = rng.integers(2**31, size=EPISODES)  # as many whatever E is: the order is drawn after them
    further = np.random.default_rng([seed, 4, team]).integers(2**31, size=max(0, episodes - EPISODES))
    seeds = np.concatenate([first, further])
    order: list[Task] = []
    while len(order) < episodes:
        order.extend(tasks[int(i)] for i in rng.permutation(len(tasks)))
    return tuple((order[e], int(seeds[e])) for e in range(episodes))
