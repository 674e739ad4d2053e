"""The adjustable truth of the simulated cooks: names, ranges, chance."""

from __future__ import annotations

import re

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.environments.kitchen import KitchenEnvironment
from pytest_swapgate.environments.kitchen.cooks import SimulatedCooks, Truth
from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.models import ChatModel, ModelError
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.teams import FailureClass


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("simulated", Truth()),
        ("simulated:plain", Truth(strength=0.0)),
        ("simulated:strength=0,noise=2", Truth(strength=0.0, noise=2.0)),
        ("simulated:learning=1, skill=0.25", Truth(learning=1.0, skill=0.25)),
        ("simulated:noise=20", Truth(noise=20.0)),
        ("simulated:noise=1e-3", Truth(noise=0.001)),
    ],
)
def test_names_are_read(name, truth):
    assert Truth.parse(name) == truth
    cooks = KitchenEnvironment().simulated(name)
    assert isinstance(cooks, ChatModel)
    assert (cooks.name, cooks.truth) == (name, truth)


def test_careless_is_noisier_and_less_skilled():
    careless = Truth.parse("simulated:careless")
    assert careless.noise > Truth().noise
    assert careless.skill < Truth().skill


ACCEPTED = "accepted are simulated, simulated:plain, simulated:careless, simulated:twin or simulated:NAME=NUMBER,... "


@pytest.mark.parametrize(
    ("variant", "wrong"),
    [
        ("", "'' is no variant and no NAME=NUMBER"),
        (" ", "' ' is no variant and no NAME=NUMBER"),
        ("odd", "'odd' is no variant and no NAME=NUMBER"),
        ("Plain", "'Plain' is no variant"),
        ("plain:", "'plain:' is no variant"),
        ("strength", "'strength' is no variant"),
        ("strength=", "'strength=' is no variant"),
        ("strength=high", "'strength=high' is no variant"),
        ("strength=nan", "'strength=nan' is no variant"),
        ("=1", "'=1' names nothing that can be set"),
        ("strength=0,", "'' is no variant"),
        (",strength=0", "'' is no variant"),
        ("strength=0,,noise=1", "'' is no variant"),
        ("strength=0;noise=1", "'strength=0;noise=1' is no variant"),
        ("force=1", "'force=1' names nothing that can be set"),
        ("plain,noise=2", "'plain' is no variant"),
        ("strength=0,strength=1", "strength is given twice, the second time as 'strength=1'"),
        ("noise=2, noise=2", "noise is given twice, the second time as 'noise=2'"),
    ],
)
def test_unreadable_name_says_what_is_wrong_and_what_is_accepted(variant, wrong):
    with pytest.raises(ValueError, match=re.escape(wrong)) as caught:
        Truth.parse(f"simulated:{variant}")
    assert f": {ACCEPTED}with NAME one of strength, learning, noise, skill, each once" in str(caught.value)


@pytest.mark.parametrize("name", ["", ":plain", "simulate:plain", "openai/gpt-x", "simulated-plain"])
def test_another_models_name_is_not_a_truth(name):
    with pytest.raises(ValueError, match="is not the name of a simulated model: accepted are simulated, "):
        Truth.parse(name)


@pytest.mark.parametrize(
    "variant", ["strength=1.01", "strength=-0.1", "noise=inf", "noise=21", "skill=2", "learning=-1"]
)
def test_rate_out_of_range_is_refused_by_name(variant):
    name = variant.partition("=")[0]
    with pytest.raises(ValueError, match=rf"^{name}=.*accepted is a number from 0 to"):
        Truth.parse(f"simulated:{variant}")


def test_bad_name_becomes_a_configuration_error_of_one_line():
    registry = ModelRegistry(KitchenEnvironment().simulated)
    with pytest.raises(ModelError, match=r"^model 'simulated:odd': 'odd' is no .*: accepted are") as caught:
        registry("simulated:odd")
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert "\n" not in str(caught.value)


# Chance.


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=20), max_size=3))
@settings(deadline=None, max_examples=60)
def test_same_words_give_the_same_draws_within_range(words):
    one, other = Chance(*words), Chance(*words)
    drawn = [one.uniform() for _ in range(20)]
    assert drawn == [other.uniform() for _ in range(20)]
    assert all(0 <= x < 1 for x in drawn)
    assert len(set(drawn)) > 15


def test_draws_are_evenly_spread():
    drawn = [Chance(str(i)).uniform() for i in range(4000)]
    for low in range(10):
        assert 330 < sum(low / 10 <= x < (low + 1) / 10 for x in drawn) < 470
    picked = [Chance("pick", str(i)).pick("abcd") for i in range(4000)]
    assert all(900 < picked.count(letter) < 1100 for letter in "abcd")


def test_certain_and_impossible_things():
    assert all(Chance(str(i)).happens(1.0) for i in range(100))
    assert not any(Chance(str(i)).happens(0.0) for i in range(100))


# The interface.


def test_usage_is_estimated_and_free():
    cooks = SimulatedCooks()
    team = "You are the chef.\n\nYour notebook:\n## Task notes\n\n## Partner notes\n"
    prompt = "The episode is over. Task: x\nRewrite your notebook"
    messages = [{"role": "system", "content": team}, {"role": "user", "content": prompt}]
    completion = anyio.run(lambda: cooks.complete(messages, seed=3))
    assert completion.usage.calls == 1
    assert completion.usage.prompt_tokens == (len(team) + len(prompt)) // 4
    assert completion.usage.usd == 0.0
    assert completion.text.startswith("## Task notes\n")
