"""Two arms, measured: harms, units and who pays, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_samples import episode, make_cohort, played

from pytest_swapgate.studies.paired import Cell, PairedResult, Unit, pair_teams
from pytest_swapgate.teams import Condition, FailureClass

LOST = {"failure": FailureClass.INFRASTRUCTURE}


def cell(name, baseline, candidate, **more):
    return Cell(name, tuple(baseline), tuple(candidate), **more)


def result(*units, word="team", planned=4):
    return PairedResult("b", "c", tuple(units), word, planned=planned)


def one(name, baseline, candidate, **more):
    return Unit(name, (cell(name, baseline, candidate, **more),))


# Score.


def test_score_harm_is_baseline_minus_candidate():
    unit = one("a", [episode(0.9), episode(0.5)], [episode(0.6), episode(0.6)])
    assert result(unit).score_harms == pytest.approx([0.1])  # (0.3 - 0.1) / 2


def test_cells_of_a_unit_weigh_alike():
    first = cell("a", [episode(1.0)] * 3, [episode(0.4)] * 3)
    second = cell("b", [episode(1.0)], [episode(1.0)])
    measured = result(Unit("a+b", (first, second)), word="swap pair")
    assert measured.score_harms == pytest.approx([0.3])
    assert measured.mean_score("baseline") == pytest.approx(1.0)
    assert measured.mean_score("candidate") == pytest.approx(0.7)


def test_pair_counts_only_if_both_episodes_do():
    unit = one(
        "a",
        [episode(1.0), episode(0.0, **LOST), episode(1.0), episode(1.0)],
        [episode(0.5), episode(1.0), episode(0.0, **LOST), episode(0.0, failure=FailureClass.AGENT)],
    )
    measured = result(unit)
    assert measured.valid == 2
    assert measured.score_harms == pytest.approx([0.75])  # (0.5 + 1.0) / 2: the agent's own failure counts
    assert measured.losses == {FailureClass.INFRASTRUCTURE: 2}


def test_cell_without_a_valid_pair_is_an_error_not_a_nan():
    empty = one("team-03", [episode(1.0, **LOST)], [episode(1.0)])
    with pytest.raises(ValueError, match="team-03 has no pair of episodes that counts"):
        _ = result(empty).score_harms
    with pytest.raises(ValueError, match="no pair of episodes counts"):
        result(empty).mean_score("baseline")
    both = result(empty, one("b", [episode(0.75)], [episode(0.5)]))
    assert (both.mean_score("baseline"), both.mean_score("candidate")) == (0.75, 0.5)


# Cost.


def test_cost_harm_is_the_log_ratio_of_totals():
    # Candidate 9 messages for 3 sub-tasks, baseline 4 for 4: ratio 3.
    unit = one(
        "a",
        [episode(messages=1, subtasks=1), episode(messages=3, subtasks=3)],
        [episode(messages=9, subtasks=0), episode(messages=0, subtasks=3)],
    )
    measured = result(unit)
    assert measured.cost_harms == pytest.approx([math.log(3)])
    assert measured.mean_cost("candidate") == pytest.approx(3.0)
    assert measured.mean_cost("baseline") == pytest.approx(1.0)


def test_cost_harm_of_a_pair_is_that_of_its_totals():
    first = cell("a", [episode(messages=2, subtasks=2)], [episode(messages=4, subtasks=2)])  # log 2
    second = cell("b", [episode(messages=10, subtasks=1)], [episode(messages=80, subtasks=1)])  # log 8
    measured = result(Unit("a+b", (first, second)), word="swap pair")
    assert measured.cost_harms == pytest.approx([math.log((84 / 3) / (12 / 3))])
    # The mean cost of an arm is over all its episodes.
    assert measured.mean_cost("candidate") == pytest.approx(84 / 3)


def test_lost_pairs_do_not_enter_the_cost():
    unit = one(
        "a",
        [episode(messages=1), episode(messages=50, **LOST)],
        [episode(messages=2), episode(messages=90)],
    )
    assert result(unit).cost_harms == pytest.approx([math.log(2)])


@pytest.mark.parametrize(
    ("baseline", "candidate", "complaint"),
    [
        ((2, 1), (3, 0), "the candidate of team-01 has no completed sub-tasks"),
        ((2, 0), (3, 1), "the baseline of team-01 has no completed sub-tasks"),
        ((2, 1), (0, 1), "the candidate of team-01 has no messages"),
        ((0, 1), (2, 1), "the baseline of team-01 has no messages"),
    ],
)
def test_cost_that_does_not_exist_names_team_and_arm(baseline, candidate, complaint):
    (m0, s0), (m1, s1) = baseline, candidate
    unit = one("team-01", [episode(messages=m0, subtasks=s0)], [episode(messages=m1, subtasks=s1)])
    with pytest.raises(ValueError, match=f"cost cannot be formed: {complaint}"):
        _ = result(unit).cost_harms


def test_mean_cost_without_any_subtask_is_an_error():
    unit = one("a", [episode(messages=1, subtasks=0)], [episode(messages=1, subtasks=1)])
    with pytest.raises(ValueError, match="the baseline completed no sub-task"):
        result(unit).mean_cost("baseline")


def test_arms_without_messages_measure_no_cost():
    assert not result(one("a", [episode()], [episode()])).measures_cost
    assert result(one("a", [episode()], [episode(messages=1)])).measures_cost


@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
        min_size=1,
        max_size=4,
    )
)
@settings(deadline=None, max_examples=60)
def test_turning_the_arms_turns_the_signs(totals):
    there, back = [], []
    for i, (m0, s0, m1, s1) in enumerate(totals):
        b, c = [episode(0.1 * m0, m0, s0)], [episode(0.1 * m1, m1, s1)]
        there.append(one(str(i), b, c))
        back.append(one(str(i), c, b))
    assert result(*there).score_harms == pytest.approx(-result(*back).score_harms)
    assert result(*there).cost_harms == pytest.approx(-result(*back).cost_harms)
    assert np.isfinite(result(*there).cost_harms).all()


# Binary pairs.


def test_single_successes_over_tasks_are_counted_as_pairs():
    outcomes = [(1, 0), (1, 0), (0, 1), (1, 1), (0, 0)]
    units = [one(str(i), [episode(b)], [episode(c)]) for i, (b, c) in enumerate(outcomes)]
    assert result(*units, word="task").paired_binary == (2, 1, 5)


@pytest.mark.parametrize(
    ("units", "word"),
    [
        ([one("a", [episode(1)], [episode(0.5)])], "task"),
        ([one("a", [episode(1)] * 2, [episode(0)] * 2)], "task"),
        ([one("a", [episode(1)], [episode(0)])], "team"),
        ([one("a", [episode(1)], [episode(0)])], "swap pair"),
    ],
)
def test_scores_trials_and_teams_are_no_binary_pairs(units, word):
    assert result(*units, word=word).paired_binary is None


# Who pays.


def test_extra_messages_are_shared_out_by_sender_and_kind():
    baseline = [episode(messages=[("lead", "request"), ("hand", "status")])]
    candidate = [
        episode(
            messages=[
                ("lead", "request"),
                ("lead", "request again"),
                ("lead", "correction"),
                ("lead", "correction"),
                ("hand", "clarification"),
            ]
        )
    ]
    pays = result(one("a", baseline, candidate, seat="hand")).who_pays
    assert pays.extra == 3
    # The seat that stayed sends 4 instead of 1: three of three extra messages.
    assert pays.incumbents == pytest.approx(1.0)
    # Kinds that grew: correction +2, request again +1, clarification +1; status shrank.
    assert dict(pays.kinds) == pytest.approx(
        {"correction": 0.5, "request again": 0.25, "clarification": 0.25}
    )
    assert pays.kinds[0][0] == "correction"


def test_the_changed_seat_is_that_of_each_team():
    units = [
        one("a", [episode(messages=1)], [episode(messages=[("lead", "")] * 3)], seat="lead"),
        one("b", [episode(messages=1)], [episode(messages=[("lead", "")] * 2)], seat="hand"),
    ]
    pays = result(*units).who_pays
    assert pays.extra == 3
    assert pays.incumbents == pytest.approx(1 / 3)  # one of the three came from a seat that stayed
    assert pays.kinds == (("other", 1.0),)


def test_nobody_pays_where_nothing_is_extra_or_no_seat_changed():
    fewer = one("a", [episode(messages=3)], [episode(messages=2)], seat="lead")
    assert result(fewer).who_pays is None
    assert result(one("a", [episode(messages=1)], [episode(messages=2)])).who_pays is None


def test_lost_pairs_do_not_pay():
    unit = one(
        "a",
        [episode(messages=1), episode(messages=0, **LOST)],
        [episode(messages=2), episode(messages=9)],
        seat="hand",
    )
    assert result(unit).who_pays.extra == 1


# Units.


@pytest.mark.parametrize("condition", [Condition.SWAP, Condition.SWAP_CLEARED])
@pytest.mark.parametrize("seat", [None, "lead"])
def test_traded_teams_are_one_unit(condition, seat):
    cohort = make_cohort(6)
    baseline = played(cohort, Condition.PLACEBO, [[episode(1.0)]] * 6, seat)
    candidate = played(cohort, condition, [[episode(i / 10)] for i in range(6)], seat)
    units, word = pair_teams(baseline, candidate)
    assert word == "swap pair"
    assert len(units) == 3
    harms = PairedResult("b", "c", units, word, planned=6).score_harms
    expected = [1.0 - (first + second) / 20 for first, second, _ in cohort.pairs(seat)]
    assert harms == pytest.approx(expected)
    for unit, (first, second, traded) in zip(units, cohort.pairs(seat), strict=True):
        assert unit.name == f"team-{first:02d}+team-{second:02d}"
        assert [c.seat for c in unit.cells] == [traded, traded]


@pytest.mark.parametrize(
    "condition", [Condition.AMNESIA, Condition.NAIVE, Condition.PLACEBO, Condition.INTACT, Condition.REPLACE]
)
def test_teams_that_trade_nothing_are_units_of_their_own(condition):
    cohort = make_cohort(5)
    # An odd number of teams cannot draw seats by pairs: the seat is given.
    baseline = played(cohort, Condition.PLACEBO, [[episode(1.0)]] * 5, "lead")
    candidate = played(cohort, condition, [[episode(0.5)]] * 5, "lead")
    units, word = pair_teams(baseline, candidate)
    assert (word, len(units)) == ("team", 5)
    assert [unit.name for unit in units] == [team.id for team in cohort.teams]


def test_activity_is_that_of_the_shared_state():
    cohort = make_cohort(2)
    cleared = tuple(
        team.with_occupant(
            "lead",
            team["lead"].model_copy(update={"notebook": team["lead"].notebook.without_partner_notes()}),
        ).with_occupant(
            "hand",
            team["hand"].model_copy(update={"notebook": team["hand"].notebook.without_partner_notes()}),
        )
        if i
        else team
        for i, team in enumerate(cohort.teams)
    )
    cohort = type(cohort)(cohort.stage, cleared, ((), ()), trials=1, seed=0, model="mute")
    baseline = played(cohort, Condition.PLACEBO, [[episode()]] * 2)
    units, _ = pair_teams(baseline, played(cohort, Condition.NAIVE, [[episode()]] * 2))
    assert [unit.cells[0].active for unit in units] == [True, False]
    # Where the episodes say it themselves (a store of their own), theirs is the word, trial by trial.
    units, _ = pair_teams(baseline, played(cohort, Condition.NAIVE, [[episode(active=False)]] * 2))
    assert [unit.cells[0].active for unit in units] == [None, None]


def test_arms_of_different_length_are_refused():
    with pytest.raises(ValueError, match="argument 2 is longer"):
        _ = cell("a", [episode()], [episode(), episode()]).valid
