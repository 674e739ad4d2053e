"""25 games of the literature and of other packages' tests (source in each row), every value exact."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_swapgate.games import (
    Game,
    banzhaf,
    is_convex,
    is_monotone,
    is_superadditive,
    leave_one_out,
    myerson,
    normalised_entropy,
    owen,
    shapley,
)

GAMES = json.loads((Path(__file__).parent / "reference_games.json").read_text(encoding="utf-8"))
EACH = pytest.mark.parametrize("row", GAMES, ids=[row["name"] for row in GAMES])


def fractions(texts: list[str]) -> list[Fraction]:
    return [Fraction(text) for text in texts]


def cases(row: dict[str, Any]) -> list[tuple[str, Any, dict[str, Any], list[Fraction]]]:
    found: list[tuple[str, Any, dict[str, Any], list[Fraction]]] = [
        ("shapley", shapley, {}, fractions(row["shapley"])),
        ("loo", leave_one_out, {}, fractions(row["loo"])),
        ("banzhaf", banzhaf, {}, fractions(row["banzhaf"])),
    ]
    if "banzhaf_index" in row:
        found.append(("banzhaf_index", banzhaf, {"normalised": True}, fractions(row["banzhaf_index"])))
    found += [("owen", owen, {"unions": c["unions"]}, fractions(c["value"])) for c in row.get("owen", [])]
    found += [
        ("myerson", myerson, {"edges": c["edges"]}, fractions(c["value"])) for c in row.get("myerson", [])
    ]
    return found


def test_the_reference_file_lost_no_game():
    assert len(GAMES) == 25
    assert sum(len(cases(row)) for row in GAMES) == 25 * 3 + 3 + 13 + 16


@EACH
def test_exact_value_differs_from_the_reference(row):
    game = Game(fractions(row["v"]))
    for name, value, arguments, expected in cases(row):
        assert value(game, exact=True, **arguments).tolist() == expected, (name, arguments)


@EACH
def test_float_value_differs_from_the_reference(row):
    table = np.array([float(x) for x in fractions(row["v"])])
    for name, value, arguments, expected in cases(row):
        got = value(table, **arguments)
        scale = max(1.0, np.abs(table).max())
        assert np.abs(got - np.array([float(x) for x in expected])).max() <= 1e-12 * scale, (name, arguments)


@EACH
def test_sign_or_worth_of_the_empty_coalition_breaks_a_value(row):
    """-v + 7: signed, and v(empty) = 7; every value must simply change its sign."""
    table = [7 - x for x in fractions(row["v"])]
    for name, value, arguments, expected in cases(row):
        if name == "banzhaf_index":
            continue
        minus = [-x for x in expected]
        assert value(Game(table), exact=True, **arguments).tolist() == minus, (name, arguments)
        got = value(np.array(table, dtype=float), **arguments)
        assert np.abs(got - np.array(minus, dtype=float)).max() <= 1e-12 * max(
            1.0, float(max(map(abs, table)))
        )


@EACH
def test_property_differs_from_the_reference(row):
    game = Game(fractions(row["v"]))
    checks = {"superadditive": is_superadditive, "monotone": is_monotone, "convex": is_convex}
    assert [name for name, check in checks.items() if check(game)] == row["holds"]


@EACH
def test_entropy_differs_from_the_reference(row):
    values = [float(x) for x in fractions(row["shapley"])]
    assert normalised_entropy(values) == pytest.approx(row["entropy"], abs=1e-11)
