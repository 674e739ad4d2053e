from __future__ import annotations

import json
from typing import Any

import pytest
from evidence_samples import finish, start
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.evidence import content_key

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), PLAIN, min_size=1, max_size=4)


def turned(value: Any) -> Any:
    """The same value with every mapping in the other order, and tuples for lists."""
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    if isinstance(value, list):
        return tuple(turned(item) for item in value)
    return value


@settings(deadline=None, max_examples=150)
@given(PARTS)
def test_the_key_does_not_depend_on_the_order_of_names_or_on_tuples(parts: dict[str, Any]) -> None:
    assert content_key(**turned(parts)) == content_key(**parts)


@settings(deadline=None, max_examples=150)
@given(PARTS)
def test_the_key_survives_a_journey_through_json(parts: dict[str, Any]) -> None:
    assert content_key(**json.loads(json.dumps(parts))) == content_key(**parts)


@settings(deadline=None, max_examples=150)
@given(PARTS, PARTS)
def test_other_parts_give_another_key(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (content_key(**one) == content_key(**other)) is same


def test_lookalikes_are_different_parts() -> None:
    values = [1, 1.0, True, "1", "true", None, "null", [1], {"1": 1}, [], {}, ""]
    assert len({content_key(part=value) for value in values}) == len(values)


def test_the_key_is_the_same_in_another_process_and_for_ever() -> None:
    parts = {"environment": "kitchen", "seed": 3, "condition": "swap", "model": {"t": 0.7, "n": [1, 2]}}
    there = start(
        "from pytest_swapgate.evidence import content_key\n"
        "print(content_key(model={'n': (1, 2), 't': .7}, condition='swap', seed=3, environment='kitchen'))"
    )
    known = "92902dcb9e6f63cf486a001138af25ebf0c3f315e1aeb532f065b54de4290176"
    assert content_key(**parts) == known
    assert finish(there).strip() == known


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (float("nan"), "part must be finite"),
        ([1, float("inf")], r"part\[1\] must be finite"),
        ({1: "a"}, "str names only"),
        ({"a": {2, 3}}, r"part\['a'\] must be a plain JSON value"),
        (b"x", "plain JSON value"),
    ],
)
def test_a_part_without_one_canonical_text_is_refused(value: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        content_key(part=value)


def test_no_parts_are_no_content() -> None:
    with pytest.raises(ValueError, match="at least one"):
        content_key()
