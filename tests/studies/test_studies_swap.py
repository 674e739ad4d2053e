"""The swap test's quantities against numbers worked out by hand."""

from __future__ import annotations

import anyio
import numpy as np
import pytest
from scipy import stats
from study_samples import ALL, Secrets, episode, make_cohort, make_stage, played

from pytest_swapgate.runner import ArmError
from pytest_swapgate.stats import t_interval
from pytest_swapgate.stats.ratio import ratio_interval
from pytest_swapgate.studies import form_cohort, run_swap_study
from pytest_swapgate.studies.swap import form_swap_study
from pytest_swapgate.teams import BiteError, Condition, FailureClass

T_95_2 = 2.919985580353726  # 0.95 quantile of t with 2 degrees of freedom (tables)

# Drop of the score from placebo, by pair; the two teams of a pair lie 0.05 to either side of it.
DROPS = {
    Condition.INTACT: (-0.01, -0.01, -0.01),
    Condition.PLACEBO: (0.0, 0.0, 0.0),
    Condition.SWAP: (0.10, 0.20, 0.15),
    Condition.SWAP_CLEARED: (0.05, 0.10, 0.15),
    Condition.AMNESIA: (0.10, 0.12, 0.05),
    Condition.NAIVE: (0.30, 0.50, 0.40),
}
# Messages per completed sub-task, by pair.
COSTS = {
    Condition.INTACT: (2.0, 2.0, 2.0),
    Condition.PLACEBO: (2.0, 2.0, 2.5),
    Condition.SWAP: (3.0, 3.5, 3.5),
    Condition.SWAP_CLEARED: (2.5, 3.0, 2.5),
    Condition.AMNESIA: (2.5, 3.0, 3.5),
    Condition.NAIVE: (4.0, 3.0, 5.0),
}


def by_hand(drops=DROPS, costs=COSTS):
    cohort = make_cohort(6)
    arms = []
    for condition in ALL:
        episodes = {}
        for p, (first, second, _) in enumerate(cohort.pairs(None)):
            for team, side in ((first, 0.05), (second, -0.05)):
                aside = 0.0 if condition in (Condition.PLACEBO, Condition.INTACT) else side
                score = 0.8 - drops[condition][p] - aside
                messages = round(costs[condition][p] * 4)
                # Totals over both trials: neither trial alone has the cost.
                episodes[team] = [
                    episode(score - 0.02, messages - 1, 1),
                    episode(score + 0.02, 1, 3),
                ]
        arms.append(played(cohort, condition, episodes))
    return cohort, arms


def study(confidence=0.9, **tables):
    cohort, arms = by_hand(**tables)
    return form_swap_study(cohort, arms, seat=None, confidence=confidence)


def test_quantities_of_the_score():
    found = study()
    for name, value in (("V", 0.4), ("Pi", 0.15), ("W", 0.09), ("Sigma", 0.05)):
        assert found[name].value == pytest.approx(value)
    assert found["rho"].value == pytest.approx(0.15 / 0.4)


def test_quantities_of_the_cost_turn_the_sign():
    found = study()
    # Placebo 2, 2, 2.5.
    for name, value in (("V_C", 5.5 / 3), ("Pi_C", 3.5 / 3), ("W_C", 2.5 / 3), ("Sigma_C", 2.0 / 3)):
        assert found[name].value == pytest.approx(value)
    assert found["rho_C"].value == pytest.approx(3.5 / 5.5)


def test_interval_is_t_over_pairs():
    # V by pair 0.3, 0.5, 0.4: standard deviation 0.1.
    interval = study()["V"].interval
    half = T_95_2 * 0.1 / np.sqrt(3)
    assert interval == pytest.approx((0.4 - half, 0.4 + half))
    wide = study(confidence=0.95)["V"].interval
    assert wide == pytest.approx(t_interval([0.3, 0.5, 0.4], confidence=0.95))


def test_p_values_are_two_sided_by_t_over_pairs_and_rho_has_none():
    found = study()
    assert found["Pi"].p == pytest.approx(stats.ttest_1samp([0.10, 0.20, 0.15], 0).pvalue)
    assert found["W_C"].p == pytest.approx(stats.ttest_1samp([0.5, 1.0, 1.0], 0).pvalue)
    assert (found["rho"].p, found["rho_C"].p) == (None, None)
    alike = study(drops={**DROPS, Condition.NAIVE: (0.4, 0.4, 0.4)})["V"]
    assert (alike.interval, alike.p) == (None, None)


def test_interval_of_rho_is_fiellers_over_pairs():
    assert study()["rho"].interval == pytest.approx(
        ratio_interval([0.1, 0.2, 0.15], [0.3, 0.5, 0.4], confidence=0.9)
    )


def test_condition_means_are_in_the_benchmarks_units():
    found = study()
    assert (found.unit, found.scale, found.pairs, found.confidence) == ("points", 10.0, 3, 0.9)
    assert list(found.score_means) == list(ALL)
    assert found.score_means[Condition.PLACEBO] == pytest.approx(8.0)
    assert found.score_means[Condition.NAIVE] == pytest.approx(4.0)
    assert found.cost_means[Condition.PLACEBO] == pytest.approx(6.5 / 3)
    assert found.cost_means[Condition.NAIVE] == pytest.approx(4.0)


