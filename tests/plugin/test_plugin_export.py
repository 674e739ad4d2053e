"""What a printed interval rests on can be exported, and the interval computed again from that file with numpy alone."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.example import INI, Example, Result

from pytest_swapgate.cli import main
from pytest_swapgate.evidence import EvidenceStore

ROTATION = """
@pytest.mark.swap_penalty(score=0.30, cost=3.0)
def test_rotation(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap("chef"))
"""


def export(capsys: pytest.CaptureFixture[str], evidence: Path, *more: str) -> list[dict[str, str]]:
    out = evidence.with_name("out.csv")
    capsys.readouterr()
    assert main(["evidence", "export", str(evidence), "--format", "csv", "--out", str(out), *more]) == 0
    assert "written to" in capsys.readouterr().out
    with out.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def t_of_two(p: float) -> float:
    """Quantile of Student's t with two degrees of freedom, in closed form."""
    return float((2 * p - 1) / np.sqrt(2 * p * (1 - p)))


def interval(harms: np.ndarray, *, low_level: float, high_level: float) -> tuple[float, float, float]:
    error = harms.std(ddof=1) / np.sqrt(len(harms))
    mean = float(harms.mean())
    return mean, mean - t_of_two(1 - low_level) * error, mean + t_of_two(1 - high_level) * error


def test_the_score_and_cost_of_a_kitchen_gate_are_computed_again_from_its_export(
    folder: Path, run: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    ini = INI + "swapgate_teams = 6\nswapgate_formation = 3\nswapgate_trials = 3\n"
    example = Example(folder, {"pytest.ini": ini}).with_test(ROTATION)
    # Another cohort in the same file, and the same gate by another name, must not get into the figures.
    run(example, "--swapgate-seed=7")
    shown = run(example)
    rows = export(capsys, example.evidence, "--gate", "test_rotation")
    roles = {
        role: [row for row in rows if row["role"] == role] for role in ("baseline", "candidate", "floor")
    }
    assert [len(of_role) for of_role in roles.values()] == [18, 18, 18]
    assert {row["counts"] for row in rows} == {"true"}
    assert {(row["condition"], row["seat"]) for row in roles["candidate"]} == {("swap", "chef")}
    assert {(row["condition"], row["seat"]) for row in roles["baseline"]} == {("placebo", "chef")}
    assert {row["arm"] for row in roles["floor"]} == {"placebo(chef) replicate 1"}
    # Each team is in one swap pair, named after its two teams.
    pairs = {row["unit"] for row in rows}
    assert sorted(team for pair in pairs for team in pair.split("+")) == [f"team-{n:02d}" for n in range(6)]
    assert all(row["team"] in row["unit"].split("+") for row in rows)

    place = ("unit", "team", "trial")
    partner = {tuple(row[name] for name in place): row for row in roles["candidate"]}
    found = [(row, partner[tuple(row[name] for name in place)]) for row in roles["baseline"]]
    assert all((b["task_id"], b["seed"]) == (c["task_id"], c["seed"]) for b, c in found)
    score, cost = [], []
    for pair in sorted(pairs):
        of_teams = {team: [(b, c) for b, c in found if b["team"] == team] for team in pair.split("+")}
        score.append(
            np.mean(
                [
                    np.mean([float(b["score"]) - float(c["score"]) for b, c in both])
                    for both in of_teams.values()
                ]
            )
        )
        both = [each for of_team in of_teams.values() for each in of_team]
        per_subtask = [
            sum(float(each[arm]["messages"]) for each in both)
            / sum(float(each[arm]["subtasks"]) for each in both)
            for arm in (0, 1)
        ]
        cost.append(np.log(per_subtask[1] / per_subtask[0]))
    # Two metrics share the level of the fail side.
    harm, low, high = interval(np.array(score), low_level=0.05 / 2, high_level=0.05)
    printed = f"{100 * harm:+.1f} pp  [{100 * low:+.1f}, {100 * high:+.1f}]"
    shown.assert_line(rf"score +harm +{re.escape(printed)} .*")
    harm, low, high = np.expm1(interval(np.array(cost), low_level=0.05 / 2, high_level=0.05))
    printed = f"{100 * harm:+.0f} %  [{100 * low:+.0f}, {100 * high:+.0f}]"
    shown.assert_line(rf"cost +harm +{re.escape(printed)} .*")
    # Every row leads to its conversation.
    with EvidenceStore.read(example.evidence) as store:
        for row in rows:
            episode = store.get(row["key"])
            assert episode is not None
            assert (str(episode.score), len(episode.messages)) == (row["score"], int(row["messages"]))


def test_the_export_of_a_gate_is_that_of_its_newest_run_or_of_the_one_that_is_named(
    arms: Callable[..., Example], run: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    example = arms(0.9)
    run(example).assert_ends(0, passed=1)
    run(arms(0.3)).assert_ends(1, failed=1)
    rows = export(capsys, example.evidence, "--gate", "test_gate")
    with EvidenceStore.read(example.evidence) as store:
        first, second = (record.run for record in store.verdicts())
    assert {row["run"] for row in rows} == {second}
    assert {(row["gate"], row["comparison"]) for row in rows} == {("test_gate.py::test_gate", "1")}
    successes = {
        role: np.mean([row["success"] == "true" for row in rows if row["role"] == role])
        for role in ("baseline", "candidate")
    }
    assert successes["baseline"] > 0.7 > 0.5 > successes["candidate"]
    assert {(row["team"], row["seat"], row["condition"]) for row in rows} == {("", "", "")}
    assert {row["unit"] for row in rows} == {row["task_id"] for row in rows}
    older = export(capsys, example.evidence, "--gate", "test_gate", "--run", first[:12])
    assert {row["run"] for row in older} == {first}
    assert [row["score"] for row in older] != [row["score"] for row in rows]


def test_a_run_that_reads_what_was_played_keeps_nothing_twice(
    arms: Callable[..., Example], run: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    example = arms(0.9)
    for _ in range(3):
        run(example).assert_ends(0, passed=1)
    with EvidenceStore.read(example.evidence) as store:
        kinds = [kind for (kind,) in store.database.rows("SELECT kind FROM documents")]
        assert (kinds.count("comparison"), kinds.count("compared")) == (1, 3)
        assert {row["key"] for row in export(capsys, example.evidence, "--gate", "test_gate")} == {
            stored.key for stored in store.episodes()
        }
        assert store.conflicts == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--gate", "nothing"), "no gate is called 'nothing'; there are test_gate.py::test_gate"),
        (("--gate", "test_gate", "--run", "x"), "no run is called 'x'; there are "),
        (("--run", "x"), "--run goes with --gate"),
        (("--gate", "test_gate", "--arm", "baseline"), "leave --study and --arm out"),
    ],
)
def test_what_cannot_be_exported_of_a_gate_is_said_and_nothing_is_written(
    arms: Callable[..., Example],
    run: Callable[..., Result],
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    example = arms(0.9)
    run(example).assert_ends(0, passed=1)
    out = example.folder / "out.csv"
    capsys.readouterr()
    code = main(
        ["evidence", "export", str(example.evidence), "--format", "csv", "--out", str(out), *arguments]
    )
    assert code == 3
    assert words in capsys.readouterr().err
    assert not out.exists()
