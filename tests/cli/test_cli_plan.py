"""`swapgate plan`: the figures of the specification, in text and JSON, and its exit codes."""

from __future__ import annotations

import json

import pytest

from pytest_swapgate.cli import main


def plan(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["plan", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("tolerance", "power", "pairs"),
    [(0.10, 0.8, 184), (0.10, 0.9, 254), (0.15, 0.8, 81), (0.15, 0.9, 111), (0.20, 0.8, 45), (0.20, 0.9, 61)],
)
def test_pairs_are_those_of_the_specification(capsys, tolerance, power, pairs):
    found = plan(capsys, "--tolerance", str(tolerance), "--discordance", "0.3", "--power", str(power))
    assert found["pairs"] == pairs
    assert found["mde"] <= tolerance
    assert found["exact_rates"]["M"]["fail"] == pytest.approx(power, abs=0.045)
    assert found["exact_rates"]["M"]["pass"] <= 0.055
    assert found["exact_rates"]["0"]["fail"] <= 0.055


def test_stopping_early_saves_pairs_when_nothing_is_wrong_and_when_much_is(capsys):
    found = plan(capsys, "--tolerance", "0.10", "--discordance", "0.32", "--power", "0.8")
    expected = found["sequential"]["expected_pairs"]
    assert expected["0"] <= 0.82 * found["pairs"]
    assert expected["2M"] <= 0.52 * found["pairs"]


def test_teams_and_money_are_counted_whole(capsys):
    found = plan(capsys, "--tolerance", "0.05", "--sd", "0.04", "--power", "0.8", "--price", "0.01")
    assert (found["swap_pairs"], found["teams"]) == (6, 12)
    assert found["exact_rates"]["M"]["fail"] >= 0.8
    assert found["episodes"] == 12 * (10 + 3 * 10)
    assert found["usd"] == pytest.approx(4.80)


def test_a_cost_is_planned_on_the_log_scale(capsys):
    found = plan(capsys, "--tolerance", "0.2", "--sd", "0.13", "--metric", "cost", "--power", "0.8")
    assert found["swap_pairs"] == 6
    assert 0.16 < found["mde"] <= 0.2


def test_a_family_asks_for_more(capsys):
    one = plan(capsys, "--tolerance", "0.1", "--discordance", "0.3")
    four = plan(capsys, "--tolerance", "0.1", "--discordance", "0.3", "--family", "4")
    assert four["alpha"] == pytest.approx(0.0125)
    assert four["pairs"] > one["pairs"]


def test_the_text_names_pairs_power_and_money(capsys):
    assert main(["plan", "--tolerance", "0.1", "--discordance", "0.3", "--price", "0.02"]) == 0
    out = capsys.readouterr().out
    for line in (
        "pairs            254 at 30 % discordance",
        "episodes         508",
        "money            USD 10.16",
    ):
        assert line in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tolerance", "0.5", "--discordance", "0.3"], ["tolerance", "0.5"]),
        (["--tolerance", "nan", "--discordance", "0.3"], ["tolerance", "nan"]),
        (["--tolerance", "0.1", "--discordance", "0.3", "--power", "1.5"], ["power", "1.5"]),
        (["--tolerance", "0.1", "--discordance", "0.3", "--family", "0"], ["family", "0"]),
        (["--tolerance", "0.1", "--discordance", "0.3", "--price", "-1"], ["--price", "-1"]),
        (["--tolerance", "0.1", "--discordance", "0.3", "--metric", "cost"], ["--metric cost", "--sd"]),
    ],
)
def test_bad_arguments_end_with_3_and_one_line(capsys, arguments, words):
    assert main(["plan", *arguments]) == 3
    error = capsys.readouterr().err
    assert len(error.strip().split("\n")) == 1
    assert all(word in error for word in words)


def test_a_missing_argument_ends_with_3_not_with_inconclusive(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--tolerance", "0.1"])
    assert ended.value.code == 3
    assert "one of the arguments --discordance --sd is required" in capsys.readouterr().err
