"""Teams in chains: what is carried over, what is read instead of played, what stops a run."""

from __future__ import annotations

import asyncio

import anyio
import anyio.to_thread
import pytest
from runner_samples import TASKS, Model, Talk, make_chain, make_stage, make_team

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models import Completion, ModelError
from pytest_swapgate.runner import ArmError, BudgetReachedError, Purse, play_chains
from pytest_swapgate.runner.episodes import REPLAYS, play_episode
from pytest_swapgate.teams import BiteError, Episode, FailureClass, Notebook, Task, Usage, placebo


def play(stage, *groups):
    return anyio.run(play_chains, stage, [list(group) for group in groups])


def lost(failure=FailureClass.INFRASTRUCTURE, text="gone"):
    return ModelError(text, failure=failure, usage=Usage(calls=3))


def failing(times, error=None, when=lambda prompt: True):
    """Return a hook that raises so often."""
    left = [times]

    def hook(prompt):
        if left[0] and when(prompt):
            left[0] -= 1
            raise error or lost()

    return hook


# Notebooks.


def test_each_episode_begins_with_the_notebooks_of_the_one_before():
    model = Model()
    [[(episodes, team)]] = play(make_stage(model), [make_chain(trials=3)])
    notes = [e.notebooks["one"].partner_notes.count("Episode.") for e in episodes]
    assert notes == [1, 2, 3]
    assert team["one"].notebook == episodes[-1].notebooks["one"]
    turns = [p for p in model.asked if "Rewrite" not in p]
    assert [p.count("Episode.") for p in turns] == [0, 0, 1, 1, 2, 2]


def test_episodes_carry_task_seed_usage_and_first_requests():
    [[(episodes, _)]] = play(make_stage(), [make_chain(trials=2)])
    assert [(e.task_id, e.seed) for e in episodes] == [("task-0", 10), ("task-1", 11)]
    assert episodes[0].usage == Usage(calls=4, prompt_tokens=40, completion_tokens=4, usd=1.0)
    assert set(episodes[0].payloads) == {"one", "two"}


def test_chains_fork_from_the_same_state():
    team = make_team()
    chains = [make_chain(team, "a"), make_chain(team, "b")]
    [[(first, _), (second, _)]] = play(make_stage(), chains)
    assert first == second
    assert team["one"].notebook == Notebook()


def test_announcement_stays_through_a_chain():
    changed = placebo(make_team(), "one").after
    [[(_, team)]] = play(make_stage(), [make_chain(changed)])
    assert team.announcement == changed.announcement


def test_notebook_budget_is_kept():
    [[(episodes, _)]] = play(make_stage(notebook_budget=3), [make_chain(trials=3)])
    assert [e.notebooks["one"].tokens for e in episodes] == [2, 2, 2]
    assert episodes[-1].notebooks["one"].cut == 2


def test_environment_may_write_the_notebooks_itself():
    class Own(Talk):
        async def play(self, team, task, seed):
            return Episode(score=1.0, notebooks={"one": Notebook(task_notes="Mine.")})

    class Never(Talk):
        writes_notebooks = False

    [[(episodes, team)]] = play(make_stage(environment=Own()), [make_chain(trials=1)])
    assert team["one"].notebook.task_notes == "Mine."
    assert episodes[0].usage.calls == 0
    [[(episodes, team)]] = play(make_stage(environment=Never()), [make_chain(trials=1)])
    assert team["one"].notebook.empty
    assert episodes[0].usage.calls == 2


@pytest.mark.parametrize("answer", ["", "  \n", None])
def test_agent_that_writes_nothing_keeps_its_notebook(answer):
    class Silent(Model):
        async def complete(self, messages, **more):
            if "Rewrite" in messages[-1]["content"]:
                return Completion(answer, Usage(calls=1), self.name)
            return await super().complete(messages, **more)

    kept = Notebook(task_notes="Kept.")
    team = make_team().with_occupant("one", make_team()["one"].model_copy(update={"notebook": kept}))
    [[(episodes, after)]] = play(make_stage(Silent()), [make_chain(team, trials=1)])
    assert episodes[0].score == 1.0
    assert episodes[0].failure is None
    assert after["one"].notebook == kept


# Order.


