"""The examples on published runs print what they promise."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from pytest_swapgate.stats import Verdict

FOLDER = Path(__file__).parents[2] / "examples" / "published_runs"


def load(name):
    spec = importlib.util.spec_from_file_location(f"published_runs_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tau_bench_airline(capsys):
    example = load("tau_bench")
    assert [round(f, 3) for f in example.figures()] == [0.420, 0.273, 0.220, 0.200]
    example.main()
    assert "pass^4  0.200  95 % [0.111, 0.334]   50 tasks x 4 trials" in capsys.readouterr().out


def test_all_published_team_runs_are_counted():
    example = load("team_size")
    runs = [
        cell
        for tasks in (tasks for models in example.COUNTS.values() for tasks in models.values())
        for sizes in tasks.values()
        for cell in sizes.values()
    ]
    assert sum(n for _, n in runs) == 957


@pytest.mark.parametrize(
    ("mode", "k", "baseline", "candidate", "tasks", "verdict"),
    [
        ("decentralized", 1, 0.881, 0.581, 18, Verdict.FAIL),
        ("decentralized", 4, 0.715, 0.221, 17, Verdict.FAIL),
        ("preassigned", 1, 0.964, 0.980, 17, Verdict.PASS),
        ("preassigned", 4, 0.898, 0.942, 16, Verdict.PASS),
    ],
)
def test_team_of_five_against_team_of_one(mode, k, baseline, candidate, tasks, verdict):
    result = load("team_size").contrast(mode, k)
    assert (round(result.baseline, 3), round(result.candidate, 3)) == (baseline, candidate)
    assert result.harm.n == tasks
    assert len(result.left_out) == 18 - tasks
    assert result.verdict is verdict


def test_tasks_left_out_are_named(capsys):
    load("team_size").main()
    printed = capsys.readouterr().out
    assert "left out, fewer than 4 runs with both sizes: gpt-5.2 mathutilities20 p02" in printed
    assert printed.count("FAIL") == 2
    assert printed.count("PASS") == 2
