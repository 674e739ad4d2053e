"""A swap study as a table: every cell says what is the case, with an interval or with the reason there is none."""

from __future__ import annotations

import pytest

from pytest_swapgate.report.study import render_study
from pytest_swapgate.stats import Interval, benjamini_hochberg
from pytest_swapgate.studies.swap import CONDITIONS, Contrast, SwapStudy

SPREAD = Interval(0.1, 0.3)


def study(**score: Contrast) -> SwapStudy:
    """Return a study whose quantities are sound, but for those given of the score."""
    sound = {name: Contrast(name, 0.2, SPREAD) for name in ("V", "Pi", "rho", "W", "Sigma")}
    return SwapStudy(
        unit="PC",
        scale=100.0,
        score_means=dict.fromkeys(CONDITIONS, 50.0),
        cost_means=dict.fromkeys(CONDITIONS, 2.0),
        score=tuple({**sound, **score}.values()),
        cost=tuple(sound.values()),
        pairs=6,
        confidence=0.9,
        played=(),
    )


def row(text: str, name: str) -> str:
    (line,) = (line for line in text.split("\n") if line.split()[:1] == [name])
    return " ".join(line.split())


def test_a_quantity_with_an_interval_is_shown_with_it() -> None:
    text = render_study(study())
    assert row(text, "W") == "W +20.0 [+10.0, +30.0] +0.200 [+0.100, +0.300]"
    assert row(text, "rho") == "rho +0.20 [+0.10, +0.30] +0.20 [+0.10, +0.30]"
    for word in ("alike", "interpretable", "no interval"):
        assert word not in text


@pytest.mark.parametrize("name", ["V", "Pi", "W", "Sigma"])
def test_a_quantity_without_spread_is_shown_as_what_it_is(name: str) -> None:
    text = render_study(study(**{name: Contrast(name, 0.15, None)}))
    assert row(text, name) == f"{name} +15.0, all pairs alike +0.200 [+0.100, +0.300]"
    assert text.endswith(
        "\nall pairs alike: every swap pair shows this value; without any spread there is no interval"
    )
    assert "not interpretable" not in text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Contrast("V", 0.2, Interval(-0.1, 0.5)), "not interpretable"),
        (Contrast("V", 0.0, None), "not interpretable"),
        (Contrast("V", 0.2, None), "V has no interval"),
    ],
    ids=["V may be 0", "V is 0", "V without spread"],
)
def test_a_ratio_that_was_not_formed_says_why(value: Contrast, said: str) -> None:
    text = render_study(study(V=value, rho=Contrast("rho", None, None)))
    assert row(text, "rho") == f"rho {said} +0.20 [+0.10, +0.30]"


P = {"V": 1e-5, "Pi": 0.01, "W": 0.04, "Sigma": 0.5}


def test_effects_have_p_values_adjusted_over_those_that_have_one() -> None:
    text = render_study(study(**{name: Contrast(name, 0.2, SPREAD, p) for name, p in P.items()}))
    assert benjamini_hochberg(list(P.values())) == pytest.approx([4e-5, 0.02, 4 / 3 * 0.04, 0.5])
    assert row(text, "quantity") == "quantity score 90 % p (BH) cost 90 % p (BH)"
    for name, p in (("V", "< 0.001"), ("Pi", "0.020"), ("W", "0.053"), ("Sigma", "0.500")):
        assert row(text, name) == f"{name} +20.0 [+10.0, +30.0] {p} +0.200 [+0.100, +0.300] -"
    assert row(text, "rho") == "rho +0.20 [+0.10, +0.30] - +0.20 [+0.10, +0.30] -"
    assert text.endswith("Benjamini-Hochberg over the 4 effects; decides nothing")
    assert max(map(len, text.split("\n"))) <= 110


def test_without_any_p_value_there_is_no_column_of_them() -> None:
    assert "BH" not in render_study(study())


@pytest.mark.parametrize("p", [None, 0.01])
def test_the_columns_stay_under_their_heads(p: float | None) -> None:
    pi = Contrast("Pi", 0.2, SPREAD, p)
    table = render_study(study(V=Contrast("V", 0.2, None), Pi=pi, rho=Contrast("rho", None, None))).split(
        "\n"
    )
    head = next(number for number, line in enumerate(table) if line.startswith("quantity"))
    assert {len(line) for line in table[head : head + 6]} == {len(table[head])}