def test_chains_of_a_group_take_turns_trial_by_trial():
    played = []

    class Noting(Talk):
        async def play(self, team, task, seed):
            played.append((team.team.id, task.id))
            await anyio.sleep(0)
            return await super().play(team, task, seed)

    chains = [make_chain(make_team("a")), make_chain(make_team("b")), make_chain(make_team("c"), trials=1)]
    play(make_stage(environment=Noting()), chains)
    assert played == [
        ("a", "task-0"),
        ("b", "task-0"),
        ("c", "task-0"),
        ("a", "task-1"),
        ("b", "task-1"),
        ("a", "task-2"),
        ("b", "task-2"),
    ]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_groups_play_at_once_than_allowed(concurrency):
    running, most = [0], [0]

    class Slow(Talk):
        async def play(self, team, task, seed):
            running[0] += 1
            most[0] = max(most[0], running[0])
            await anyio.sleep(0.002)
            running[0] -= 1
            return Episode(score=1.0)

    groups = [[make_chain(make_team(str(i)), trials=2)] for i in range(7)]
    results = play(make_stage(environment=Slow(), concurrency=concurrency), *groups)
    assert most[0] == concurrency
    assert [team.id for [(_, team)] in results] == [str(i) for i in range(7)]


def test_nothing_to_play_is_nothing():
    assert play(make_stage()) == []
    assert play(make_stage(), [make_chain(trials=0)])[0][0][0] == []


# Evidence.


@pytest.fixture
def store(tmp_path):
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        yield opened


def test_second_run_reads_everything_and_plays_nothing(store):
    first = make_stage(store=store)
    before = play(first, [make_chain()])
    assert (first.purse.played, first.purse.read) == (3, 0)
    model = Model()
    second = make_stage(model, store=store)
    assert play(second, [make_chain()]) == before
    assert (second.purse.played, second.purse.read) == (0, 3)
    assert second.purse.usage == Usage()
    assert model.asked == []


def test_interrupted_run_pays_only_for_what_is_missing(store):
    with pytest.raises(BudgetReachedError):
        play(make_stage(store=store, purse=Purse(episodes=2)), [make_chain()])
    again = make_stage(store=store)
    play(again, [make_chain()])
    assert (again.purse.played, again.purse.read) == (1, 2)


def test_fresh_run_plays_everything_again(store):
    play(make_stage(store=store), [make_chain()])
    fresh = make_stage(store=store, fresh=True)
    play(fresh, [make_chain()])
    assert (fresh.purse.played, fresh.purse.read) == (3, 0)
    assert store.conflicts == 0


def changed_rules():
    class Talk2(Talk):
        """Other rules."""

    return {"environment": Talk2()}


@pytest.mark.parametrize(
    ("stage", "chain"),
    [
        ({"temperature": 0.5}, {}),
        ({"notebook_budget": 100}, {}),
        (changed_rules(), {}),
        ({}, {"arm": "other"}),
        ({}, {"first_seed": 11}),
        ({}, {"team": make_team(model="other")}),
        ({}, {"team": placebo(make_team(), "one").after}),
    ],
)
def test_what_changes_an_episode_is_played_anew(store, stage, chain):
    play(make_stage(store=store), [make_chain(trials=1)])
    again = make_stage(Model(), Model("other"), store=store, **stage)
    play(again, [make_chain(**{"trials": 1, **chain})])
    assert (again.purse.played, again.purse.read) == (1, 0)


def test_names_do_not_matter_to_the_evidence(store):
    play(make_stage(store=store), [make_chain(make_team("a"), study="s")])
    again = make_stage(store=store)
    play(again, [make_chain(make_team("b"), study="t")])
    assert again.purse.read == 3


def test_rows_are_labelled(store):
    play(make_stage(store=store, run="r7"), [make_chain(make_team("team-3"), "placebo(one)", study="swap")])
    rows = list(store.episodes())
    assert {(row.study, row.unit, row.arm, row.run) for row in rows} == {
        ("swap", "team-3", "placebo(one)", "r7")
    }


# Failures.


def test_infrastructure_failure_is_played_again():
    stage = make_stage(Model(hook=failing(REPLAYS)))
    [[(episodes, _)]] = play(stage, [make_chain(trials=1)])
    assert episodes[0].counts
    assert stage.purse.played == REPLAYS + 1
    # The lost attempts are paid for too.
    assert stage.purse.usage.calls == 3 * REPLAYS + 4


