"""A gate is decided once: neither reruns nor second runs can turn it green, and a second run pays for nothing."""

from __future__ import annotations

import pytest

COUNTED = """
import random
from pathlib import Path

def counted(name, share):
    def arm(task, seed):
        with Path(__file__).with_name(f"{name}.log").open("a") as calls:
            calls.write("x")
        return random.Random(f"{task} {seed} {share}").random() < share
    return arm
"""
HARMFUL = (
    COUNTED
    + """
@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner):
    paired_runner(counted("calls", 0.9), counted("calls", 0.3), range(60))
"""
)


def calls(example, name="calls"):
    path = example.folder / f"{name}.log"
    return len(path.read_text()) if path.exists() else 0


def test_reruns_are_refused_and_the_first_reason_stays(written, run):
    example = written(HARMFUL)
    result = run(example, "--reruns", "3").assert_ends(1, errors=1, rerun=3).assert_no_traceback_of_ours()
    result.assert_says(
        "ERROR test_gate.py::test_gate - Failed: swap_penalty FAIL: score +",
        "swapgate: attempt 4 refused, a gate is decided once and reruns cannot change its verdict",
    )
    assert calls(example) == 120
    result.assert_line(r"swap_penalty +test_gate.py::test_gate +FAIL")


def test_a_flaky_mark_is_refused_too_whatever_failed_first(written, run):
    example = written(
        COUNTED
        + """
LEFT = [1]

@pytest.mark.flaky(reruns=2)
@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner):
    paired_runner(counted("calls", 0.9), counted("calls", 0.9), range(60))
    assert not LEFT.pop() if LEFT else True
"""
    )
    result = run(example).assert_ends(1, errors=1, rerun=2)
    result.assert_says("AssertionError: assert False swapgate: attempt 3 refused")


def test_a_refused_attempt_keeps_the_verdict_of_the_first_in_the_summary(teams, run):
    result = run(teams("swap()"), "--reruns", "1").assert_ends(1, errors=1, rerun=1)
    result.assert_says("ERROR test_gate.py::test_gate - Failed: swap_penalty FAIL: cost +")
    result.assert_line(r"cost +harm .*FAIL")


def test_last_failed_replays_the_evidence_and_stays_red(written, run):
    others = {
        "test_a_first.py": "import helper\n\ndef test_other():\n    assert helper.VALUE == 1\n",
        "helper.py": "VALUE = 1\n",
    }
    example = written(HARMFUL).with_files(others)
    first = run(example).assert_ends(1, failed=1, passed=1)
    assert calls(example) == 120
    again = run(example, "--lf").assert_ends(1, failed=1)
    assert calls(example) == 120, "a rerun across runs played again"
    again.assert_says("120 episodes (120 read from evidence)")
    verdict = [line for line in first.lines if line.startswith("score")]
    assert verdict == [line for line in again.lines if line.startswith("score")]


@pytest.mark.parametrize(
    "args", [(), ("test_gate.py",), ("-k", "gate", "-v"), ("-p", "no:cacheprovider", "-x", "-q")]
)
def test_a_second_run_reads_everything_however_it_is_selected(written, run, args):
    example = written(HARMFUL)
    run(example)
    run(example, *args).assert_ends(1, failed=1)
    assert calls(example) == 120


def test_teams_and_formation_are_read_as_well(teams, run):
    example = teams("swap()")
    first = run(example)
    again = run(example).assert_says("96 episodes (96 read from evidence)")
    keep = [line for line in first.lines if "harm " in line]
    assert keep == [line for line in again.lines if "harm " in line]


def test_fresh_plays_everything_again(written, run):
    example = written(HARMFUL)
    run(example)
    run(example, "--swapgate-fresh").assert_silent_about("read from evidence")
    assert calls(example) == 240


