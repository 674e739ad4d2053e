"""The four propositions of the collaboration tax, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.games import Game, is_max_superadditive, shapley, tax, two_player_shares

MODEST = settings(deadline=None, max_examples=60)
SCORE = st.fractions(0, 1, max_denominator=20)


@MODEST
@given(st.integers(1, 6), st.data())
def test_proposition_1_an_optimal_solo_policy_is_taxed_negatively(inputs, data):
    """A solo agent that sees everything can play whatever the pair plays, so its best policy scores no less."""
    scores = st.lists(SCORE, min_size=3, max_size=3)
    table = [data.draw(scores) for _ in range(inputs)]  # score of each answer on each input
    pair = [data.draw(st.integers(0, 2)) for _ in range(inputs)]  # what the pair happens to answer
    solo = sum(max(row) for row in table) / Fraction(inputs)
    together = sum(row[answer] for row, answer in zip(table, pair, strict=True)) / Fraction(inputs)
    assert tax(solo, solo, together) >= 0


@MODEST
@given(SCORE, SCORE, SCORE)
def test_proposition_2_tax_and_max_superadditivity_disagree(v1, v2, v12):
    holds = is_max_superadditive(Game([Fraction(0), v1, v2, v12]))
    assert (tax(v1, v2, v12) > 0) == (not holds)


@MODEST
@given(SCORE, SCORE, SCORE, SCORE)
def test_proposition_3_shares_are_not_shapley_values(v1, v2, v12, v0):
    shares = two_player_shares(v1, v2, v12, empty=v0)
    assert list(shares) == shapley(Game([v0, v1, v2, v12]), exact=True).tolist()
    assert sum(shares) == v12 - v0


@MODEST
@given(SCORE, SCORE, SCORE)
def test_proposition_4_a_subadditive_pair_loses_unequally(v1, v2, v12):
    first, second = two_player_shares(v1, v2, v12)
    assert v1 - first == v2 - second == (v1 + v2 - v12) / 2
    assert (first < v1) == (v12 < v1 + v2)


def test_the_papers_example_pair():
    assert tax(0.869, 0.352, 0.731) == pytest.approx(0.138)
    assert two_player_shares(0.869, 0.352, 0.731) == pytest.approx((0.624, 0.107))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), True, None, "1", [0.5]], ids=repr)
def test_wrong_score_is_accepted(bad):
    for position in range(3):
        scores = [0.5, 0.5, 0.5]
        scores[position] = bad
        with pytest.raises(ValueError, match="must be a finite number, got"):
            tax(*scores)
        with pytest.raises(ValueError, match="must be a finite number, got"):
            two_player_shares(*scores)
    with pytest.raises(ValueError, match="empty must be a finite number"):
        two_player_shares(0, 0, 0, empty=bad)