def test_trial_that_stays_lost_is_lost_and_the_chain_goes_on(store):
    stage = make_stage(Model(hook=failing(REPLAYS + 1, when=lambda p: p.startswith("task-1"))), store=store)
    [[(episodes, team)]] = play(stage, [make_chain(trials=3)])
    assert [e.counts for e in episodes] == [True, False, True]
    assert (episodes[1].failure, episodes[1].error) == (FailureClass.INFRASTRUCTURE, "gone")
    assert (episodes[1].task_id, episodes[1].seed) == ("task-1", 11)
    assert team["one"].notebook.partner_notes == "Episode. Episode."
    # A lost trial is not kept: a second run plays it.
    again = make_stage(store=store)
    play(again, [make_chain(trials=2)])
    assert (again.purse.played, again.purse.read) == (1, 1)


@pytest.mark.parametrize("failure", [FailureClass.ENVIRONMENT, FailureClass.JUDGE, FailureClass.HARNESS])
def test_episode_that_an_environment_gives_up_is_played_again(failure):
    class Unsure(Talk):
        async def play(self, team, task, seed):
            return Episode(score=0.0, failure=failure, error="broken judge")

    stage = make_stage(environment=Unsure())
    [[(episodes, _)]] = play(stage, [make_chain(trials=1)])
    assert episodes[0].failure is failure
    assert stage.purse.played == REPLAYS + 1


def test_agents_own_failure_is_a_score_of_0_and_is_kept(store):
    stage = make_stage(Model(hook=failing(1, lost(FailureClass.AGENT))), store=store)
    [[(episodes, _)]] = play(stage, [make_chain(trials=1)])
    assert (episodes[0].score, episodes[0].failure, episodes[0].counts) == (0.0, FailureClass.AGENT, True)
    assert stage.purse.played == 1
    assert len(list(store.episodes())) == 1


def test_agent_that_fails_to_write_its_notebook_keeps_its_score():
    hook = failing(1, lost(FailureClass.AGENT), when=lambda p: "Rewrite" in p)
    [[(episodes, team)]] = play(make_stage(Model(hook=hook)), [make_chain(trials=1)])
    assert (episodes[0].score, episodes[0].failure) == (1.0, None)
    assert team["one"].notebook.empty
    assert team["two"].notebook.partner_notes == "Episode."


@pytest.mark.parametrize("when", ["turn", "rewriting"])
def test_configuration_error_stops_the_run_at_once(when):
    model = Model(
        hook=failing(
            1,
            lost(FailureClass.CONFIGURATION, "check the key"),
            when=lambda p: ("Rewrite" in p) == (when == "rewriting"),
        )
    )
    with pytest.raises(ArmError, match=r"^check the key$") as caught:
        play(make_stage(model, concurrency=1), [make_chain()], [make_chain(make_team("u"))])
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert len(model.asked) <= 4


def test_configuration_error_of_an_environment_stops_too():
    class Unset(Talk):
        async def play(self, team, task, seed):
            return Episode(score=0.0, failure=FailureClass.CONFIGURATION, error="set THE_URL")

    with pytest.raises(ArmError, match="set THE_URL"):
        play(make_stage(environment=Unset()), [make_chain()])


def test_fault_of_an_environment_is_one_line_with_the_users_place():
    class Broken(Talk):
        async def play(self, team, task, seed):
            raise RuntimeError("first line\nsecond line")

    with pytest.raises(ArmError) as caught:
        play(make_stage(environment=Broken()), [make_chain()], [make_chain(make_team("u"))])
    assert str(caught.value).startswith("Broken.play raised RuntimeError: first line (test_runner_chains.py:")
    assert str(caught.value).endswith("on task 'task-0'")
    assert caught.value.failure is FailureClass.ENVIRONMENT


@pytest.mark.parametrize("returned", [None, 1.0, "won"])
def test_environment_must_return_an_episode(returned):
    class Odd(Talk):
        async def play(self, team, task, seed):
            return returned

    with pytest.raises(ArmError, match=rf"Odd.play must return an Episode, got {type(returned).__name__}"):
        play(make_stage(environment=Odd()), [make_chain()])


def test_impossible_episode_is_named_by_its_field():
    class Odd(Talk):
        async def play(self, team, task, seed):
            return Episode(score=1.7)

    with pytest.raises(
        ArmError,
        match=r"ValidationError: Episode.score: .* less than or equal to 1 \(test_runner_chains.py:\d+\)",
    ):
        play(make_stage(environment=Odd()), [make_chain()])


@pytest.mark.parametrize("when", ["turn", "rewriting"])
def test_users_own_model_that_breaks_is_one_line(when):
    def hook(prompt):
        if ("Rewrite" in prompt) == (when == "rewriting"):
            {}["missing"]

    with pytest.raises(ArmError, match=r"raised KeyError: 'missing' \(test_runner_chains.py:\d+\)"):
        play(make_stage(Model(hook=hook)), [make_chain()])


