"""Caps over all workers: what is in flight may finish, nothing else starts, and what was played is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.desk import desk
from support.example import Example, Result

from pytest_swapgate.cli import main
from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.gate.verdicts import GateReport

FOUR = """
import pytest

@pytest.mark.swap_penalty(score=0.2, cost=0.6, score_sd=0.04, cost_sd=0.11)
@pytest.mark.parametrize("arm", ["swap", "swap_cleared", "amnesia", "naive"])
def test_gate(arm, placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, getattr(formed_teams, arm)())
"""
CALL = 21  # tokens of one call of the desk's clerks
CONCURRENCY = 4


def _spent(folder: Path):
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        (run,) = {record.run for record in store.verdicts()} or {""}
        return store.spending(run)


def test_a_cap_on_tokens_holds_over_four_workers(teams: Callable[..., Example], folder: Path) -> None:
    cap = 3000
    result = (
        teams()
        .with_test(FOUR)
        .run_pytest(
            *("-n", "4", "--swapgate-max-tokens", str(cap), "--swapgate-concurrency", str(CONCURRENCY)),
            plugins="pytest_swapgate.plugin xdist.plugin",
        )
    )
    assert result.exit_code == 1, result.text
    result.assert_says("the cap of 3,000 tokens is reached: raise --swapgate-max-tokens")
    assert "pass" not in {
        line.rpartition(" ")[2] for line in result.lines if line.startswith("swap_penalty  ")
    }
    assert cap <= _spent(folder).tokens <= cap + 4 * CONCURRENCY * CALL


def test_a_later_run_with_a_larger_cap_plays_only_what_is_missing(
    teams: Callable[..., Example], folder: Path
) -> None:
    example = teams().with_test(FOUR)
    example.run_pytest("--swapgate-max-tokens", "3000")
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        kept = sum(count.episodes for count in store.summary())
    assert kept > 0
    result = example.run_pytest()
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        total = sum(count.episodes for count in store.summary())
        last = store.verdicts()[-1].run
        assert store.spending(last).started == total - kept
        assert store.conflicts == 0
    assert "INCONCLUSIVE" not in result.text


# What a gate says that a cap has stopped.

SEQUENTIAL = """
import random

def lot(share):
    return lambda task, seed: random.Random(f"{task} {seed} {share}").random() < share

@pytest.mark.swap_penalty(score=0.20, sequential=True)
def test_looks(paired_runner):
    paired_runner(lot(0.90), lot(0.81), range(200))
"""
OF_THOSE = "the figures are of those, and no verdict is taken from them"


def _blocks(text: str) -> list[str]:
    """Return the lines of the gates' blocks in a summary or a report."""
    lines = [line.rstrip() for line in text.splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith(("swap_penalty  ", "active_pass_k  "))]
    return [
        line for start in starts[-1:] for line in lines[start:] if line[:2] == "  " or line is lines[start]
    ]