@pytest.mark.parametrize("naive", [(0.3, -0.1, 0.1), (0.0, 0.0, 0.0), (0.4, 0.4, 0.4)])
def test_rho_is_not_interpretable_unless_v_is_clear_of_0(naive):
    found = study(drops={**DROPS, Condition.NAIVE: naive})
    assert (found["rho"].value, found["rho"].interval) == (None, None)
    assert found["V"].value == pytest.approx(np.mean(naive))
    assert found["rho_C"].value is not None


def test_rho_of_a_negative_value_is_formed_where_it_is_clear_of_0():
    found = study(drops={**DROPS, Condition.NAIVE: (-0.09, -0.11, -0.1)})
    assert found["rho"].value == pytest.approx(-0.15 / 0.1)


def test_quantity_without_spread_has_a_value_but_no_interval():
    found = study(drops={**DROPS, Condition.AMNESIA: (0.2, 0.2, 0.2)})
    assert found["W"].value == pytest.approx(0.2)
    assert found["W"].interval is None


def test_unknown_quantity_names_those_there_are():
    with pytest.raises(KeyError, match="accepted are V, Pi, rho, W, Sigma"):
        study()["Delta"]


def test_lost_episodes_are_left_out():
    cohort, arms = by_hand()
    lost = episode(0.0, 500, 0, failure=FailureClass.INFRASTRUCTURE)
    arms = [
        played(cohort, arm.arm.condition, [(*episodes, lost) for episodes in arm.episodes]) for arm in arms
    ]
    found = form_swap_study(cohort, arms, seat=None, confidence=0.9)
    assert found["V"].value == pytest.approx(0.4)
    assert found["Pi_C"].value == pytest.approx(3.5 / 3)


@pytest.mark.parametrize(
    ("kept", "complaint"),
    [
        (episode(0.0, failure=FailureClass.INFRASTRUCTURE), "score cannot be formed: team-02 has no episode"),
        (episode(0.5, 3, 0), "cost cannot be formed: team-02 completed no sub-task under swap"),
    ],
)
def test_quantity_that_cannot_be_formed_names_team_and_condition(kept, complaint):
    cohort, arms = by_hand()
    spoiled = dict(enumerate(arms[2].episodes)) | {2: (kept,)}
    arms[2] = played(cohort, Condition.SWAP, spoiled)
    with pytest.raises(ValueError, match=complaint):
        form_swap_study(cohort, arms, seat=None, confidence=0.9)


# Played.


def form(environment=None, **more):
    stage = make_stage(environment)

    async def work():
        return await form_cohort(stage, model="mute", **{"teams": 6, "episodes": 2, "trials": 2, **more})

    return anyio.run(work)


def run(cohort, **more):
    async def work():
        return await run_swap_study(cohort, **more)

    return anyio.run(work)


@pytest.mark.parametrize("seat", [None, "hand"])
def test_all_six_conditions_are_played_from_one_state(seat):
    cohort = form()
    found = run(cohort, seat=seat)
    assert [arm.arm.condition for arm in found.played] == list(ALL)
    assert found.score_means == pytest.approx(dict(zip(ALL, (10.0, 10.0, 5.0, 5.0, 5.0, 5.0), strict=True)))
    assert found.cost_means == pytest.approx(dict(zip(ALL, (1.0, 1.0, 3.0, 3.0, 3.0, 3.0), strict=True)))
    assert (found["Pi"].value, found["W_C"].value, found["Sigma"].value) == (0.5, 2.0, 0.0)
    # All pairs are alike: nothing is known about their spread.
    assert found["Pi"].interval is None
    assert found["rho"].value is None
    for arm in found.played:
        assert arm.seats == cohort.seats_of_teams(seat)


@pytest.mark.parametrize("teams", [2, 4])
def test_too_few_pairs_are_refused_before_anything_is_played(teams):
    cohort = form(teams=teams)
    before = cohort.stage.purse.played
    with pytest.raises(ArmError, match=rf"at least 6 teams \(3 swap pairs\) .* got {teams}"):
        run(cohort)
    assert cohort.stage.purse.played == before


def test_condition_that_was_mostly_lost_is_no_measurement():
    class Lossy(Secrets):
        async def play(self, team, task, seed):
            if task.split == "held_out" and team.notebook("lead").empty:
                return episode(0.0, failure=FailureClass.INFRASTRUCTURE, error="no route")
            return await super().play(team, task, seed)

    cohort = form(Lossy())
    with pytest.raises(
        ValueError, match=r"12 episodes of naive\(lead\) were lost, the last one to infrastructure: no"
    ):
        run(cohort, seat="lead")


def test_odd_cohort_and_unknown_seat_are_refused():
    with pytest.raises(ArmError, match="even number of teams"):
        run(form(teams=7))
    with pytest.raises(ArmError, match="seat must be one of lead, hand"):
        run(form(), seat="cook")


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, float("nan")])
def test_confidence_outside_0_1_is_refused_before_anything_is_played(confidence):
    cohort = form()
    before = cohort.stage.purse.played
    with pytest.raises(ValueError, match="confidence"):
        run(cohort, confidence=confidence)
    assert cohort.stage.purse.played == before


def test_unformed_teams_cannot_be_swapped():
    with pytest.raises(BiteError, match="did not bite"):
        run(form(episodes=0))


def test_three_seats_are_studied_too():
    found = run(form(Secrets(("a", "b", "c"))), seat="c")
    assert found["Pi"].value == 0.5
    assert {arm.seats for arm in found.played} == {("c",) * 6}
