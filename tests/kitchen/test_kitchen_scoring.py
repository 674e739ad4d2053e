from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.environments.kitchen.recipes import ORDERS, order
from pytest_swapgate.environments.kitchen.scoring import (
    BETA,
    Collaboration,
    Conversation,
    collaboration,
    completed_subtasks,
    conversation_effects,
    ites,
    matched,
    max_tes,
    progress_completeness,
    team_tes,
    tes,
)

EGG = order("boiled_egg")
CHEF, HELPER = EGG.references[0]
STEW = order("sliced_bell_pepper_and_corn_stew")
WORDS = st.lists(st.sampled_from("abcd"), max_size=9)


def longest_prefix(reference: list[str], history: list[str]) -> int:
    """Return D the slow way: try every way to pick actions out of the history."""
    for depth in range(min(len(reference), len(history)), 0, -1):
        if any(list(pick) == reference[:depth] for pick in combinations(history, depth)):
            return depth
    return 0


@settings(deadline=None, max_examples=150)
@given(reference=WORDS, history=WORDS)
def test_greedy_matching_is_the_longest_possible(reference: list[str], history: list[str]) -> None:
    assert matched(reference, history) == longest_prefix(reference, history)


@settings(deadline=None, max_examples=150)
@given(reference=WORDS.filter(bool), history=WORDS)
def test_tes_is_the_published_formula_within_its_bounds(reference: list[str], history: list[str]) -> None:
    depth = longest_prefix(reference, history)
    b2 = BETA**2
    value = tes(reference, history)
    assert value == pytest.approx((1 + b2) * depth / (len(reference) + b2 * len(history)), rel=1e-12)
    assert 0 <= value <= 1
    if depth:  # the same as the weighted harmonic mean of progress and precision
        progress, precision = depth / len(reference), depth / len(history)
        assert value == pytest.approx(
            (1 + b2) * progress * precision / (precision + b2 * progress), rel=1e-12
        )
    assert (value == 1) == (reference == history)


def test_tes_of_a_worked_example() -> None:
    # two of four matched with one useless action between: 1.9025 * 2 / (4 + 0.9025 * 3)
    assert tes("abcd", "axb") == pytest.approx(1.9025 * 2 / 6.7075)


def test_an_action_out_of_sequence_does_not_count() -> None:
    assert matched("abc", "bca") == 1
    assert matched("abc", "cba") == 1
    assert matched("abc", "bc") == 0


def test_an_empty_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="reference"):
        tes([], ["a"])


def test_the_best_reference_counts_for_each_cook() -> None:
    corn_first = STEW.references[1]
    assert max_tes(STEW, 0, corn_first[0]) == max_tes(STEW, 1, corn_first[1]) == 1
    assert tes(STEW.references[0][0], corn_first[0]) < 1


@pytest.mark.parametrize("name", ORDERS)
def test_reference_lengths_agree_within_an_order(name: str) -> None:
    assert len({(len(a), len(b)) for a, b in order(name).references}) == 1


def test_progress_weighs_the_cooks_by_their_work() -> None:
    assert progress_completeness(EGG, ([], [])) == 0
    assert progress_completeness(EGG, ([], HELPER)) == pytest.approx(100 * 2 / 7)
    assert progress_completeness(EGG, (CHEF[:1], HELPER)) == pytest.approx(100 * 3 / 7)
    assert progress_completeness(EGG, (CHEF, HELPER)) == 100


def test_useless_actions_cost_tes_but_no_progress() -> None:
    wasted = ("place_obj_on_counter()", *CHEF)
    assert progress_completeness(EGG, (wasted, HELPER)) == 100
    assert completed_subtasks(EGG, (wasted, HELPER)) == 7
    assert team_tes(EGG, (wasted, HELPER)) == pytest.approx((5 * max_tes(EGG, 0, wasted) + 2) / 7)
    assert max_tes(EGG, 0, wasted) < 1


def test_subtasks_grow_one_by_one_along_a_reference() -> None:
    what = order("taro_bean_and_bell_pepper_patty")
    chef, helper = what.references[3]
    counts = [completed_subtasks(what, (chef[:i], helper[:i])) for i in range(len(helper) + 1)]
    assert counts == [min(i, 15) + i for i in range(20)]


def test_ites_is_the_gain_of_the_better_history() -> None:
    assert ites(EGG, 1, HELPER, HELPER[:1]) == pytest.approx(1 - max_tes(EGG, 1, HELPER[:1]))
    assert ites(EGG, 1, HELPER, HELPER) == 0
    assert ites(EGG, 1, (*HELPER, "deliver_soup()"), HELPER) < 0


def conversation(requested: tuple[str, ...], planned: tuple[str, ...]) -> Conversation:
    return Conversation(responder=1, history=HELPER[:1], requested=requested, planned=planned)


def test_effects_follow_their_definitions() -> None:
    good, bad = HELPER[1:], ("pickup(dish, dish_dispenser)",)
    c1, c2, c3 = conversation_effects(EGG, conversation(good, bad))
    assert c1 == pytest.approx(1 - max_tes(EGG, 1, HELPER[:1]))
    assert c3 < 0
    assert c2 == pytest.approx(c1 - c3)


def test_capabilities_are_shares_of_conversations() -> None:
    good, bad, none = HELPER[1:], ("pickup(dish, dish_dispenser)",), ()
    talks = [
        conversation(good, good),
        conversation(good, bad),
        conversation(none, none),
        conversation(bad, good),
    ]
    assert collaboration(EGG, talks) == Collaboration(initiating=0.5, responding=0.5, conversations=4)
    assert collaboration(EGG, [conversation(good, none)]) == Collaboration(1.0, 0.0, 1)
    assert collaboration(EGG, []) == Collaboration(0.0, 0.0, 0)


@pytest.mark.parametrize("agent", [2, -1, True, "chef", None])
def test_an_unknown_cook_is_refused(agent: object) -> None:
    with pytest.raises(ValueError, match="accepted is 0"):
        max_tes(EGG, agent, [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="accepted is 0"):
        ites(EGG, agent, [], [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"responder=.*accepted is 0"):
        collaboration(EGG, [Conversation(agent, (), (), ())])  # type: ignore[arg-type]