class Parallel(Talk):
    """Asks both seats at once, as an environment may."""

    async def play(self, team, task, seed):
        async with anyio.create_task_group() as group:
            for seat in self.seats:
                group.start_soon(team.ask, seat, [{"role": "user", "content": task.id}])
        return Episode(score=1.0)


def test_model_failure_inside_an_exception_group_keeps_its_class():
    stage = make_stage(Model(hook=failing(2)), environment=Parallel())
    [[(episodes, _)]] = play(stage, [make_chain(trials=1)])
    assert episodes[0].counts
    with pytest.raises(ArmError, match="check the key"):
        play(
            make_stage(
                Model(hook=failing(9, lost(FailureClass.CONFIGURATION, "check the key"))),
                environment=Parallel(),
            ),
            [make_chain()],
        )


def test_bite_error_passes_through():
    class Deaf(Talk):
        async def play(self, team, task, seed):
            raise BiteError("did not bite")

    with pytest.raises(BiteError, match="did not bite"):
        play(make_stage(environment=Deaf()), [make_chain()])


def test_pytest_outcomes_inside_an_environment_pass_through_plain():
    class Skipping(Talk):
        async def play(self, team, task, seed):
            await anyio.sleep(0)
            pytest.skip("no server")

    with pytest.raises(pytest.skip.Exception, match="no server"):
        play(make_stage(environment=Skipping()), [make_chain()], [make_chain(make_team("u"))])


def test_first_failure_ends_the_other_chains():
    finished = []

    class Mixed(Talk):
        async def play(self, team, task, seed):
            if team.team.id == "bad":
                raise RuntimeError("stop")
            await anyio.sleep(30)
            finished.append(team.team.id)

    with pytest.raises(ArmError, match="stop"):
        play(make_stage(environment=Mixed()), [make_chain()], [make_chain(make_team("bad"))])
    assert finished == []


# Time.


def test_episode_that_takes_too_long_is_lost_to_the_infrastructure():
    class Hanging(Talk):
        async def play(self, team, task, seed):
            if task.id == "task-1":
                await anyio.sleep_forever()
            return Episode(score=1.0)

    stage = make_stage(environment=Hanging(), episode_timeout=0.05)
    [[(episodes, _)]] = play(stage, [make_chain(trials=3)])
    assert [e.failure for e in episodes] == [None, FailureClass.INFRASTRUCTURE, None]
    assert episodes[1].error == "the episode was not over after 0.05 s"
    assert episodes[1].task_id == "task-1"


def test_time_that_an_environment_limits_itself_is_its_own_error():
    class Impatient(Talk):
        async def play(self, team, task, seed):
            await asyncio.wait_for(asyncio.sleep(1), 0.001)

    with pytest.raises(ArmError, match="raised TimeoutError"):
        play(make_stage(environment=Impatient()), [make_chain(trials=1)])


def test_time_need_not_be_limited():
    [[(episodes, _)]] = play(make_stage(episode_timeout=None), [make_chain(trials=1)])
    assert episodes[0].counts


# Plain environments.


def test_plain_play_runs_beside_the_event_loop():
    class Plain(Talk):
        def play(self, team, task, seed):
            # No loop runs in this thread: a framework may start its own.
            said = asyncio.run(asyncio.sleep(0, "yes"))
            return Episode(score=float(said == "yes"))

    [[(episodes, _)]] = play(make_stage(environment=Plain()), [make_chain(trials=2)])
    assert [e.score for e in episodes] == [1.0, 1.0]


def test_plain_play_may_return_an_awaitable():
    class Lazy(Talk):
        def play(self, team, task, seed):
            return super().play(team, task, seed)

    [[(episodes, _)]] = play(make_stage(environment=Lazy()), [make_chain(trials=1)])
    assert episodes[0].score == 1.0


def test_single_episode_without_a_chain():
    episode = anyio.run(play_episode, make_stage(), make_team(), TASKS[2], 4)
    assert (episode.task_id, episode.seed, episode.score) == ("task-2", 4, 1.0)


def test_any_data_of_a_task_enters_the_key(store):
    for value in (1, 1.0, "1", True, None, [1], {"a": 1}):
        stage = make_stage(store=store)
        chain = make_chain(trials=1)
        task = Task(id="t", data={"x": value})
        anyio.run(play_chains, stage, [[type(chain)(chain.team, ((task, 1),), "s", "a")]])
        assert stage.purse.played == 1
