"""Under pytest-xdist the same verdicts, counts and exit code arrive, and what does not arrive is red."""

from __future__ import annotations

import re

import pytest

ALONE = "pytest_swapgate.plugin pytest_rerunfailures"
XDIST = "pytest_swapgate.plugin xdist.plugin"
MANY = """
import random

def lot(share):
    def arm(task, seed): return random.Random(f"{task} {seed} {share}").random() < share
    return arm

@pytest.mark.swap_penalty(score=0.25)
def test_green(paired_runner): paired_runner(lot(0.9), lot(0.91), range(60))

@pytest.mark.swap_penalty(score=0.25)
def test_red(paired_runner): paired_runner(lot(0.9), lot(0.3), range(60))

@pytest.mark.swap_penalty(score=0.25)
def test_broken(paired_runner): paired_runner(lot(0.9), lambda task, seed: 7, range(60))

@pytest.mark.swap_penalty(score=0.20, cost=0.60)
def test_swap(placebo_baseline, formed_teams, paired_runner): paired_runner(placebo_baseline, formed_teams.swap())

@pytest.mark.swap_penalty(score=0.20, cost=3.0)
def test_naive(placebo_baseline, formed_teams, paired_runner): paired_runner(placebo_baseline, formed_teams.naive())

def test_ordinary(): pass
"""


def told(result):
    """Return what a run told about its gates, without what differs between any two runs."""
    pattern = r"(swap_penalty |score |cost |8 teams|60 tasks|decided at)"
    spent = r"\(\d+ read from evidence\)|, (under 1|\d+) s\b|, [\d.]+ k? ?tokens, USD [\d.]+"
    return {re.sub(spent, "", line) for line in result.lines if re.match(pattern, line)}


def test_workers_tell_what_one_process_tells_and_share_what_they_play(teams, run):
    example = teams().with_test(MANY)
    plain = run(example, plugins=ALONE).assert_ends(1, passed=3, failed=3)
    (example.folder / ".swapgate").rename(example.folder / ".before")
    spread = run(example, "-n", "2", "--reruns", "1", plugins=f"{XDIST} pytest_rerunfailures")
    spread.assert_ends(1, passed=3, errors=3, rerun=3)
    spread.assert_silent_about("INTERNALERROR", "swapgate problem").assert_says(
        "attempt 2 refused, a gate is decided once"
    )
    assert told(spread) == told(plain)
    again = run(example, "-n", "2", "--lf", plugins=XDIST).assert_ends(1, failed=3)
    again.assert_says("120 episodes (120 read from evidence)", "96 episodes (96 read from evidence)")


@pytest.mark.parametrize("dist", ["loadscope", "loadfile", "worksteal"])
def test_every_way_to_distribute_tests_is_as_red(arms, run, dist):
    example = arms(0.3).with_files({"test_other.py": "def test_a(): pass\n\ndef test_b(): pass\n"})
    result = run(example, "-n2", "--dist", dist, "-x", "-q", plugins=XDIST)
    assert result.exit_code in (1, 2)
    result.assert_says("test_gate.py::test_gate  swap_penalty FAIL: score +58.3 pp")
    result.assert_silent_about("INTERNALERROR", "swapgate problem")


def test_a_gate_that_kills_its_worker_is_red_and_not_played_again(written, run):
    example = written("""
import os

@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner): os._exit(0)
""")
    result = run(example, "-n1", "--max-worker-restart=0", plugins=XDIST)
    assert result.exit_code == 1
    result.assert_says(
        "worker 'gw0' crashed while running 'test_gate.py::test_gate'",
        "swapgate problem: worker gw0 ended without its ledger (Not properly terminated): what its gates decided is",
    )


def test_a_value_that_cannot_cross_from_a_worker_is_red(written, run):
    example = written("""
class Odd: pass

@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner, record_property):
    record_property("mine", Odd())
    paired_runner(lambda t, s: True, lambda t, s: t % 40 != 0, range(60))
""")
    result = run(example, "-n1", plugins=XDIST)
    assert result.exit_code != 0
    result.assert_says("swapgate problem: worker gw0 ended without its ledger")


LOSES = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput.pop("swapgate", None)
"""
SOFTENS = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item):
    report = yield
    report.outcome, report.longrepr = "passed", None
    return report
"""


def test_a_worker_without_its_ledger_is_red(written, run):
    example = written("def test_a(): pass").with_files({"conftest.py": LOSES})
    result = run(example, "-n1", plugins=XDIST)
    assert result.exit_code == 1
    result.assert_says("swapgate problem: worker gw0 ended without its ledger")


def test_a_gate_whose_outcome_was_softened_on_its_way_is_red(arms, run):
    example = arms(0.3).with_files({"conftest.py": SOFTENS})
    alone = run(example)
    assert alone.exit_code == 1
    alone.assert_says(
        "swapgate: its verdict fail was made passed by a plugin, a conftest.py or the test itself"
    )
    result = run(example, "-n1", plugins=XDIST)
    assert result.exit_code == 1
    result.assert_says(
        "swapgate: its verdict fail was made passed by a plugin, a conftest.py or the test itself"
    )


def test_a_plan_needs_no_workers(teams, run):
    example = teams("swap()")
    result = run(example, "--swapgate-plan", "-n2", plugins=XDIST)
    assert result.exit_code == 0
    result.assert_says("8 teams (4 swap pairs)", "formation, once:").assert_silent_about("bringing up nodes")
    assert not example.evidence.parent.exists()


def test_a_wrong_marker_is_one_line_from_a_worker_too(written, run):
    example = written("@pytest.mark.swap_penalty(score=0)\ndef test_gate(paired_runner): pass")
    result = run(example, "-n1", plugins=XDIST)
    assert result.exit_code in (1, 2)
    result.assert_says(
        "test_gate.py::test_gate: swap_penalty: score=0: accepted is a drop of score in [0.0001, 1]"
    )
    result.assert_no_traceback_of_ours()


def test_workers_keep_a_cap_together(teams, run):
    example = teams("swap()").with_files({"test_other.py": "def test_a(): pass"})
    result = run(example, "-n2", "--swapgate-max-episodes=9", plugins=XDIST)
    assert result.exit_code == 1
    result.assert_says("swap_penalty INCONCLUSIVE: the cap of 9 episodes is reached")
