"""The whole path finds the simulated cooks' truth: conventions make a swap costly, without them it is free."""

from __future__ import annotations

import functools

import anyio
import pytest

from pytest_swapgate.environments.kitchen import KitchenEnvironment
from pytest_swapgate.gate.judge import judge
from pytest_swapgate.gate.tolerances import SwapPenalty
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Stage
from pytest_swapgate.stats import Verdict
from pytest_swapgate.studies import PairedResult, form_cohort, run_swap_study
from pytest_swapgate.studies.paired import pair_teams
from pytest_swapgate.teams import Condition


@functools.cache
def studied(model):
    """Form twelve teams on level 5 and play all conditions on level 6, with the default seed."""
    environment = KitchenEnvironment(formation_level=5, held_out_level=6)
    stage = Stage(environment, ModelRegistry(environment.simulated))

    async def work():
        cohort = await form_cohort(stage, model=model, teams=12)
        return cohort, await run_swap_study(cohort)

    return anyio.run(work)


def compared(model, condition):
    cohort, study = studied(model)
    arms = {arm.arm.condition: arm for arm in study.played}
    units, word = pair_teams(arms[Condition.PLACEBO], arms[condition])
    return PairedResult(
        baseline="placebo",
        candidate=condition.value,
        units=units,
        unit_word=word,
        planned=len(cohort.teams) * cohort.trials,
        models=(model,),
    )


def decided(model, condition=Condition.SWAP):
    return judge(SwapPenalty(score=0.05, cost=0.20), compared(model, condition), nodeid="t")


def test_conventions_are_found():
    _, study = studied("simulated")
    assert study["Pi_C"].value > 0
    assert study["V"].value > 0
    assert study["W"].value > 0
    assert study["Sigma"].value >= 0
    assert study["rho_C"].value > study["rho"].value
    assert study.pairs == 6


def test_costly_swap_fails_on_its_cost():
    report = decided("simulated")
    cost = next(row for row in report.rows if row.metric == "cost")
    assert cost.verdict is Verdict.FAIL
    assert report.verdict is Verdict.FAIL
    assert cost.low > 0
    assert cost.harm > 0.20
    assert report.simulated


def test_extra_messages_repair_failed_hand_offs():
    pays = compared("simulated", Condition.SWAP).who_pays
    kinds = dict(pays.kinds)
    assert pays.extra > 0
    assert {"clarification", "correction"} & set(kinds)
    assert sum(kinds.values()) == pytest.approx(1.0)


def test_without_conventions_the_same_gate_passes():
    report = decided("simulated:plain")
    assert report.verdict is Verdict.PASS
    assert {row.metric for row in report.rows} == {"score", "cost"}
    assert all(row.verdict is Verdict.PASS for row in report.rows)


def test_without_conventions_experience_still_counts():
    _, study = studied("simulated:plain")
    assert study["V"].interval.low > 0
    assert abs(study["Pi"].value) < study["V"].value


def test_announcement_alone_costs_little():
    for model in ("simulated", "simulated:plain"):
        means = studied(model)[1].score_means
        assert abs(means[Condition.INTACT] - means[Condition.PLACEBO]) < 5


def test_every_pair_counts():
    for model in ("simulated", "simulated:plain"):
        result = compared(model, Condition.SWAP)
        assert result.valid == result.planned == 120
        assert result.losses == {}
