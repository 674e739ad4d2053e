"""Cohorts: who forms on what, who is measured on what, who is paired with whom."""

from __future__ import annotations

import collections

import anyio
import pytest
from study_samples import Mute, Secrets, make_cohort, make_stage

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.runner import ArmError
from pytest_swapgate.studies import form_cohort
from pytest_swapgate.teams import Episode, FailureClass, Task


def form(stage=None, **more):
    stage = stage or make_stage()

    async def work():
        return await form_cohort(stage, model="mute", **{"teams": 4, "episodes": 7, "trials": 5, **more})

    return anyio.run(work)


def test_teams_form_alike_but_each_with_its_own_order_and_seeds():
    cohort = form()
    plans = [tuple((e.task_id, e.seed) for e in episodes) for episodes in cohort.formation]
    assert len(set(plans)) == 4
    assert all(len(plan) == 7 for plan in plans)
    seeds = [seed for plan in plans for _, seed in plan]
    assert len(set(seeds)) == len(seeds)
    for plan in plans:
        # All tasks come before any comes again.
        counts = collections.Counter(task for task, _ in plan)
        assert sorted(counts.values()) == [2, 2, 3]
        assert len({task for task, _ in plan[:3]}) == len({task for task, _ in plan[3:6]}) == 3
        assert all(task.startswith("formation-") for task in counts)


def test_formed_teams_hold_what_they_learned():
    cohort = form()
    secrets = {team["lead"].notebook.partner_notes for team in cohort.teams}
    assert len(secrets) == 4
    assert all(team["lead"].notebook == team["hand"].notebook for team in cohort.teams)
    assert [team.id for team in cohort.teams] == ["team-00", "team-01", "team-02", "team-03"]
    assert all(team.announcement == "" for team in cohort.teams)
    assert {agent.origin for agent in cohort.teams[2].agents} == {"team-02"}


def test_measured_trials_are_held_out_and_the_same_for_every_condition():
    cohort = form()
    plans = [cohort.evaluation(index) for index in range(4)]
    for plan in plans:
        assert [task.id for task, _ in plan] == [f"held_out-{r % 3}" for r in range(5)]
        assert plan == cohort.evaluation(plans.index(plan))
    formed = {e.seed for episodes in cohort.formation for e in episodes}
    measured = [seed for plan in plans for _, seed in plan]
    assert len(set(measured)) == 20
    assert not formed & set(measured)
    again = [seed for _, seed in cohort.evaluation(0, replicate=1)]
    assert not set(again) & set(measured)


def test_root_seed_moves_everything():
    one, other = form(seed=1), form(seed=2)
    assert one.evaluation(0) != other.evaluation(0)
    assert one.teams != other.teams
    assert one.name != other.name


def test_cohort_is_formed_once_and_then_read(tmp_path):
    with EvidenceStore.open(tmp_path / "e.db") as store:
        first = make_stage(store=store)
        formed = form(first)
        second = make_stage(store=store)
        read = form(second)
    assert (first.purse.played, second.purse.played, second.purse.read) == (28, 0, 28)
    assert read.teams == formed.teams


@pytest.mark.parametrize(("short", "long"), [(3, 5), (7, 13), (12, 25)])
def test_longer_formation_plays_only_what_is_missing(tmp_path, short, long):
    with EvidenceStore.open(tmp_path / "e.db") as store:
        form(make_stage(store=store), episodes=short)
        longer = make_stage(store=store)
        form(longer, episodes=long)
    assert (longer.purse.read, longer.purse.played) == (4 * short, 4 * (long - short))


def test_more_trials_keep_the_first_ones():
    one, other = form(trials=3), form(trials=8)
    assert other.evaluation(2)[:3] == one.evaluation(2)


def test_formation_may_be_left_out():
    class Measured(Secrets):
        def tasks(self, split):
            return [] if split == "formation" else super().tasks(split)

    cohort = form(make_stage(Measured()), episodes=0)
    assert cohort.formation == ((), (), (), ())
    assert all(agent.notebook.empty for team in cohort.teams for agent in team.agents)


def test_environment_may_bring_its_own_fresh_teams():
    class Own(Secrets):
        def fresh_team(self, index):
            return make_cohort(1).teams[0].model_copy(update={"id": f"own-{index}"})

    cohort = form(make_stage(Own()), episodes=0)
    assert [team.id for team in cohort.teams] == ["own-0", "own-1", "own-2", "own-3"]


