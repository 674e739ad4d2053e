"""One attempt a run, told from the next run, and none where nothing is decided."""

from __future__ import annotations

import pytest

from pytest_swapgate.cli import main
from pytest_swapgate.evidence import EvidenceStore

XDIST = "pytest_swapgate.plugin xdist.plugin"


def started(example):
    """Return the gates that the evidence file has as started."""
    with EvidenceStore.read(example.evidence) as store:
        return [
            gate for gate, *_ in store.database.rows("SELECT gate, count FROM attempts ORDER BY rowid, count")
        ]


def test_a_gate_that_every_worker_is_handed_says_so(arms, run):
    result = run(arms(0.9), "-n2", "--dist=each", plugins=XDIST)
    result.assert_ends(1, passed=1, errors=1).assert_no_traceback_of_ours()
    result.assert_says(
        "attempt 2 refused, a gate is decided once in a run, and --dist each hands it to every worker: run gates "
        "without it, with -m swapgate, and the other tests with -m 'not swapgate'"
    )


@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["alone", "workers"])
def test_a_gate_that_was_collected_twice_says_so(arms, run, options):
    twice = ("--keep-duplicates", "test_gate.py", "test_gate.py")
    result = run(arms(0.9), *twice, *options, plugins=XDIST).assert_ends(1, passed=1, errors=1)
    result.assert_says(
        "attempt 2 refused, a gate is decided once in a run, and this test was collected more than once: name it once, "
        "without --keep-duplicates"
    )


def test_the_name_that_xdist_gives_a_run_is_not_that_of_a_run_of_ours(arms, run):
    named = ("-n1", "--testrunuid=build")
    run(arms(0.9), *named, plugins=XDIST).assert_ends(0, passed=1)
    run(arms(0.9), *named, plugins=XDIST).assert_ends(0, passed=1).assert_says("120 read from evidence")
    plugins = f"{XDIST} pytest_rerunfailures"
    again = run(arms(0.3), *named, "--reruns=1", plugins=plugins).assert_ends(1, errors=1, rerun=1)
    again.assert_says("attempt 2 refused, a gate is decided once and reruns cannot change its verdict")


AGAIN = """
def pytest_handlecrashitem(crashitem, report, sched):
    sched.mark_test_pending(crashitem)
    report.outcome = "rerun"
"""


def test_a_gate_whose_worker_died_is_not_begun_again_in_the_same_run(written, run):
    example = written("""
import os
from pathlib import Path

@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner):
    if not Path("died").exists():
        Path("died").touch()
        os._exit(1)
    paired_runner(lambda task, seed: True, lambda task, seed: task % 40 != 0, range(60))
""").with_files({"conftest.py": AGAIN})
    result = run(example, "-n1", plugins=XDIST)
    assert result.exit_code == 1
    result.assert_says(
        "attempt 2 refused, a gate is decided once in a run, and another process of this run had begun it: did a "
        "worker end while it ran? Run the tests again",
        "swapgate problem: worker gw0 ended without its ledger",
    )
    run(example, "-n1", plugins=XDIST).assert_ends(0, passed=1)


@pytest.mark.parametrize("mode", ["--setup-only", "--setup-plan"])
def test_setting_up_begins_no_gate(arms, run, capsys, mode):
    example = arms(0.9)
    run(example, mode).assert_says("SETUP    F paired_runner")
    assert not example.evidence.exists() or not started(example)
    run(example).assert_ends(0, passed=1)
    run(example, mode)
    capsys.readouterr()
    assert main(["report", str(example.evidence)]) == 0
    assert started(example) == ["test_gate.py::test_gate"]


def test_showing_what_is_set_up_runs_the_gate_as_ever(arms, run):
    example = arms(0.3)
    run(example, "--setup-show").assert_ends(1, failed=1).assert_says("SETUP    F paired_runner")
    assert started(example) == ["test_gate.py::test_gate"]


def test_setting_up_compares_nothing(written, run):
    example = written("""
@pytest.fixture
def asked(paired_runner):
    paired_runner(lambda task, seed: 1 / 0, lambda task, seed: 2 / 0, range(60))

@pytest.mark.swap_penalty(score=0.25)
def test_gate(asked): pass
""")
    result = run(example, "--setup-only").assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says(
        "swapgate error: a fixture has called paired_runner, and nothing is judged under --setup-only: run the test"
    ).assert_silent_about("ZeroDivisionError")
    assert not started(example)
