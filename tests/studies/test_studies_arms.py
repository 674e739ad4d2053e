"""Arms of formed teams: what they change, that they bite, and that they share what they should."""

from __future__ import annotations

import anyio
import pytest
from study_samples import Secrets, make_cohort, make_stage

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.runner import ArmError
from pytest_swapgate.studies import TeamArm, form_cohort, play_arms
from pytest_swapgate.studies.formed import FormedTeams, PlaceboBaseline
from pytest_swapgate.studies.paired import models_of
from pytest_swapgate.teams import BiteError, Condition, agent_fingerprint


@pytest.fixture
def teams():
    return FormedTeams(make_cohort(6))


def test_every_team_changes_in_the_seat_of_its_pair(teams):
    changes = teams.swap().changes()
    assert len(changes) == 6
    for first, second, seat in teams.cohort.pairs(None):
        one, other = changes[first], changes[second]
        assert one.seat == other.seat == seat
        assert one.donor == teams.teams[second]
        assert other.donor == teams.teams[first]
        assert agent_fingerprint(one.after[seat]) == agent_fingerprint(teams.teams[second][seat])
        assert agent_fingerprint(other.after[seat]) == agent_fingerprint(teams.teams[first][seat])


@pytest.mark.parametrize("condition", [c for c in Condition if c is not Condition.REPLACE])
def test_every_method_is_its_condition(teams, condition):
    method = getattr(teams, condition.value)
    arm = method() if condition is Condition.INTACT else method("hand")
    assert arm.condition is condition
    changes = arm.changes()
    assert {change.condition for change in changes} == {condition}
    if condition is not Condition.INTACT:
        assert {change.seat for change in changes} == {"hand"}
        assert arm.label == f"{condition.value}(hand)"
        assert method().label == f"{condition.value}(drawn seat)"


def test_replacement_is_named_here_or_on_the_command_line(teams):
    arm = teams.replace("lead", model="other")
    assert (arm.seat, arm.model, arm.label) == ("lead", "other", "replace(lead, model=other)")
    told = FormedTeams(teams.cohort, {"hand": "other"})
    assert (told.replace().seat, told.replace().model) == ("hand", "other")
    assert told.replace("lead", model="other").seat == "lead"
    both = FormedTeams(teams.cohort, {"hand": "other", "lead": "other"})
    assert both.replace("lead").seat == "lead"
    with pytest.raises(ArmError, match=r"names hand, lead: say replace\(seat\) which"):
        both.replace()


def test_replacement_that_nobody_names_does_not_bite(teams):
    with pytest.raises(BiteError, match="no model was named for any seat"):
        teams.replace()
    with pytest.raises(BiteError, match="no model was named for the lead seat"):
        FormedTeams(teams.cohort, {"hand": "other"}).replace("lead")
    with pytest.raises(ArmError, match="needs a seat: one of lead, hand"):
        teams.replace(model="other")


def test_replacement_by_the_same_model_does_not_bite(teams):
    with pytest.raises(BiteError, match="already occupies the seat"):
        teams.replace("lead", model="mute").changes()


def test_replacement_without_a_model_is_one_line(teams):
    with pytest.raises(ArmError, match=r"replace needs model=\.\.\."):
        TeamArm(teams.cohort, Condition.REPLACE, "lead").changes()


def test_unknown_replacement_is_one_line(teams):
    with pytest.raises(ArmError, match="this environment has no simulated player") as caught:
        teams.replace("lead", model="simulated").changes()
    assert caught.value.failure == "configuration"


def test_unknown_seat_is_refused_when_the_arm_is_made(teams):
    with pytest.raises(ArmError, match="seat must be one of lead, hand"):
        teams.swap("cook")


def play(*arms):
    return anyio.run(play_arms, list(arms))


def formed(environment=None, *, teams=4, episodes=2, trials=3, **more):
    stage = make_stage(environment, **more)

    async def work():
        return await form_cohort(stage, model="mute", teams=teams, episodes=episodes, trials=trials)

    return FormedTeams(anyio.run(work))


