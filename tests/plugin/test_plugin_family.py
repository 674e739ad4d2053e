"""At its end a run of several tests says how sure the harm of each is over all of them."""

from __future__ import annotations

import json
import math
import sqlite3

import numpy as np
import pytest
from scipy import stats

from pytest_swapgate.cli import main
from pytest_swapgate.stats import holm

XDIST = "pytest_swapgate.plugin xdist.plugin"
HEAD = "harm above zero, Holm-adjusted over"
FAMILY = """
def ok(task, seed): return True

@pytest.mark.swap_penalty(score=0.10)
def test_green(paired_runner): paired_runner(ok, lambda t, s: t % 40 != 0, range(80))

@pytest.mark.swap_penalty(score=0.10)
def test_red(paired_runner): paired_runner(ok, lambda t, s: t % 2 == 0, range(80))

@pytest.mark.swap_penalty(score=0.15, trials=1, discordance=0.15)
def test_chance(paired_runner): paired_runner(lambda t, s: t >= 5, lambda t, s: not 5 <= t < 18, range(80))

@pytest.mark.swap_penalty(score=0.10)
def test_alike(paired_runner): paired_runner(ok, lambda t, s: True, range(80))

@pytest.mark.swap_penalty(score=0.20, sequential=True)
def test_looks(paired_runner): paired_runner(ok, lambda t, s: t % 3 != 0, range(300))
"""


def block(result):
    """Return the lines of the family."""
    start = next(number for number, line in enumerate(result.lines) if line.startswith(HEAD))
    kept = [result.lines[start]]
    for line in result.lines[start + 1 :]:
        if not line.startswith(("p ", "not counted", "and ")):
            break
        kept.append(line)
    return kept


def by_hand():
    """Return test -> p-value, from what its functions do to each task."""
    tasks = np.arange(80)
    green, red = (tasks % 40 == 0).astype(float), (tasks % 2 != 0).astype(float)
    return {
        "test_green": stats.ttest_1samp(green, 0, alternative="greater").pvalue,
        "test_red": stats.ttest_1samp(red, 0, alternative="greater").pvalue,
        "test_chance": stats.norm.sf((13 - 5) / math.sqrt(13 + 5)),
    }


def test_a_run_of_several_tests_ends_with_holms_p_values(written, run):
    result = run(written(FAMILY)).assert_ends(1, passed=2, failed=3)
    p = by_hand()
    adjusted = dict(zip(p, holm(list(p.values())), strict=True))
    assert 0.05 < adjusted["test_chance"] < 0.1
    hint = ": FAIL alone; over this run's tests it could be noise: declare family=3"
    assert block(result) == [
        f"{HEAD} the 3 tests of this run",
        "p < 0.001    test_gate.py::test_red score",
        f"p = {adjusted['test_chance']:.3f}    test_gate.py::test_chance score{hint}",
        f"p = {adjusted['test_green']:.3f}    test_gate.py::test_green score",
        "not counted: 2 without a p-value (sequential, stopped, or no spread seen)",
    ]


def test_the_p_values_are_in_the_evidence_and_swapgate_report_tells_them(written, run, capsys):
    example = written(FAMILY)
    run(example)
    with sqlite3.connect(example.evidence) as file:
        (texts,) = zip(*file.execute("SELECT summary FROM verdicts"), strict=True)
    reports = {r["nodeid"].partition("::")[2]: r for r in map(json.loads, texts)}
    found = {name: r["rows"][0]["p_harm"] for name, r in reports.items()}
    assert found == pytest.approx({**by_hand(), "test_alike": None, "test_looks": None})
    capsys.readouterr()
    main(["report", str(example.evidence)])
    said = capsys.readouterr().out
    assert f"\n\n{HEAD} the 3 tests of this report\n  p < 0.001    test_gate.py::test_red score\n" in said
    assert "over this report's tests it could be noise: declare family=3" in said


def test_workers_tell_the_same_family(written, run):
    plain = block(run(written(FAMILY)))
    assert block(run(written(FAMILY), "-n", "2", plugins=XDIST).assert_ends(1, passed=2, failed=3)) == plain


@pytest.mark.parametrize("args", [("-q",), ("--no-summary",), ("-k", "red"), ("-k", "alike or looks or red")])
def test_one_test_alone_and_a_quiet_run_are_told_nothing_of_it(written, run, args):
    run(written(FAMILY), *args).assert_silent_about("Holm", "not counted")


TWO_OF_TEAMS = """
@pytest.mark.swap_penalty(score=0.20, cost=0.60)
def test_swap(placebo_baseline, formed_teams, paired_runner): paired_runner(placebo_baseline, formed_teams.swap())

@pytest.mark.swap_penalty(score=0.20, cost=3.0)
def test_naive(placebo_baseline, formed_teams, paired_runner): paired_runner(placebo_baseline, formed_teams.naive())
"""


def test_score_and_cost_of_teams_are_two_tests_each(teams, run):
    head, *lines = block(run(teams().with_test(TWO_OF_TEAMS)))
    assert head == f"{HEAD} the 4 tests of this run"
    rows = {line.partition("::")[2] for line in lines}
    assert rows == {f"test_{arm} {metric}" for arm in ("swap", "naive") for metric in ("score", "cost")}


def test_the_metrics_of_one_gate_alone_have_shared_its_alpha_already(teams, run):
    run(teams("swap()")).assert_ends(1, failed=1).assert_silent_about("Holm")


def test_a_controller_needs_no_scipy_for_it(written):
    dump = "import sys\ndef pytest_unconfigure(config):\n    print('SCIPY', 'scipy' in sys.modules)\n"
    example = written(FAMILY).with_files({"conftest.py": dump})
    result = example.run_pytest("-n1", plugins=XDIST)
    result.assert_says(HEAD, "SCIPY False")
