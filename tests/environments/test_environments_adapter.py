"""A team of another framework behind the environment protocol."""

from __future__ import annotations

import asyncio
import functools
import json
import threading

import anyio
import pytest

from pytest_swapgate.environments import AdaptedEnvironment, TeamAdapter, environment_digest
from pytest_swapgate.models import PlayingTeam
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import ArmError, Stage
from pytest_swapgate.runner.episodes import play_episode, plays_in_threads
from pytest_swapgate.studies import form_cohort, play_arms
from pytest_swapgate.studies.formed import FormedTeams
from pytest_swapgate.teams import Agent, BiteError, Episode, Message, Notebook, Task, Team, placebo, swap


class Crew:
    """A live team whose members count their games, in a dictionary of their own."""

    def __init__(self):
        self.members = {seat: {"model": "theirs", "games": 0} for seat in ("lead", "hand")}
        self.told = None
        self.seated = []

    def snapshot(self):
        return Team(
            id="live",
            agents=tuple(
                Agent(seat=seat, model=member["model"], state=json.dumps(member["games"]))
                for seat, member in self.members.items()
            ),
        )

    def restore(self, team):
        self.told = team.announcement
        for agent in team.agents:
            self._seat(agent.seat, agent)

    def change_seat(self, seat, occupant):
        self.seated.append(seat)
        self._seat(seat, occupant)

    def _seat(self, seat, occupant):
        self.members[seat] = {"model": occupant.model, "games": json.loads(occupant.state)}

    def play(self, task, seed):
        for member in self.members.values():
            member["games"] += 1
        games = [member["games"] for member in self.members.values()]
        return 1.0 if games[0] == games[1] else 0.5


class AsyncCrew(Crew):
    async def play(self, task, seed):
        await anyio.sleep(0)
        return Episode(score=0.75, messages=(Message(sender="lead", text="hi"),), subtasks=1)


class DeafCrew(Crew):
    def change_seat(self, seat, occupant):
        """Do nothing, silently."""


class ForgetfulCrew(Crew):
    def change_seat(self, seat, occupant):
        super().change_seat(seat, occupant.model_copy(update={"state": "0"}))


TASKS = (Task(id="f", split="formation"), Task(id="h1"), Task(id="h2"))


def build(kind, made=None):
    def make():
        crew = kind()
        if made is not None:
            made.append(crew)
        return crew

    return AdaptedEnvironment(make, TASKS, digest="v1")


def play(environment, team, task=TASKS[1]):
    return anyio.run(play_episode, Stage(environment, ModelRegistry()), team, task, 1)


def grown(environment, games):
    """Return a team whose members have played."""
    fresh = environment.fresh_team(0)
    return fresh.model_copy(
        update={"agents": tuple(a.model_copy(update={"state": json.dumps(games)}) for a in fresh.agents)}
    )


def test_adapter_protocol_is_met():
    assert isinstance(Crew(), TeamAdapter)
    assert not isinstance(object(), TeamAdapter)


def test_seats_tasks_and_digest_come_from_the_adapter():
    environment = build(Crew)
    assert environment.seats == ("lead", "hand")
    assert [task.id for task in environment.tasks("held_out")] == ["h1", "h2"]
    assert [task.id for task in environment.tasks("formation")] == ["f"]
    assert environment.digest == "v1"
    assert environment.fresh_team(3).id == "team-03"
    for digest in ("", " ", 1):
        with pytest.raises(ValueError, match="digest must be None, or a text that names the version"):
            AdaptedEnvironment(Crew, TASKS, digest=digest)


def test_without_a_digest_what_builds_the_team_and_its_tasks_tell_which_system_it_is():
    def built_with(games):
        def make():
            crew = Crew()
            crew.members["lead"]["games"] = games
            return crew

        return make

    class Other(Crew):
        pass

    def identity(make, tasks=TASKS):
        return environment_digest(AdaptedEnvironment(make, tasks))

    assert identity(Crew) == identity(Crew)
    assert identity(built_with(0)) == identity(built_with(0))
    others = [identity(Crew), identity(Other), identity(built_with(0)), identity(built_with(1))]
    others.append(identity(Crew, TASKS[:2]))
    assert len(set(others)) == len(others)


def test_states_go_in_and_come_back():
    environment = build(Crew)
    episode = play(environment, grown(environment, 4))
    assert episode.score == 1.0
    assert episode.states == {"lead": "5", "hand": "5"}
    assert play(environment, environment.fresh_team(0)).states == {"lead": "1", "hand": "1"}


def test_async_adapter_and_whole_episodes_are_taken():
    episode = play(build(AsyncCrew), build(AsyncCrew).fresh_team(0))
    assert (episode.score, len(episode.messages), episode.subtasks) == (0.75, 1, 1)


