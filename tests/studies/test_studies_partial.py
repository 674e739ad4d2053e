"""Comparisons that a cap has stopped: exactly the pairs that both arms have finished, and never a verdict."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_samples import Secrets, episode, make_cohort, make_stage, played

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.gate.compare_teams import compare_teams
from pytest_swapgate.gate.judge import judge
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty
from pytest_swapgate.runner import BudgetReachedError, Purse
from pytest_swapgate.stats import Interval
from pytest_swapgate.studies import form_cohort
from pytest_swapgate.studies.formed import FormedTeams, PlaceboBaseline
from pytest_swapgate.studies.paired import Cell, PairedResult, Unit, pair_teams
from pytest_swapgate.studies.partial import FLOOR_SHARE, finished_in_both, partial_result
from pytest_swapgate.teams import BiteError, Condition, FailureClass, Message

LOST = {"failure": FailureClass.INFRASTRUCTURE}
CAP = "the cap is reached: raise it"
GATE = SwapPenalty(score=0.3, cost=0.9, score_sd=0.05, cost_sd=0.1, power=0.8)


# What is paired.

LENGTHS = st.lists(
    st.tuples(*(st.lists(st.booleans(), max_size=4) for _ in range(3))), min_size=6, max_size=6
)
"""Of six teams: for baseline, candidate and repetition, whether each finished episode counts."""


def arm_of(cohort, condition, lengths, *, replicate=0, seat="lead"):
    episodes = [
        [
            episode(0.01 * (7 * i + t), messages=1 + i + t + replicate, **({} if counts else LOST))
            for t, counts in enumerate(flags)
        ]
        for i, flags in enumerate(lengths)
    ]
    return played(cohort, condition, episodes, seat, replicate)


def partial_of(cohort, lengths, condition):
    """Return the partial result of arms that were finished so far, as the gate makes it."""
    baseline = arm_of(cohort, Condition.PLACEBO, [team[0] for team in lengths])
    candidate = arm_of(cohort, condition, [team[1] for team in lengths])
    again = arm_of(cohort, condition, [team[2] for team in lengths], replicate=1)
    units, word = pair_teams(*finished_in_both(baseline, candidate))
    floor = PairedResult("b", "b again", pair_teams(*finished_in_both(baseline, again))[0], word, planned=24)
    return partial_result(PairedResult("b", "c", units, word, planned=24, floor=floor), CAP)


@given(LENGTHS, st.sampled_from([Condition.SWAP, Condition.NAIVE]))
@settings(deadline=None, max_examples=150)
def test_whatever_was_finished_the_pairs_are_those_that_both_arms_have(lengths, condition):
    cohort = make_cohort(6, trials=4)
    result = partial_of(cohort, lengths, condition)
    both = [list(zip(first, second, strict=False)) for first, second, _ in lengths]
    counting = [sum(a and b for a, b in pairs) for pairs in both]
    groups = (
        [(i, j) for i, j, _ in cohort.pairs("lead")]
        if condition is Condition.SWAP
        else [(i,) for i in range(6)]
    )
    used = [group for group in groups if all(counting[i] for i in group)]
    assert [unit.name for unit in result.units] == [
        "+".join(cohort.teams[i].id for i in group) for group in used
    ]
    for unit, group in zip(result.units, used, strict=True):
        for cell, i in zip(unit.cells, group, strict=True):
            assert [(b.counts, c.counts) for b, c in zip(cell.baseline, cell.candidate, strict=True)] == both[
                i
            ]
            assert [round(100 * b.score) for b in cell.baseline] == [7 * i + t for t in range(len(both[i]))]
    assert result.valid == sum(counting[i] for group in used for i in group)
    # What is not finished is nobody's loss; what was lost is, wherever it is.
    assert result.finished == sum(map(len, both))
    assert sum(result.losses.values()) == sum(2 - a - b for pairs in both for a, b in pairs)
    assert result.stopped == CAP
    assert len(result.score_harms) == len(result.cost_harms) == len(result.units)


@given(LENGTHS)
@settings(deadline=None, max_examples=150)
def test_a_floor_is_of_the_same_units_and_no_larger_or_it_is_not_there(lengths):
    result = partial_of(make_cohort(6, trials=4), lengths, Condition.NAIVE)
    if result.floor is None:
        return
    assert [unit.name for unit in result.floor.units] == [unit.name for unit in result.units]
    for ours, floors in zip(result.cells, result.floor.cells, strict=True):
        assert len(floors.valid) >= 1
        assert len(floors.baseline) <= len(ours.baseline)
    assert result.floor.valid >= FLOOR_SHARE * result.valid


@pytest.mark.parametrize(("trials", "there"), [(4, True), (3, False)])
def test_a_floor_that_lags_behind_by_an_episode_stays_and_one_that_is_short_goes(trials, there):
    many = [([True] * 5, [True] * 5, [True] * trials)] * 6
    result = partial_of(make_cohort(6, trials=5), many, Condition.NAIVE)
    assert (result.floor is not None) is there


# Real runs, stopped after every number of episodes.


class Lots(Secrets):
    """Scores and messages by lot; changes of occupant make both worse."""

    digest = "lots"

    async def play(self, team, task, seed):
        notes = [team.notebook(seat).partner_notes for seat in self.seats]
        draw = random.Random(f"{seed} {task.id} {notes}")
        said = tuple(Message(sender=self.seats[i % 2], text="x") for i in range(draw.randint(2, 6)))
        return (await super().play(team, task, seed)).model_copy(
            update={"score": draw.random(), "messages": said, "subtasks": 1.0}
        )


def compare(store, purse, condition="swap", *, trials=3, concurrency=4):
    cohort = make_cohort(6, trials=trials)
    stage = make_stage(Lots(), store=store, purse=purse, concurrency=concurrency)
    teams = FormedTeams(replace(cohort, stage=stage))
    baseline = PlaceboBaseline(teams.cohort, Condition.PLACEBO, "lead")
    return anyio.run(compare_teams, [GATE], baseline, getattr(teams, condition)("lead"))


def used_up():
    purse = Purse(episodes=1)
    purse.start()
    return purse


@pytest.mark.parametrize("condition", ["swap", "naive"])
def test_a_capped_run_has_what_its_store_has_and_a_later_one_ends_as_if_nothing_had_been(tmp_path, condition):
    with EvidenceStore.open(tmp_path / "whole.db") as store:
        whole = compare(store, Purse(), condition)
    final = judge(GATE, whole, nodeid="t").model_dump(exclude={"lines"})
    seen = Counter()
    for cap in range(1, 54, 3):
        with EvidenceStore.open(tmp_path / f"{cap}.db") as store:
            purse = Purse(episodes=cap)
            result = compare(store, purse, condition)
            assert purse.played == cap
            counts = Counter((row.unit, row.study, row.arm.partition("(")[0]) for row in store.episodes())
            both = {
                team.id: min(counts[team.id, "swap", "placebo"], counts[team.id, "swap", condition])
                for team in make_cohort(6).teams
            }
            assert {cell.name: len(cell.valid) for cell in result.cells}.items() <= both.items()
            left = {cell.name: len(cell.valid) for unit in result.left_out for cell in unit.cells}
            assert left.items() <= both.items()
            assert result.finished == sum(both.values())
            assert result.planned == whole.planned == 18

            reader = used_up()
            read = compare(store, reader, condition)
            assert replace(read, stopped="") == replace(result, stopped="")  # memory and store say the same
            assert reader.played == 0

            report = judge(GATE, result, nodeid="t")
            assert report.verdict == "inconclusive"
            assert {row.verdict for row in report.rows} <= {"inconclusive"}
            seen[bool(report.rows)] += 1

            resumed = compare(store, Purse(), condition)
            assert judge(GATE, resumed, nodeid="t").model_dump(exclude={"lines"}) == final
            assert replace(resumed, played=0, read=0) == replace(whole, played=0, read=0)
    assert seen[True] >= 3
    assert seen[False] >= 3


def test_teams_that_trade_are_played_next_to_each_other(tmp_path):
    """Else a cap leaves many half pairs: paid for, and without a figure."""
    with EvidenceStore.open(tmp_path / "e.db") as store:
        result = compare(store, Purse(episodes=12), concurrency=1)
    assert (len(result.units), len(result.left_out)) == (2, 0)
    assert result.valid == 4


def test_a_change_that_did_not_bite_is_an_error_also_before_the_end():
    class Deaf(Secrets):
        async def play(self, team, task, seed):
            return episode(payloads=dict.fromkeys(self.seats, "same"))

    stage = make_stage(Deaf(), purse=Purse(episodes=4), concurrency=1)
    teams = FormedTeams(replace(make_cohort(6), stage=stage))
    with pytest.raises(BiteError, match="the same, byte for byte"):
        anyio.run(compare_teams, [GATE], teams.placebo("lead"), teams.swap("lead"))


def test_an_occupant_that_was_not_asked_yet_is_no_error_before_the_end():
    class Late(Secrets):
        writes_notebooks = False

        async def play(self, team, task, seed):
            return episode(0.5)

    teams = FormedTeams(make_cohort(6))
    for purse, error in ((Purse(episodes=4), False), (Purse(), True)):
        stage = make_stage(Late(), purse=purse, concurrency=1)
        arms = FormedTeams(replace(teams.cohort, stage=stage))
        if error:
            with pytest.raises(BiteError, match="was never used"):
                anyio.run(compare_teams, [GATE], arms.placebo("lead"), arms.swap("lead"))
        else:
            assert anyio.run(compare_teams, [GATE], arms.placebo("lead"), arms.swap("lead")).stopped


def test_a_cap_while_teams_are_formed_says_how_far_that_came(tmp_path):
    async def work():
        return await form_cohort(stage, model="mute", teams=4, episodes=3)

    with EvidenceStore.open(tmp_path / "e.db") as store:
        stage = make_stage(Lots(), store=store, purse=Purse(episodes=7))
        said = "reached while the teams were formed, after 7 of 12 formation episodes: there is nothing to compare yet"
        with pytest.raises(BudgetReachedError, match=f"the cap of 7 episodes is reached: .*; {said}"):
            anyio.run(work)
        assert len(list(store.episodes())) == 7


# What is said of it.


def told(tolerance, result):
    return judge(tolerance, result, nodeid="t::g")


def result_of(harms, *, planned=40, costs=None, word="team", **more):
    """Return a partial result of units with one pair each: harm on the score, and messages of the candidate."""
    costs = costs or [4] * len(harms)
    units = tuple(
        Unit(str(i), (Cell(str(i), (episode(0.9, 4),), (episode(0.9 - harm, cost),), seat="lead"),))
        for i, (harm, cost) in enumerate(zip(harms, costs, strict=True))
    )
    return partial_result(PairedResult("b", "c", units, word, planned=planned, **more), CAP)


@pytest.mark.parametrize("harms", [[0.5, 0.52, 0.51, 0.49], [0.0, 0.01, -0.01, 0.02], [0.2, 0.4, -0.1, 0.3]])
def test_no_interval_however_clear_is_a_verdict(harms):
    report = told(SwapPenalty(score=0.1, cost=None), result_of(harms))
    assert report.verdict == "inconclusive"
    [row] = report.rows
    assert row.verdict == "inconclusive"
    assert row.harm == pytest.approx(sum(harms) / 4)
    assert row.low < row.harm < row.high
    assert row.note == ""
    assert report.lines[:2] == (
        CAP,
        "by then 4 of 40 planned pairs were played: the figures are of those, and no verdict is taken from them",
    )
    assert report.reason.startswith(
        f"{CAP}; by then 4 of 40 planned pairs were played: score {100 * row.harm:+.1f} pp ["
    )
    assert report.reason.endswith("; no verdict is taken from them")
    assert not any("decide" in line for line in report.lines)


def test_the_interval_of_a_look_is_told_as_that_and_is_not_the_one_of_the_pairs_since():
    gate = SwapPenalty(score=0.2, cost=None, sequential=True)
    successes = [(1.0, 0.0)] * 3 + [(0.0, 1.0)] + [(1.0, 1.0)] * 26
    units = tuple(
        Unit(str(i), (Cell(str(i), (episode(b),), (episode(c),)),)) for i, (b, c) in enumerate(successes)
    )
    looked = PairedResult(
        "b",
        "c",
        units,
        "task",
        planned=63,
        look=2,
        looks=(13, 26, 38, 51, 63),
        look_interval=Interval(-0.5, 0.6),
    )
    report = told(gate, partial_result(looked, CAP))
    [row] = report.rows
    assert row.harm == pytest.approx(2 / 30)
    assert -0.5 < row.low < row.harm < row.high < 0.6
    assert any(
        line.startswith(
            "look 2 of 5, at 26 pairs, was undecided at [-50.0, +60.0] pp; the next one is due at 38"
        )
        for line in report.lines
    )
    unlooked = replace(looked, look=0, look_interval=None)
    assert (
        "no look was taken: the first of 5 is due at 13 pairs"
        in told(gate, partial_result(unlooked, CAP)).lines
    )


def test_units_that_are_too_few_for_an_interval_are_told_all_the_same():
    report = told(GATE, result_of([0.2, 0.1], costs=[6, 6]))
    assert report.rows == ()
    assert report.reason == f"{CAP}; by then 2 of 40 planned pairs were played"
    assert (
        report.lines[0]
        == "2 teams so far (score harm +15.0 pp, cost +50 %): no interval, at least 3 are needed"
    )
    assert (
        told(GATE, result_of([0.2])).lines[0].startswith("1 team so far (score harm +20.0 pp, cost +0 %): ")
    )


def test_nothing_that_both_arms_have_is_said_in_one_line():
    report = told(GATE, result_of([]))
    assert report.reason == f"{CAP}; by then none of the 40 planned pairs was played in both arms"
    assert report.lines == ("0 episodes",)


def test_units_without_spread_say_what_their_interval_rests_on():
    report = told(GATE, result_of([0.2, 0.2, 0.2], costs=[5, 6, 7]))
    assert [row.metric for row in report.rows] == ["score", "cost"]
    assert {row.verdict for row in report.rows} == {"inconclusive"}
    assert any(
        line.startswith("score: every team shows the same harm on the score, +20 pp") for line in report.lines
    )
    assert any(line.startswith("intervals at alpha 0.05 / 2 on the fail side") for line in report.lines)


def test_a_cost_that_cannot_be_formed_yet_is_one_line():
    empty = Unit("x", (Cell("x", (episode(0.9, 4),), (episode(0.1, 4, subtasks=0),)),))
    whole = result_of([0.1, 0.2, 0.3], costs=[5, 6, 7])
    report = told(GATE, replace(whole, units=(*whole.units, empty)))
    assert [row.metric for row in report.rows] == ["score"]
    assert any(
        "cost: no interval: cost cannot be formed: the candidate of x" in line for line in report.lines
    )


def test_a_floor_that_cannot_be_formed_does_not_take_the_row_with_it():
    units = tuple(
        Unit(str(i), (Cell(str(i), (episode(0.9, 4),), (episode(0.9, 4, subtasks=0),)),)) for i in range(3)
    )
    floor = PairedResult("b", "b again", units, "team", planned=3)
    report = told(GATE, result_of([0.1, 0.2, 0.3], costs=[5, 6, 7], floor=floor))
    assert [(row.metric, row.floor) for row in report.rows] == [("score", 0.0), ("cost", None)]


def test_half_a_swap_pair_is_left_out_and_said_so():
    lengths = [([True] * 2,) * 3] * 6
    cohort = make_cohort(6, trials=4)
    first, second, _ = cohort.pairs("lead")[0]
    lengths[second] = ([True] * 2, [], [])
    result = partial_of(cohort, lengths, Condition.SWAP)
    assert (len(result.units), len(result.left_out), result.valid) == (2, 1, 8)
    report = told(GATE, result)
    assert (
        "by then 10 of 24 planned pairs were played, 2 of them left out until the other team" in report.reason
    )
    assert cohort.teams[first].id in result.left_out[0].name


def test_lost_episodes_stay_visible():
    lengths = [([True, False], [True, True], [])] * 6
    report = told(GATE, partial_of(make_cohort(6, trials=4), lengths, Condition.NAIVE))
    assert "by then 6 of 24 planned pairs were played and count" in report.reason
    assert any("25.0 % of trials infra errors" in line for line in report.lines)
    lost = [([False], [True], [])] * 6
    report = told(GATE, partial_of(make_cohort(6, trials=4), lost, Condition.NAIVE))
    assert "none of the 24 planned pairs was played in both arms and counts" in report.reason
    assert any("50.0 % of trials infra errors" in line for line in report.lines)


def test_pass_k_says_how_many_units_have_trials_enough():
    report = told(ActivePassK(k=2, drop=0.2), result_of([0.1, 0.2, 0.3], word="task"))
    assert report.verdict == "inconclusive"
    assert report.rows == ()
    [line] = [line for line in report.lines if line.startswith("pass^2: no interval: ")]
    assert "nobody says which trials began with a non-empty coordination store" in line
    whole = result_of([0.1, 0.2, 0.3], word="task")
    units = tuple(
        replace(unit, cells=tuple(replace(cell, active=True) for cell in unit.cells)) for unit in whole.units
    )
    report = told(ActivePassK(k=2, drop=0.2), replace(whole, units=units))
    assert any(
        "0 tasks so far with 2 coordination-active trials of a task in both arms, at least 3 are needed"
        in line
        for line in report.lines
    )
