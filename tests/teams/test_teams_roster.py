"""Roster changes: each condition changes exactly what it says, and proves it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.teams import (
    Agent,
    BiteError,
    Condition,
    Notebook,
    RosterChange,
    Team,
    agent_fingerprint,
    amnesia,
    intact,
    naive,
    placebo,
    prove_bite,
    replace,
    role_matched_pairs,
    swap,
    swap_cleared,
    team_fingerprint,
)

SEATS = ("planner", "executor", "critic", "clerk")


def make_team(name, seats=2, **changes):
    agents = tuple(
        Agent(
            seat=seat,
            model="m",
            role=f"You are the {seat}.",
            notebook=Notebook(task_notes=f"Task of {name}.", partner_notes=f"Partner of {name} in {seat}."),
            state=f"{name}-{seat}",
            origin=name,
            **changes,
        )
        for seat in SEATS[:seats]
    )
    return Team(id=name, agents=agents)


def make_change(condition, team, seat, donor):
    return {
        Condition.INTACT: lambda: intact(team, seat),
        Condition.PLACEBO: lambda: placebo(team, seat),
        Condition.SWAP: lambda: swap(team, seat, donor),
        Condition.SWAP_CLEARED: lambda: swap_cleared(team, seat, donor),
        Condition.AMNESIA: lambda: amnesia(team, seat),
        Condition.NAIVE: lambda: naive(team, seat),
        Condition.REPLACE: lambda: replace(team, seat, model="other"),
    }[condition]()


ALL = list(Condition)


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("condition", ALL)
def test_only_the_named_seat_changes(condition, seats):
    team, donor = make_team("a", seats), make_team("b", seats)
    for seat in team.seats:
        change = make_change(condition, team, seat, donor)
        assert change.after.seats == team.seats
        for other in team.seats:
            if other != seat:
                assert change.after[other] == team[other]
        assert change.before == team
        assert change.after.id == team.id
        prove_bite(change)


@pytest.mark.parametrize("condition", ALL)
def test_all_conditions_but_intact_say_the_same_words(condition):
    team, donor = make_team("a", 3), make_team("b", 3)
    said = make_change(condition, team, "critic", donor).after.announcement
    if condition is Condition.INTACT:
        assert said == ""
    else:
        assert said == make_change(Condition.PLACEBO, team, "critic", donor).after.announcement
        assert "critic" in said
        assert condition.value not in said
        assert said == make_change(condition, donor, "critic", team).after.announcement


def test_each_condition_seats_whom_it_says():
    team, donor = make_team("a"), make_team("b")
    own, other = team["planner"], donor["planner"]

    def seated(condition):
        return make_change(condition, team, "planner", donor).after["planner"]

    assert seated(Condition.INTACT) == own
    assert seated(Condition.PLACEBO) == own
    assert seated(Condition.SWAP) == other
    assert seated(Condition.SWAP_CLEARED) == other.model_copy(
        update={"notebook": Notebook(task_notes=other.notebook.task_notes)}
    )
    assert seated(Condition.AMNESIA) == own.model_copy(
        update={"notebook": Notebook(task_notes=own.notebook.task_notes)}
    )
    fresh = seated(Condition.NAIVE)
    assert (fresh.model, fresh.role, fresh.notebook, fresh.state) == (own.model, own.role, Notebook(), "")
    assert fresh.origin != own.origin
    assert seated(Condition.REPLACE) == own.model_copy(update={"model": "other"})


def test_roster_changes_leave_the_formed_team_as_it_was():
    team, donor = make_team("a"), make_team("b")
    kept, kept_donor = team.model_dump_json(), donor.model_dump_json()
    for condition in ALL:
        make_change(condition, team, "planner", donor)
    assert (team.model_dump_json(), donor.model_dump_json()) == (kept, kept_donor)


def test_donor_is_recorded_where_there_is_one():
    team, donor = make_team("a"), make_team("b")
    for condition in ALL:
        change = make_change(condition, team, "planner", donor)
        assert (change.donor == donor) == condition.needs_donor


@pytest.mark.parametrize("condition", ALL)
def test_unknown_seat_names_the_seats_there_are(condition):
    with pytest.raises(ValueError, match=r"seat must be one of planner, executor, got 'cook'"):
        make_change(condition, make_team("a"), "cook", make_team("b"))


# Fingerprints.


def test_origin_team_name_and_cut_do_not_enter_the_fingerprint():
    one = Agent(seat="s", model="m", notebook=Notebook(task_notes="x", cut=3), origin="a")
    other = Agent(seat="s", model="m", notebook=Notebook(task_notes="x"), origin="b")
    assert agent_fingerprint(one) == agent_fingerprint(other)
    team = make_team("a")
    renamed = team.model_copy(
        update={"id": "z", "agents": tuple(a.model_copy(update={"origin": "z"}) for a in team.agents)}
    )
    assert team_fingerprint(team) == team_fingerprint(renamed)


@pytest.mark.parametrize(
    "change",
    [
        {"seat": "t"},
        {"model": "n"},
        {"role": "r"},
        {"state": "s"},
        {"notebook": Notebook(task_notes="x")},
        {"notebook": Notebook(partner_notes="x")},
    ],
)
def test_what_makes_an_occupant_enters_the_fingerprint(change):
    agent = Agent(seat="s", model="m")
    assert agent_fingerprint(agent) != agent_fingerprint(agent.model_copy(update=change))


@given(st.text(max_size=8), st.text(max_size=8))
@settings(deadline=None, max_examples=60)
def test_notes_cannot_move_between_sections_unseen(one, other):
    first = Agent(seat="s", model="m", notebook=Notebook(task_notes=one, partner_notes=other))
    second = Agent(seat="s", model="m", notebook=Notebook(task_notes=one + other))
    assert (agent_fingerprint(first) == agent_fingerprint(second)) == (other == "")


def test_announcement_and_order_of_seats_enter_the_teams_fingerprint():
    team = make_team("a")
    turned = team.model_copy(update={"agents": team.agents[::-1]})
    announced = team.model_copy(update={"announcement": "new"})
    assert len({team_fingerprint(t) for t in (team, turned, announced)}) == 3


# The proof that a change bit.


def test_swap_with_an_equal_agent_does_not_bite():
    team, twin = make_team("a"), make_team("a").model_copy(update={"id": "b"})
    with pytest.raises(BiteError, match=r"did not bite.*same model, role and notebook as the incumbent"):
        prove_bite(swap(team, "planner", twin))
    with pytest.raises(BiteError, match="did not bite"):
        prove_bite(
            swap_cleared(
                make_change(Condition.AMNESIA, team, "planner", twin).after.model_copy(
                    update={"announcement": ""}
                ),
                "planner",
                twin,
            )
        )


def test_amnesia_without_partner_notes_does_not_bite():
    team = amnesia(make_team("a"), "planner").after
    with pytest.raises(BiteError, match="found no partner notes to delete"):
        prove_bite(amnesia(team, "planner"))


def test_naive_in_place_of_an_unformed_agent_does_not_bite():
    team = Team(id="a", agents=(Agent(seat="x", model="m"), Agent(seat="y", model="m")))
    with pytest.raises(BiteError, match="notebook was already empty"):
        prove_bite(naive(team, "x"))


def test_replacing_by_the_same_model_does_not_bite():
    with pytest.raises(BiteError, match="already occupies the seat"):
        prove_bite(replace(make_team("a"), "planner", model="m"))


@pytest.mark.parametrize("condition", [Condition.INTACT, Condition.PLACEBO])
def test_placebo_with_another_occupant_is_refused(condition):
    team = make_team("a")
    change = swap(team, "planner", make_team("b"))
    announced = "" if condition is Condition.INTACT else change.after.announcement
    after = change.after.model_copy(update={"announcement": announced})
    with pytest.raises(BiteError, match="seated another occupant; a placebo reinstates the same one"):
        prove_bite(RosterChange(condition=condition, seat="planner", before=team, after=after))


@pytest.mark.parametrize("condition", ALL)
def test_change_of_a_second_seat_is_refused(condition):
    team, donor = make_team("a", 3), make_team("b", 3)
    change = make_change(condition, team, "planner", donor)
    after = change.after.with_occupant("critic", donor["critic"])
    with pytest.raises(BiteError, match="also changed the critic seat; only planner may change"):
        prove_bite(change.model_copy(update={"after": after}))


@pytest.mark.parametrize("condition", [c for c in ALL if c is not Condition.INTACT])
@pytest.mark.parametrize("said", ["", "The planner was swapped."])
def test_missing_or_telling_announcement_is_refused(condition, said):
    change = make_change(condition, make_team("a"), "planner", make_team("b"))
    after = change.after.model_copy(update={"announcement": said})
    with pytest.raises(BiteError, match="must carry the roster-change announcement, word for word"):
        prove_bite(change.model_copy(update={"after": after}))


def test_intact_team_with_an_announcement_is_refused():
    team = placebo(make_team("a"), "planner").after
    with pytest.raises(BiteError, match="must not carry"):
        prove_bite(intact(team, "planner"))


def test_vanished_seat_is_refused():
    change = placebo(make_team("a", 3), "planner")
    after = change.after.model_copy(update={"agents": change.after.agents[:2]})
    with pytest.raises(BiteError, match="changed the seats"):
        prove_bite(change.model_copy(update={"after": after}))


# Teams and pairs.


def test_team_needs_two_distinct_seats():
    with pytest.raises(ValueError, match="at least two seats"):
        Team(id="a", agents=(Agent(seat="x", model="m"),))
    with pytest.raises(ValueError, match="must be distinct"):
        Team(id="a", agents=(Agent(seat="x", model="m"), Agent(seat="x", model="n")))


def test_newcomer_sits_in_the_seat_it_is_given():
    seated = make_team("a").with_occupant("planner", make_team("b")["executor"])
    assert seated.seats == ("planner", "executor")
    assert seated["planner"].origin == "b"


@given(
    st.integers(1, 12), st.integers(0, 2**32 - 1), st.integers(2, 4), st.one_of(st.none(), st.integers(0, 3))
)
@settings(deadline=None, max_examples=60)
def test_pairs_are_disjoint_and_hold_every_team_once(half, seed, seats, index):
    teams = [make_team(str(i), seats) for i in range(2 * half)]
    seat = None if index is None else SEATS[index % seats]
    pairs = role_matched_pairs(teams, rng=np.random.default_rng(seed), seat=seat)
    assert sorted(i for first, second, _ in pairs for i in (first, second)) == list(range(2 * half))
    for first, second, traded in pairs:
        assert first != second
        assert traded in teams[0].seats
        assert seat in (None, traded)


def test_pairs_stay_the_same_whichever_seat_is_traded():
    teams = [make_team(str(i)) for i in range(8)]

    def paired(seat):
        found = role_matched_pairs(teams, rng=np.random.default_rng(3), seat=seat)
        return [(first, second) for first, second, _ in found]

    assert paired(None) == paired("planner") == paired("executor")


def test_drawn_seats_are_both_drawn():
    teams = [make_team(str(i)) for i in range(40)]
    drawn = [seat for _, _, seat in role_matched_pairs(teams, rng=np.random.default_rng(0))]
    assert set(drawn) == {"planner", "executor"}


@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_odd_number_of_teams_cannot_be_paired(count):
    teams = [make_team(str(i)) for i in range(count)]
    with pytest.raises(ValueError, match=rf"even number of teams >= 2, got {count}"):
        role_matched_pairs(teams, rng=np.random.default_rng(0))


def test_pairs_refuse_unknown_and_differing_seats():
    with pytest.raises(ValueError, match="seat must be one of planner, executor, got 'cook'"):
        role_matched_pairs([make_team("a"), make_team("b")], rng=np.random.default_rng(0), seat="cook")
    with pytest.raises(ValueError, match="must have the same seats"):
        role_matched_pairs([make_team("a"), make_team("b", 3)], rng=np.random.default_rng(0))