def test_only_seats_that_differ_from_fresh_are_changed():
    made = []
    environment = build(Crew, made)
    team = environment.fresh_team(0)
    donor = grown(environment, 2)
    play(environment, swap(team, "lead", donor).after)
    assert made[-1].seated == ["lead"]


def test_each_episode_gets_a_live_team_of_its_own():
    made = []
    environment = build(Crew, made)
    before = len(made)
    for _ in range(2):
        play(environment, environment.fresh_team(0))
    assert len(made) == before + 2


def test_announcement_reaches_the_adapter():
    made = []
    environment = build(Crew, made)
    team = grown(environment, 1)
    play(environment, team)
    assert made[-1].told == ""
    changed = placebo(team, "lead").after
    play(environment, changed)
    assert made[-1].told == changed.announcement


@pytest.mark.parametrize("kind", [DeafCrew, ForgetfulCrew])
def test_silent_switch_is_a_bite_error(kind):
    environment = build(kind)
    team = environment.fresh_team(0)
    with pytest.raises(BiteError, match=r"did not bite: after change_seat\('lead', ...\)"):
        play(environment, swap(team, "lead", grown(environment, 2)).after)


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (float("nan"), "returned nan: accepted are"),
        (1.5, "returned 1.5: accepted are"),
        (None, r"returned NoneType \(no return statement\?\): accepted are"),
        ("won", "returned str: accepted are"),
    ],
)
def test_what_is_no_outcome_is_refused_in_one_line(returned, complaint):
    class Odd(Crew):
        def play(self, task, seed):
            return returned

    with pytest.raises(ArmError, match=rf"^Odd.play on task 'h1' {complaint}"):
        play(build(Odd), build(Odd).fresh_team(0))


def test_fault_in_the_adapter_names_the_users_line():
    class Broken(Crew):
        def restore(self, team):
            raise KeyError("session")

    with pytest.raises(ArmError, match=r"raised KeyError: 'session' \(test_environments_adapter.py:\d+\)"):
        play(build(Broken), build(Broken).fresh_team(0))


def test_an_adapters_teams_form_and_are_swapped_without_a_model_of_ours():
    environment = build(Crew)
    stage = Stage(environment, ModelRegistry())

    async def work():
        cohort = await form_cohort(stage, model="unused", teams=4, episodes=3, trials=2)
        teams = FormedTeams(cohort)
        return cohort, await play_arms(
            [teams.placebo("lead"), teams.naive("lead"), teams.replace("lead", model="their-other")]
        )

    cohort, (kept, fresh, replaced) = anyio.run(work)
    assert {team["lead"].state for team in cohort.teams} == {"3"}
    assert {e.score for episodes in kept.episodes for e in episodes} == {1.0}
    assert {e.score for episodes in fresh.episodes for e in episodes} == {0.5}
    assert {e.score for episodes in replaced.episodes for e in episodes} == {1.0}
    assert kept.episodes[0][1].states == {"lead": "5", "hand": "5"}


def test_notebooks_of_the_adapter_are_read_back_and_never_rewritten():
    class Noting(Crew):
        def snapshot(self):
            team = super().snapshot()
            noted = Notebook(partner_notes=f"Games: {self.members['lead']['games']}.")
            return team.with_occupant("lead", team["lead"].model_copy(update={"notebook": noted}))

    def no_model(name):
        raise AssertionError("nobody is asked")

    environment = build(Noting)
    team = environment.fresh_team(0)
    episode = anyio.run(environment.play, PlayingTeam(team, no_model), TASKS[1], 1)
    assert episode.notebooks["lead"].partner_notes == "Games: 1."
    assert play(environment, team).notebooks["lead"].partner_notes == "Games: 1."


def test_plain_plays_of_an_adapter_hold_up_nobody_and_may_run_a_loop_of_their_own():
    meet = threading.Barrier(2, timeout=60)

    class Blocking(Crew):
        def play(self, task, seed):
            meet.wait()  # two at once, or never
            return asyncio.run(asyncio.sleep(0, 1.0))

    stage = Stage(build(Blocking), ModelRegistry(), concurrency=2)
    assert plays_in_threads(stage)
    assert not plays_in_threads(Stage(build(AsyncCrew), ModelRegistry()))
    cohort = anyio.run(functools.partial(form_cohort, stage, model="unused", teams=2, episodes=2, trials=1))
    assert len(cohort.teams) == 2


def test_a_plain_play_of_an_adapter_that_takes_too_long_is_lost():
    over = threading.Event()

    class Slow(Crew):
        def play(self, task, seed):
            over.wait(60)
            return 1.0

    environment = build(Slow)
    stage = Stage(environment, ModelRegistry(), episode_timeout=0.1)

    async def work():
        try:
            return await play_episode(stage, environment.fresh_team(0), TASKS[1], 1)
        finally:
            over.set()

    assert anyio.run(work).error == "the episode was not over after 0.1 s"