CHANGES = {
    "the test": lambda example: example.edited("test_gate.py", '("calls", 0.3)', '("calls", 0.31)'),
    "a module": lambda example: example.with_files({"helper.py": "VALUE = 2\n"}),
    "a prompt": lambda example: example.with_files({"prompts/system.txt": "Be rude.\n"}),
    "a setting": lambda example: example.with_files({"agents.yaml": "model: other\n"}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_may_change_an_outcome_plays_again(written, run, what):
    example = written(HARMFUL).with_files(
        {"helper.py": "VALUE = 1\n", "prompts/system.txt": "Be kind.\n", "agents.yaml": "model: one\n"}
    )
    run(example)
    run(CHANGES[what](example)).assert_silent_about("read from evidence")
    assert calls(example) == 240


def test_an_environment_variable_or_an_option_of_the_project_plays_again(written, run):
    options = "def pytest_addoption(parser):\n    parser.addoption('--brain')\n"
    example = written(HARMFUL).with_files({"conftest.py": options})
    run(example, "--brain", "one")
    run(example, "--brain", "one").assert_says("120 read from evidence")
    run(example, "--brain", "two").assert_silent_about("read from evidence")
    run(example, "--brain", "one", AGENT_MODEL="other").assert_silent_about("read from evidence")
    run(example, "--brain", "one", "--swapgate-replace=seat=other").assert_silent_about("read from evidence")
    assert calls(example) == 4 * 120


def test_a_fingerprint_of_the_system_is_what_counts_where_it_is_given(written, run):
    example = written(HARMFUL.replace("range(60))", "range(60), fingerprint='v1')"))
    run(example)
    run(example.with_files({"helper.py": "VALUE = 2\n"}), AGENT_MODEL="other").assert_says(
        "120 read from evidence"
    )
    run(example.edited("test_gate.py", "'v1'", "'v2'")).assert_silent_about("read from evidence")


def test_a_module_behind_an_environment_plays_again_unless_the_environment_names_its_digest(teams, run):
    example = teams("swap()").with_files({"agents.py": "TEMPER = 'kind'\n"})
    changed = {"agents.py": "TEMPER = 'rude'\n"}
    run(example)
    run(example).assert_says("96 episodes (96 read from evidence)")
    run(example.with_files(changed)).assert_silent_about("read from evidence")
    named = example.edited("conftest.py", "class Desk:", "class Desk:\n    digest = 'desk 1'\n")
    run(named).assert_silent_about("read from evidence")
    run(named.with_files(changed)).assert_says("96 episodes (96 read from evidence)")


def test_two_comparisons_and_two_tests_never_share_their_outcomes(written, run):
    example = written(
        COUNTED
        + """
class Level:
    def __init__(self, share): self.share = share

def at(level, name):
    calls = counted(name, level.share)
    return lambda task, seed: calls(task, seed)

@pytest.mark.swap_penalty(score=0.25)
def test_both(paired_runner):
    first = paired_runner(at(Level(0.9), "a"), at(Level(0.91), "a"), range(60), fingerprint="v1")
    second = paired_runner(at(Level(0.9), "a"), at(Level(0.3), "a"), range(60), fingerprint="v1")
    assert first.read == second.read == 0

@pytest.mark.swap_penalty(score=0.25)
def test_other(paired_runner):
    assert paired_runner(at(Level(0.9), "b"), at(Level(0.92), "b"), range(60), fingerprint="v1").read == 0
"""
    )
    run(example).assert_ends(1, passed=1, failed=1).assert_says("120 episodes, under 1 s")
    assert (calls(example, "a"), calls(example, "b")) == (240, 120)
    run(example)
    assert (calls(example, "a"), calls(example, "b")) == (240, 120)


def test_the_order_of_the_tests_does_not_matter(written, run):
    example = written(
        HARMFUL
        + """
@pytest.mark.swap_penalty(score=0.25)
def test_another_gate(paired_runner):
    paired_runner(counted("others", 0.9), counted("others", 0.91), range(60))
"""
    ).with_files({"pytest.ini": "[pytest]\n"})
    verdicts = []
    for args in (
        ["-p", "randomly", "-p", "no:randomly"],
        ["-p", "randomly", "--randomly-seed=3"],
        ["--randomly-seed=4"],
    ):
        result = run(example, *args, "--swapgate-fresh").assert_ends(1, passed=1, failed=1)
        verdicts.append(sorted(line for line in result.lines if line.startswith("score ")))
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert calls(example) == calls(example, "others") == 3 * 120
