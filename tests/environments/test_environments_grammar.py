"""What a cook says, read and written: nothing that a model writes is an exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.environments.kitchen.grammar import (
    KINDS,
    MAX_ACTIONS,
    MAX_SAY,
    format_turn,
    message_kind,
    near_duplicate,
    parse_turn,
)

_PIECES = st.lists(
    st.sampled_from(
        [
            "Chef plan:",
            "plan:",
            "say:",
            "\n",
            ";",
            "wait(1)",
            "wait(٣)",
            "pickup(egg, counter)",
            "request('",
            "request('wait(2)')",
            "')",
            "(",
            "[END]",
            "[NOTHING]",
            "**",
            "\ud800",
            "9" * 30,
            ".",
            " ",
            "é",
        ]
    ),
    max_size=20,
).map("".join)


@given(st.text() | _PIECES)
@settings(deadline=None, max_examples=250)
def test_no_text_is_an_exception(text):
    turn = parse_turn(text)
    assert len(turn.plan) <= MAX_ACTIONS
    assert len(turn.say) <= MAX_SAY
    assert "[END]" not in turn.say
    assert "[NOTHING]" not in turn.say
    assert isinstance(turn.error, str)
    assert message_kind(turn.say) in KINDS


_ACTIONS = st.sampled_from(
    ["wait(2)", "pickup(egg, counter)", "place_obj_on_counter()", "cook(pot0)", "put_obj_in_utensil(oven0)"]
)
_SAY = st.from_regex(r"\A[A-Za-z][A-Za-z ,.?]{0,60}\Z")


@given(
    st.sampled_from(["chef", "assistant"]),
    st.lists(_ACTIONS, max_size=6),
    st.lists(_ACTIONS, max_size=4),
    _SAY,
)
@settings(deadline=None, max_examples=80)
def test_what_is_written_is_read_back(role, plan, asked, say):
    written = format_turn(role, "; ".join([*plan, *(f"request('{a}')" for a in asked)]), say)
    turn = parse_turn(written)
    assert [action.text for action in turn.plan] == plan
    assert [action.text for action in turn.requests] == asked
    assert turn.say == say.strip()
    assert (turn.ends, turn.error) == (False, "")


def test_empty_plan_and_nothing_are_read():
    turn = parse_turn(format_turn("chef", "", ""))
    assert (turn.plan, turn.requests, turn.say, turn.ends, turn.error) == ((), (), "", False, "")


@pytest.mark.parametrize(
    "text",
    [
        "**Chef plan:** wait(2)\n**Chef say:** Hello.",
        "**Chef plan**: wait(2)\n**Chef say**: Hello.",
        "Chef Plan : `wait(2)`\nChef Say : Hello.",
        "- plan: wait(2);\n- say: Hello.",
        "chef analysis: the plan: none\nCHEF PLAN: WAIT(2).\nCHEF SAY: Hello.",
        "\tplan:\twait( 2 )\r\n\tsay:\tHello.\r",
    ],
)
def test_markup_of_models_is_read(text):
    turn = parse_turn(text)
    assert [action.text for action in turn.plan] == ["wait(2)"]
    assert (turn.say, turn.error) == ("Hello.", "")


def test_end_is_taken_out_of_the_words():
    turn = parse_turn("plan: wait(1)\nsay: Fine. [END]")
    assert (turn.say, turn.ends) == ("Fine.", True)
    assert parse_turn("plan: wait(1)\nsay: [END]").say == ""
    assert not parse_turn("plan: [END]\nsay: x").ends


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("say: hello", "no line 'plan: ...'"),
        ("plan: dance()", "dance(): Unknown action"),
        ("plan: wait(2); cook(blender0)", r"cook(blender0): cook() works on pot0 only"),
        ("plan: request(wait)extra", "A request must look like"),
        ("plan: request('dance()')", "Unknown action"),
    ],
)
def test_first_fault_is_named(text, error):
    assert error in parse_turn(text).error


def test_what_stands_before_the_fault_is_kept():
    turn = parse_turn("plan: wait(2); dance(); wait(3)")
    assert [action.text for action in turn.plan] == ["wait(2)"]


def test_endless_plan_and_utterance_are_cut():
    turn = parse_turn("plan: " + "wait(1);" * 50 + "\nsay: " + "x" * 5000)
    assert len(turn.plan) == MAX_ACTIONS
    assert len(turn.say) == MAX_SAY


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Bring an egg.", "bring an EGG!", True),
        ("Bring an egg.", "egg an bring", True),
        ("Bring an egg.", "Bring an apple.", False),
        ("a b c d e f g h i", "a b c d e f g h i j", True),
        ("a b c d e f g h", "a b c d e f g h i", False),
        ("...", "...", True),
        ("...", "!", False),
        ("", "", True),
        ("", "word", False),
    ],
)
def test_near_duplicates_share_nine_tenths_of_their_words(one, other, same):
    assert near_duplicate(one, other) is same
    assert near_duplicate(other, one) is same


@given(st.text(max_size=40), st.text(max_size=40))
@settings(deadline=None, max_examples=80)
def test_near_duplicate_is_symmetric_and_true_of_itself(one, other):
    assert near_duplicate(one, one)
    assert near_duplicate(one, other) == near_duplicate(other, one)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please fetch the egg and put it on the counter.", "request"),
        ("I need two eggs", "request"),
        ("Again: please fetch the egg.", "request again"),
        ("I am still waiting for the egg", "request again"),
        ('What does "prep" mean?', "clarification"),
        ('"prep" means cut.', "clarification"),
        ("The egg is on the counter.", "status"),
        ("Report: egg | counter | 5.", "status"),
        ("Correction: cut the egg.", "correction"),
        ("That is not what I asked for", "correction"),
        ("That does not work. What do you need?", "correction"),
        ("Understood, cut egg.", "acknowledgement"),
        ("Thank you, I have seen it.", "acknowledgement"),
        ("Hm.", "other"),
        ("", "other"),
    ],
)
def test_kind_is_read_by_rule(text, kind):
    assert message_kind(text) == kind
