"""The tests of a run as a family: what is listed, in which order, and which red verdict gets a hint."""

from __future__ import annotations

import pytest

from pytest_swapgate.gate.verdicts import GateReport, Row
from pytest_swapgate.report.family import family_lines
from pytest_swapgate.stats import Verdict, holm


def gate(
    name: str, *p: float | None, verdict: Verdict = Verdict.PASS, alpha: float | None = 0.05
) -> GateReport:
    rows = tuple(
        Row(metric=metric, harm=0.1, low=0.0, high=0.2, tolerance=0.1, verdict=verdict, p_harm=value)
        for metric, value in zip(("score", "cost"), p, strict=False)
    )
    return GateReport(
        gate="swap_penalty", nodeid=f"test_a.py::{name}", verdict=verdict, reason="", rows=rows, alpha=alpha
    )


@pytest.mark.parametrize(
    "reports", [[], [gate("a", 0.01)], [gate("a", 0.01, 0.02)], [gate("a", 0.01, 0.02), gate("b", None)]]
)
def test_fewer_than_two_gates_with_a_test_are_no_family(reports: list[GateReport]) -> None:
    assert family_lines(reports) == []


def test_the_adjusted_values_are_holms_in_their_order() -> None:
    p = {"a score": 0.21, "b score": 1e-9, "b cost": 0.03, "c score": 0.012}
    reports = [gate("a", 0.21), gate("b", 1e-9, 0.03), gate("c", 0.012)]
    assert holm(list(p.values())) == pytest.approx([0.21, 4e-9, 0.06, 0.036])
    assert family_lines(reports) == [
        "harm above zero, Holm-adjusted over the 4 tests of this run",
        "  p < 0.001    test_a.py::b score",
        "  p = 0.036    test_a.py::c score",
        "  p = 0.060    test_a.py::b cost",
        "  p = 0.210    test_a.py::a score",
    ]
    assert family_lines(reports[::-1], of="this report")[1:] == family_lines(reports)[1:]


def test_a_gate_that_several_workers_report_counts_once() -> None:
    assert family_lines([gate("a", 0.01)] * 3) == []


def test_rows_without_a_p_value_are_not_counted_and_said() -> None:
    lines = family_lines([gate("a", 0.01), gate("b", 0.2, None), gate("c", None)])
    assert "the 2 tests" in lines[0]
    assert lines[3:] == ["  not counted: 2 without a p-value (sequential, stopped, or no spread seen)"]


@pytest.mark.parametrize(
    ("red", "family"),
    [
        (gate("red", 0.03, verdict=Verdict.FAIL), 3),
        (gate("red", 0.03, verdict=Verdict.FAIL, alpha=None), 3),
        (gate("red", 0.01, verdict=Verdict.FAIL), None),
        (gate("red", 0.03, verdict=Verdict.FAIL, alpha=0.1), None),
        (gate("red", 0.03, verdict=Verdict.INCONCLUSIVE), None),
    ],
    ids=["noise", "of an older version", "sure", "at a wider level", "not red"],
)
def test_a_red_gate_that_could_be_noise_gets_a_hint(red: GateReport, family: int | None) -> None:
    lines = family_lines([red, gate("b", 0.4), gate("c", 0.6)])
    hint = f": FAIL alone; over this run's tests it could be noise: declare family={family}" if family else ""
    assert lines[1].endswith(f"red score{hint}")
    assert "family=" not in "".join(lines[2:])


def test_the_metrics_of_a_gate_are_part_of_the_family_that_it_is_told_to_declare() -> None:
    lines = family_lines([gate("red", 0.02, 0.4, verdict=Verdict.FAIL), gate("b", 0.4), gate("c", 0.6)])
    assert lines[1].endswith("declare family=2")  # 2 x 2 metrics are the four tests


def test_ten_tests_are_listed_those_with_a_hint_among_them() -> None:
    red = gate("red", 0.04, verdict=Verdict.FAIL)
    lines = family_lines([*(gate(f"t{n:02}", 1e-6) for n in range(12)), red, gate("z", 0.9)])
    assert len(lines) == 12
    assert "14 tests" in lines[0]
    assert "red score: FAIL alone" in lines[10]
    assert lines[11] == "  and 4 more"


def test_a_report_of_an_older_version_has_no_p_value() -> None:
    old = gate("a", None).model_dump(mode="json")
    del old["alpha"]
    for row in old["rows"]:
        del row["p_harm"]
    assert GateReport.model_validate(old) == gate("a", None, alpha=None)