def test_a_capped_gate_of_teams_shows_the_figures_of_what_it_had_and_no_verdict(
    teams: Callable[..., Example], run: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    example = teams("swap()")
    result = run(example, "--swapgate-max-episodes=70").assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_line(
        r"swap_penalty +test_gate.py::test_gate +INCONCLUSIVE",
        r"swap\(drawn seat\) against placebo\(drawn seat\)",
        r"score +harm +[+-][\d.]+ pp +\[[+-][\d.]+, [+-][\d.]+\] +tolerance 20 pp +floor [\d.]+ pp +INCONCLUSIVE",
        r"cost +harm +[+-]\d+ % +\[[+-]\d+, [+-]\d+\] +tolerance 60 % +floor \d+ % +INCONCLUSIVE",
        r"the cap of 70 episodes is reached: raise --swapgate-max-episodes; what was played is kept and will be read",
        rf"by then 18 of 32 planned pairs were played: {OF_THOSE}",
        r"8 teams \(4 swap pairs\), 18 pairs of episodes, 0\.0 % of trials infra errors, session drift not assessed",
        r"who pays: incumbent .*",
        r"intervals at alpha 0\.05 / 2 on the fail side, power 90 %; this sample detects .*",
        r"54 episodes, .* model simulated \(simulated: a stand-in, not a language model\)",
    )
    result.assert_says(
        "by then 18 of 32 planned pairs were played: score ", "; no verdict is taken from them"
    )
    # The same block from the evidence file, and exit code 2.
    capsys.readouterr()
    assert main(["report", str(example.evidence)]) == 2
    printed = capsys.readouterr().out
    assert len(_blocks(printed)) >= 10
    assert _blocks(printed) == _blocks(result.text)
    # The same rows in the ledger, each without a verdict.
    with EvidenceStore.read(example.evidence) as store:
        (record,) = store.verdicts()
    report = GateReport.model_validate_json(record.summary)
    assert (record.verdict, report.verdict, report.simulated) == ("inconclusive", "inconclusive", True)
    assert [(row.metric, str(row.verdict)) for row in report.rows] == [
        ("score", "inconclusive"),
        ("cost", "inconclusive"),
    ]


def test_a_run_that_resumes_ends_like_one_that_was_never_stopped(
    teams: Callable[..., Example], run: Callable[..., Result], tmp_path: Path
) -> None:
    whole = run(desk(tmp_path / "other", "swap()")).assert_ends(1, failed=1)
    example = teams("swap()")
    for cap in (10, 20, 25):
        run(example, f"--swapgate-max-episodes={cap}").assert_says("INCONCLUSIVE")
    resumed = run(example).assert_ends(1, failed=1)

    def said(result: Result) -> list[str]:
        return [line for line in _blocks(result.text) if "episodes (" not in line and " tokens, " not in line]

    assert said(resumed) == said(whole)
    assert any("cost" in line and line.endswith("FAIL") for line in said(whole))
    resumed.assert_says("96 episodes (39 read from evidence)")


def test_functions_that_a_cap_stops_are_a_warning_at_most_however_bad_they_look(
    arms: Callable[..., Example], run: Callable[..., Result]
) -> None:
    example = arms(0.3)
    result = run(example, "--swapgate-max-episodes=60", "--swapgate-inconclusive=warn")
    result.assert_ends(0, passed=1).assert_line(
        r"score +harm +\+5\d\.\d pp +\[\+3\d\.\d, \+\d\d\.\d\] +tolerance 25 pp +floor not measured +INCONCLUSIVE",
        rf"by then 30 of 60 planned pairs were played: {OF_THOSE}",
    )
    result.assert_says(
        "SwapgateWarning: test_gate.py::test_gate: swap_penalty INCONCLUSIVE: the cap of 60 episodes"
    )
    run(example).assert_ends(1, failed=1).assert_says(
        "swap_penalty FAIL", "120 episodes (60 read from evidence)"
    )


@pytest.mark.parametrize(
    ("cap", "reason", "line"),
    [
        (1, "none of the 60 planned pairs was played in both arms", "1 episode, under 1 s"),
        (
            4,
            "2 of 60 planned pairs were played",
            r"2 tasks so far \(score harm .*\): no interval, at least 3 are needed",
        ),
    ],
)
def test_a_cap_that_leaves_too_little_says_what_there_was(
    arms: Callable[..., Example], run: Callable[..., Result], cap: int, reason: str, line: str
) -> None:
    result = (
        run(arms(), f"--swapgate-max-episodes={cap}").assert_ends(1, failed=1).assert_no_traceback_of_ours()
    )
    result.assert_says(f"what was played is kept and will be read; by then {reason}")
    result.assert_line(line)
    result.assert_silent_about("tolerance")


@pytest.mark.parametrize(
    ("cap", "line"),
    [
        (20, r"no look was taken: the first of 5 is due at \d+ pairs"),
        (
            60,
            r"look 2 of 5, at \d+ pairs, was undecided at \[-[\d.]+, \+[\d.]+\] pp; the next one is due at \d+ pairs, "
            "and the interval above is no look",
        ),
    ],
)
def test_a_sequential_gate_decides_nothing_between_its_looks(
    written: Callable[[str], Example], run: Callable[..., Result], cap: int, line: str
) -> None:
    example = written(SEQUENTIAL)
    result = run(example, f"--swapgate-max-episodes={cap}").assert_ends(1, failed=1)
    result.assert_line(
        r"swap_penalty +test_gate.py::test_looks +INCONCLUSIVE",
        r"score +harm .* INCONCLUSIVE",
        rf"by then {cap // 2} of \d+ planned pairs were played: {OF_THOSE}",
        line,
    )
    result.assert_silent_about("stopped at look", "swap_penalty FAIL")
    run(example).assert_ends(1, failed=1).assert_says("swap_penalty FAIL", f"({cap} read from evidence)")


def test_a_cap_while_teams_are_formed_says_that_there_is_nothing_to_compare(
    teams: Callable[..., Example], run: Callable[..., Result]
) -> None:
    result = run(teams("swap()"), "--swapgate-max-episodes=10").assert_ends(1, errors=1)
    result.assert_no_traceback_of_ours().assert_line(r"swap_penalty +test_gate.py::test_gate +INCONCLUSIVE")
    result.assert_says(
        "the cap of 10 episodes is reached: raise --swapgate-max-episodes; what was played is kept and will be read; "
        "reached while the teams were formed, after 10 of 16 formation episodes: there is nothing to compare yet"
    )


def test_workers_share_a_cap_and_each_gate_says_what_it_had(
    teams: Callable[..., Example], run: Callable[..., Result], folder: Path
) -> None:
    cap = 16 + 70
    result = run(
        teams().with_test(FOUR),
        *("-n", "2", f"--swapgate-max-episodes={cap}"),
        plugins="pytest_swapgate.plugin xdist.plugin",
    )
    result.assert_ends(1, failed=4).assert_no_traceback_of_ours()
    spent = _spent(folder)
    assert spent.started == cap
    said = [re.search(r"by then (none|\d+) of (?:the )?32 planned pairs", line) for line in set(result.lines)]
    had = [match[1] for match in said if match]
    assert (
        len(
            [line for line in result.lines if re.fullmatch(r"swap_penalty +test_gate.py.*INCONCLUSIVE", line)]
        )
        >= 4
    )
    assert any(number != "none" for number in had)
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        assert sum(count.episodes for count in store.summary()) == cap


EXECUTOR = """

@pytest.fixture(scope="session")
def swapgate_executor():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as threads:
        yield threads
"""


def test_an_executor_plays_what_was_started_and_nothing_after_it(
    teams: Callable[..., Example], run: Callable[..., Result], folder: Path
) -> None:
    example = teams("swap()")
    example = example.with_files({"conftest.py": example.files["conftest.py"] + EXECUTOR})
    result = run(example, "--swapgate-max-episodes=70").assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_line(
        r"score +harm .* INCONCLUSIVE",
        r"by then (1[6-9]|20) of 32 planned pairs were played.*, and no verdict is taken from them",
        r"54 episodes, .*",
    )
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        assert sum(count.episodes for count in store.summary()) == 70
    run(example).assert_ends(1, failed=1).assert_says("96 episodes (54 read from evidence)")
