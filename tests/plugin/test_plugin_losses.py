"""Episodes lost to the infrastructure: a few cost nothing, many on one arm are no pass, and both are said."""

from __future__ import annotations

FLAKY = """
def ok(task, seed): return True

class Late:
    '''Times out on the first attempt at some tasks, and succeeds on the second.'''
    def __init__(self, tasks): self.tasks, self.seen = set(tasks), set()
    def __call__(self, task, seed):
        if task in self.tasks and task not in self.seen:
            self.seen.add(task)
            raise TimeoutError("too slow")
        return True

def dead(task, seed):
    if task == 7:
        raise TimeoutError("gone")
    return True
"""


def gate(arms: str) -> str:
    return f"""{FLAKY}
@pytest.mark.swap_penalty(score=0.10)
def test_gate(paired_runner):
    paired_runner({arms}, range(300))
"""


def test_a_candidate_that_succeeds_only_when_it_is_played_again_is_no_pass(written, run):
    result = run(written(gate("ok, Late(range(0, 300, 4))"))).assert_ends(1, failed=1)
    result.assert_says(
        "INCONCLUSIVE: 20 % of the candidate's attempts were lost to timeouts and failing services,",
        "(lost and played again: baseline 0, candidate 75)",
        "so no pass is given",
    )


def test_outages_that_hit_both_arms_alike_are_told_and_pass(written, run):
    result = run(written(gate("Late(range(0, 300, 4)), Late(range(1, 300, 4))"))).assert_ends(0, passed=1)
    result.assert_says("(lost and played again: baseline 75, candidate 75)")


def test_one_lost_trial_of_many_is_no_error(written, run):
    result = run(written(gate("ok, dead"))).assert_ends(0, passed=1)
    result.assert_says("299 tasks, 299 pairs of episodes, 0.2 % of trials infra errors")


def test_perfect_teams_pass_by_their_planned_spread(written, run):
    body = """
def good(task, seed): return 1.0
def as_good(task, seed): return 1.0

@pytest.mark.swap_penalty(score=0.10)
def test_gate(paired_runner):
    result = paired_runner(good, as_good, range(40))
"""
    result = run(written(body)).assert_ends(0, passed=1)
    result.assert_line(r"score +harm +\+0\.0 pp +\[-\d\.\d, \+\d\.\d\] +tolerance 10 pp .* pass")
    result.assert_says(
        "score: every task shows the same harm on the score, +0 pp: its noise was not seen, and the planned spread of",
        "mean score: baseline 100.0 %, candidate 100.0 %",
    )


def test_a_cost_that_cannot_vary_is_decided_by_its_planned_spread(written, run):
    body = """
from pytest_swapgate import Episode, Message

def talks(task, seed, n=4): return Episode(score=1, messages=[Message(sender="a", text="!")] * n, subtasks=1)
def alike(task, seed): return talks(task, seed)
def more(task, seed): return talks(task, seed, n=6)

@pytest.mark.swap_penalty(score=0.10, cost=0.20)
def test_the_same(paired_runner): paired_runner(talks, alike, range(80))

@pytest.mark.swap_penalty(score=0.10, cost=0.20)
def test_half_as_much_again(paired_runner): paired_runner(talks, more, range(80))
"""
    result = run(written(body)).assert_ends(1, passed=1, failed=1)
    result.assert_line(
        r"FAILED test_gate.py::test_half_as_much_again.*", r"cost +harm +\+50 % +\[\+\d\d, \+\d\d\].*FAIL"
    )
    result.assert_says("cost: every task shows the same change of the cost, +0 %")


def test_shares_that_would_say_nothing_are_told_as_messages(teams, run):
    """The incumbent says much more, the newcomer less: no share of the extra messages lies in [0, 1]."""
    example = teams('replace("front", model="simulated:careless")').edited(
        "conftest.py",
        "        return Episode(",
        "        if 'hm' in said.values():\n            talk = [('back', 'status')] * 12\n        return Episode(",
    )
    result = run(example)
    result.assert_line(r"who pays: incumbent \+\d+ messages, newcomer -\d+; .*")


def test_a_sequential_gate_refuses_a_cost_though_it_is_the_default(written, run):
    body = "@pytest.mark.swap_penalty(score=0.10, cost=0.20, sequential=True)\ndef test_gate(paired_runner): pass"
    run(written(body)).assert_says(
        "sequential=True: accepted beside a score tolerance alone, without cost=..."
    )