def losing(share):
    """Return an environment that loses every n-th episode of formation."""

    class Lossy(Secrets):
        async def play(self, team, task, seed):
            if task.split == "formation" and seed % 100 < 100 * share:
                return Episode(score=0.0, failure=FailureClass.INFRASTRUCTURE, error="no route")
            return await super().play(team, task, seed)

    return Lossy()


def test_teams_that_were_not_formed_are_no_teams():
    with pytest.raises(
        ArmError,
        match=r"could not be formed: 28 of 28 episodes were lost, the last one to infrastructure: no route",
    ):
        form(make_stage(losing(1.0)))


def test_few_lost_episodes_are_borne():
    cohort = form(make_stage(losing(0.02)), teams=6, episodes=30)
    lost = [e for episodes in cohort.formation for e in episodes if not e.counts]
    assert 0 < len(lost) <= 9


# Seats and pairs.


@pytest.mark.parametrize("seats", [("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")])
def test_pairs_are_drawn_once_and_seats_follow_them(seats):
    cohort = make_cohort(8, seats=seats)
    pairs = cohort.pairs(None)
    assert pairs == cohort.pairs(None)
    assert sorted(i for a, b, _ in pairs for i in (a, b)) == list(range(8))
    drawn = cohort.seats_of_teams(None)
    for first, second, seat in pairs:
        assert drawn[first] == drawn[second] == seat
    assert cohort.seats_of_teams("b") == ("b",) * 8
    assert [(a, b) for a, b, _ in cohort.pairs("b")] == [(a, b) for a, b, _ in pairs]


def test_unknown_seat_and_odd_cohort_are_one_line():
    with pytest.raises(
        ArmError, match=r"^seat must be one of lead, hand \(or None to draw one\), got 'cook'$"
    ):
        make_cohort().pairs("cook")
    with pytest.raises(ArmError, match=r"even number of teams >= 2, got 5; set --swapgate-teams"):
        make_cohort(5).pairs(None)


# What cannot be formed.


@pytest.mark.parametrize(
    ("argument", "value"),
    [("teams", 1), ("teams", True), ("teams", 2.0), ("episodes", -1), ("trials", 0), ("trials", "3")],
)
def test_bad_size_is_refused_by_name(argument, value):
    with pytest.raises(ValueError, match=rf"^{argument} must be a whole number >="):
        form(**{argument: value})


def environment_with(**members):
    return type("Odd", (Secrets,), {"__init__": lambda self: None, **members})()


def task_lists(formation, held_out):
    return {"tasks": lambda self, split: formation if split == "formation" else held_out}


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        (task_lists([Task(id="a")], []), r"Odd.tasks\('held_out'\) is empty"),
        (task_lists([], [Task(id="a")]), r"Odd.tasks\('formation'\) is empty: .* --swapgate-formation 0"),
        (task_lists([Task(id="a")], [Task(id="a")]), "task 'a' is in both splits"),
        (
            task_lists([Task(id="a")], [Task(id="b"), Task(id="b")]),
            r"Odd.tasks\('held_out'\) has task 'b' twice",
        ),
        (task_lists(["a"], ["b"]), r"Odd.tasks\('formation'\) must return Task objects, got str"),
        (task_lists(None, None), r"Odd.tasks\('formation'\) raised TypeError"),
        ({"seats": ("a",)}, r"Odd.seats must be at least two distinct names, got \('a',\)"),
        ({"seats": ("a", "a")}, "Odd.seats must be"),
        ({"seats": "ab"}, "Odd.seats must be"),
        ({"seats": ("a", 1)}, "Odd.seats must be"),
    ],
)
def test_environment_that_cannot_be_formed_on_is_one_line(members, complaint):
    with pytest.raises(ArmError, match=complaint) as caught:
        form(make_stage(environment_with(**members)))
    assert "\n" not in str(caught.value)


def test_faulty_tasks_name_the_users_line():
    def tasks(self, split):
        raise RuntimeError("no server")

    with pytest.raises(ArmError, match=r"raised RuntimeError: no server \(test_studies_formation.py:\d+\)"):
        form(make_stage(environment_with(tasks=tasks), Mute()))
