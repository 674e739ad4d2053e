"""Every example does what its text says: outcome, exit code and the lines a user reads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


class Run:
    """A finished pytest run of a copied example."""

    def __init__(self, ended: subprocess.CompletedProcess[str]) -> None:
        self.code = ended.returncode
        self.out = ended.stdout + ended.stderr

    def line(self, pattern: str) -> re.Match[str]:
        """Return the first line that matches, or fail with the whole output."""
        for line in self.out.split("\n"):
            if found := re.search(pattern, line):
                return found
        pytest.fail(f"no line matches {pattern!r} in:\n{self.out}")


@pytest.fixture
def run_example(tmp_path: Path):
    """Copy an example (beside the shared pytest.ini) and run pytest on it, as a user would."""
    shutil.copy(EXAMPLES / "pytest.ini", tmp_path)

    def run(name: str, *arguments: str) -> Run:
        if not (tmp_path / name).exists():
            shutil.copytree(
                EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", ".*")
            )
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "SWAPGATE_", "COV_"))}
        command = [sys.executable, "-m", "pytest", name, "-p", "no:cacheprovider", "-W", "error", *arguments]
        # pytest-asyncio warns about an unset option of its own; the examples must not depend on it.
        command += ["-p", "no:asyncio"]
        return Run(
            subprocess.run(
                command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False, timeout=300
            )
        )

    return run


def test_quickstart_forms_teams_and_prints_a_verdict_with_everything_a_reader_needs(run_example):
    run = run_example("quickstart")
    assert run.code == 0, run.out
    run.line(r"^swap_penalty  quickstart/test_quickstart.py::test_we_can_afford_a_rotation +pass$")
    run.line(r"^  score +harm +\+?-?\d+\.\d pp +\[.+\] +tolerance 15 pp +floor \d+\.\d pp +pass$")
    run.line(r"^  cost +harm +\+\d+ % +\[.+\] +tolerance 120 % +floor \d+ % +pass$")
    run.line(r"^  12 teams \(6 swap pairs\), 120 pairs of episodes, 0\.0 % of trials infra errors")
    run.line(r"^  who pays: incumbent \d+ % of the \d+ extra messages")
    run.line(r"model simulated \(simulated: a stand-in, not a language model\)")
    run.line(r"^  (V|Pi) +\+\d")
    run.line(r"^  swap_cleared ")
    run.line(r"2 passed")


def test_quickstart_plays_nothing_twice(run_example):
    run_example("quickstart")
    again = run_example("quickstart", "-p", "no:randomly")
    assert again.code == 0, again.out
    again.line(r"360 episodes \(360 read from evidence\)")


def test_rotation_with_a_harmful_model_fails_the_build(run_example):
    run = run_example("rotation", "--swapgate-replace", "chef=simulated:careless")
    assert run.code == 1, run.out
    run.line(r"^swap_penalty FAIL: score \+\d+\.\d pp \[.+\]: harm above the tolerance of 5 pp")
    run.line(r"1 failed")
    # Readable without scrolling: the verdict stands in the last lines of the run.
    tail = "\n".join(run.out.rstrip().split("\n")[-15:])
    assert re.search(r"^  score .*FAIL$", tail, re.MULTILINE), tail


def test_rotation_has_the_same_verdict_counts_and_code_with_two_workers(run_example):
    alone = run_example("rotation", "--swapgate-replace", "chef=simulated:careless", "-p", "no:randomly")
    shared = run_example(
        "rotation", "--swapgate-replace", "chef=simulated:careless", "-n", "2", "--swapgate-fresh"
    )
    assert alone.code == shared.code == 1
    row = r"^  score .*FAIL$"
    assert alone.line(row).group() == shared.line(row).group()
    sizes = r"^  12 teams, 120 pairs of episodes.*$"
    assert alone.line(sizes).group() == shared.line(sizes).group()


def test_rotation_stays_red_under_reruns(run_example):
    run = run_example("rotation", "--swapgate-replace", "chef=simulated:careless", "--reruns", "3")
    assert run.code == 1, run.out
    run.line(r"a gate is decided once")
    run.line(r"swap_penalty FAIL: score")


def test_rotation_without_a_change_is_red(run_example):
    for arguments in ((), ("--swapgate-replace", "chef=simulated")):
        run = run_example("rotation", *arguments)
        assert run.code == 1, run.out
        run.line(r"the change did not bite")


def test_rotation_with_a_harmless_model_passes(run_example):
    run = run_example("rotation", "--swapgate-replace", "chef=simulated:twin")
    assert run.code == 0, run.out
    run.line(r"^  score .*pass$")
    run.line(r"^  cost .*pass$")


def test_rotation_names_its_price_and_spends_nothing(run_example, tmp_path):
    run = run_example("rotation", "--swapgate-plan", "--swapgate-replace", "chef=openai/gpt-5-mini")
    assert run.code == 0, run.out
    run.line(r"12 teams x 10 episodes = 120 episodes")
    run.line(r"openai/gpt-5-mini.*USD \d")
    assert not (tmp_path / ".swapgate").exists()


def test_an_existing_suite_is_gated_by_two_callables(run_example):
    run = run_example("existing_suite")
    assert run.code == 0, run.out
    run.line(r"3 passed")
    run.line(r"^  score .*tolerance 10 pp.*pass$")
    run.line(r"cost not measured")


def test_an_environment_of_ones_own_is_gated(run_example):
    run = run_example("own_environment")
    assert run.code == 0, run.out
    run.line(r"^  cost .*tolerance 40 %.*pass$")
    source = (EXAMPLES / "own_environment" / "conftest.py").read_text()
    code = [line for line in source.split("\n") if line.strip() and not line.strip().startswith(("#", '"""'))]
    assert len(code) <= 40, "the example promises an environment of about 30 lines"


def test_a_team_of_another_framework_is_gated_and_its_harmful_rotation_fails(run_example):
    run = run_example("team_adapter", "-p", "no:randomly")
    assert run.code == 1, run.out
    run.line(r"1 failed, 1 passed")
    run.line(r"^swap_penalty  team_adapter/test_newsroom.py::test_an_editor_may_change_the_newsroom +pass$")
    run.line(r"^swap_penalty FAIL: score \+\d+\.\d pp \[.+\]: harm above the tolerance of 10 pp")
    run.line(r"^  replace\(editor, model=hasty\) against placebo\(editor\)$")
    # Nothing is played twice, though the adapter names no digest.
    again = run_example("team_adapter", "-p", "no:randomly")
    assert again.code == 1, again.out
    played = re.findall(r"^  360 episodes.*$", again.out, re.M)
    assert len(played) >= 2
    assert all("(360 read from evidence)" in line for line in played), again.out


def test_a_change_of_the_framework_behind_an_adapter_is_played_again(run_example, tmp_path):
    run_example("team_adapter", "-k", "newsroom and change")
    code = tmp_path / "team_adapter" / "newsroom.py"
    code.write_text(code.read_text().replace("range(4)", "range(2 + 2)"))
    again = run_example("team_adapter", "-k", "newsroom and change")
    again.line(r"^  360 episodes, ")
