"""``active_pass_k``: only tasks that both arms began with something to coordinate, or an error that says so."""

from __future__ import annotations

ARMS = """
from pytest_swapgate import Episode

def lot(task, seed, share):
    import random
    return random.Random(f"{task} {seed} {share}").random() < share

def good(task, seed): return lot(task, seed, 0.95)
def as_good(task, seed): return lot(task, seed, 0.94)
def poor(task, seed): return lot(task, seed, 0.30)
def tells(task, seed): return Episode(score=1.0, success=lot(task, seed, 0.95), active=task % 2 == 0)
def tells_too(task, seed): return Episode(score=1.0, success=lot(task, seed, 0.96), active=task % 2 == 0)
def tells_otherwise(task, seed): return Episode(score=1.0, success=lot(task, seed, 0.97), active=seed % 2 == 0)
def seldom(task, seed): return Episode(score=1.0, success=lot(task, seed, 0.95), active=task < 8)
def seldom_too(task, seed): return Episode(score=1.0, success=lot(task, seed, 0.96), active=task < 8)
def even(task): return task % 2 == 0
"""


def test_active_tasks_decide(written, run):
    result = run(
        written(
            ARMS
            + """
@pytest.mark.active_pass_k(k=2, drop=0.25)
def test_unharmed(paired_runner):
    paired_runner(good, as_good, range(80), active=even)

@pytest.mark.active_pass_k(k=2, drop=0.25)
def test_harmed(paired_runner):
    paired_runner(good, poor, range(80), active=even)

@pytest.mark.active_pass_k(k=2, drop=0.25)
def test_episodes_say_whether_they_were_active(paired_runner):
    paired_runner(tells, tells_too, range(80))

@pytest.mark.active_pass_k(k=3, drop=0.25)
@pytest.mark.swap_penalty(score=0.20)
def test_two_markers_decide_both(paired_runner):
    paired_runner(good, poor, range(80), active=even)
"""
        )
    )
    result.assert_ends(1, passed=2, failed=2)
    result.assert_line(
        r"active_pass_k +test_gate.py::test_unharmed +pass",
        r"pass\^2 +harm .*tolerance 25 pp .*pass",
        r"active_pass_k +test_gate.py::test_two_markers_decide_both +FAIL",
        r"swap_penalty +test_gate.py::test_two_markers_decide_both +FAIL",
    )
    result.assert_says(
        "T_2: 40 coordination-active tasks common to both arms", "T_3: 40 coordination-active tasks"
    )


def test_what_cannot_be_decided_is_an_error_that_says_what_to_do(written, run):
    result = run(
        written(
            ARMS
            + """
@pytest.mark.active_pass_k
def test_nobody_says(paired_runner):
    paired_runner(good, as_good, range(80))

@pytest.mark.active_pass_k
def test_the_arms_disagree(paired_runner):
    paired_runner(tells, tells_otherwise, range(80))

@pytest.mark.active_pass_k
def test_nothing_is_active(paired_runner):
    paired_runner(good, as_good, range(80), active=lambda task: False)

@pytest.mark.active_pass_k
def test_active_raises(paired_runner):
    paired_runner(good, as_good, range(80), active=lambda task: task.store)

@pytest.mark.active_pass_k
def test_few_active_tasks(paired_runner):
    paired_runner(good, as_good, range(80), active=lambda task: task < 5)

@pytest.mark.active_pass_k
def test_few_active_episodes(paired_runner):
    paired_runner(seldom, seldom_too, range(80))
"""
        )
    )
    result.assert_ends(1, failed=6).assert_no_traceback_of_ours()
    result.assert_says(
        "active_pass_k: nobody says which trials began with a non-empty coordination store",
        "the arms disagree on which trials of task-",
        "active=... raised AttributeError: 'int' object has no attribute 'store'",
        "active=... is true of none of the 80 tasks: there is nothing to compare",
        "INCONCLUSIVE: only 5 of 80 tasks are coordination-active, 20 are needed: give more tasks; nothing was played",
        "INCONCLUSIVE: pass^2",
        "only 8 coordination-active tasks are common to both arms, 20 are needed",
    )


def test_formed_teams_are_active_by_their_partner_notes(teams, run):
    example = teams().edited(
        "test_gate.py", "swap_penalty(score=0.20, cost=0.60)", "active_pass_k(k=1, drop=0.5)"
    )
    solved = example.edited(
        "conftest.py", "            subtasks=4,", "            subtasks=4, success='hm' not in said.values(),"
    )
    result = run(solved)
    result.assert_says("T_1: 24 coordination-active tasks common to both arms", "pass^1")


def test_teams_with_a_store_of_their_own_say_themselves_when_it_was_active(teams, run):
    """Their notebooks are empty; what counts is what their episodes say."""
    example = (
        teams("swap()")
        .edited("test_gate.py", "swap_penalty(score=0.20, cost=0.60)", "active_pass_k(k=1, drop=0.5)")
        .edited(
            "conftest.py",
            "            subtasks=4,",
            "            subtasks=4, success=True, active=task.id != 'held_out-0',",
        )
    )
    run(example).assert_says("T_1: 16 coordination-active tasks common to both arms", "pass^1")


def test_a_pass_k_of_nothing_is_no_pass(teams, run):
    """Scores of .9 are no successes: pass^1 is 0 in both arms, and nothing could be lost."""
    example = teams("swap()").edited(
        "test_gate.py", "swap_penalty(score=0.20, cost=0.60)", "active_pass_k(k=1, drop=0.5)"
    )
    run(example).assert_ends(1, failed=1).assert_says(
        "the baseline's active pass^1 is 0.0 %: no candidate can lose the tolerance of 50 pp"
    )