def test_arms_are_played_from_identical_copies():
    teams = formed()
    before = teams.teams
    kept, swapped, lost = play(teams.placebo(), teams.swap(), teams.amnesia())
    assert {e.score for episodes in kept.episodes for e in episodes} == {1.0}
    assert {e.score for episodes in swapped.episodes for e in episodes} == {0.5}
    assert {e.score for episodes in lost.episodes for e in episodes} == {0.5}
    assert teams.teams == before


def test_models_that_played_are_named():
    teams = formed()
    arms = play(teams.placebo("lead"), teams.replace("lead", model="other"))
    assert models_of(arms[:1]) == ("mute",)
    assert models_of(arms) == ("mute", "other")


def test_arms_of_a_team_take_turns():
    order = []

    class Noting(Secrets):
        async def play(self, team, task, seed):
            order.append((team.team.id, seed))
            return await super().play(team, task, seed)

    teams = formed(Noting(), concurrency=1)
    order.clear()
    play(teams.placebo(), teams.swap())
    for index in range(4):
        mine = [seed for name, seed in order if name == f"team-{index:02d}"]
        assert mine == [s for _, seed in teams.cohort.evaluation(index) for s in (seed, seed)]


def test_arms_must_share_their_cohort_and_differ():
    teams, others = formed(), formed()
    with pytest.raises(ArmError, match="must come from the same formed_teams"):
        play(teams.placebo(), others.swap())
    for arm in (teams.placebo("lead"), teams.intact(), teams.swap()):
        with pytest.raises(BiteError, match="did not bite: both arms are"):
            play(arm, arm)


def test_nothing_is_played_when_one_arm_does_not_bite():
    teams = formed(episodes=0)
    before = teams.cohort.stage.purse.played
    with pytest.raises(BiteError, match="did not bite"):
        play(teams.placebo(), teams.swap())
    assert teams.cohort.stage.purse.played == before


def test_placebo_sits_beside_the_arm_it_is_compared_with(teams):
    baseline = PlaceboBaseline(teams.cohort, Condition.PLACEBO)
    assert baseline.beside(teams.swap("hand")).seat == "hand"
    assert isinstance(baseline.beside(teams.swap("hand")), PlaceboBaseline)
    assert baseline.beside(teams.swap()).seat is None
    assert PlaceboBaseline(teams.cohort, Condition.PLACEBO, "lead").beside(teams.swap("hand")).seat == "lead"


def test_repetition_plays_the_same_configuration_with_other_seeds():
    teams = formed()
    arm = teams.placebo()
    again = arm.repeated()
    assert again.label == "placebo(drawn seat) replicate 1"
    one, other = play(arm, again)
    assert [e.task_id for e in one.episodes[0]] == [e.task_id for e in other.episodes[0]]
    seeds = [{e.seed for episodes in played.episodes for e in episodes} for played in (one, other)]
    assert not seeds[0] & seeds[1]


def test_drawn_seat_and_the_same_seat_asked_for_share_evidence(tmp_path):
    with EvidenceStore.open(tmp_path / "e.db") as store:
        teams = formed(store=store)
        play(teams.placebo(), teams.swap())
        before = teams.cohort.stage.purse.played
        for seat in teams.cohort.seats:
            play(teams.placebo(seat))
        # Each team's drawn seat was played already; the other seat is new.
        assert teams.cohort.stage.purse.played - before == 4 * 3


def test_evidence_says_study_and_arm(tmp_path):
    with EvidenceStore.open(tmp_path / "e.db") as store:
        teams = formed(store=store)
        play(teams.placebo("lead"), teams.placebo("lead").repeated(), teams.replace("lead", model="other"))
        found = {(row.study, row.arm) for row in store.episodes()}
    assert found == {
        ("formation", "formation"),
        ("swap", "placebo(lead)"),
        ("floor", "placebo(lead)"),
        ("swap", "replace(lead, model=other)"),
    }


def test_three_seats_change_one_at_a_time():
    teams = FormedTeams(make_cohort(4, seats=("a", "b", "c")))
    for seat in "abc":
        for change in teams.swap(seat).changes():
            changed = [s for s in "abc" if change.before[s].notebook != change.after[s].notebook]
            assert changed == [seat]


def test_arm_is_a_value(teams):
    assert teams.swap("lead") == TeamArm(teams.cohort, Condition.SWAP, "lead")
