"""Models that a project names itself: found by name, made once and late, refused by name where they are none."""

from __future__ import annotations

import re

import pytest
from cassette_samples import Talker, ask

from pytest_swapgate.environments.kitchen.cooks.model import SimulatedCooks
from pytest_swapgate.models import ModelError
from pytest_swapgate.models.cassette import with_cassette
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.teams import FailureClass


def registry(own, **more):
    found = ModelRegistry(SimulatedCooks, **more)
    found.take(own)
    return found


def refused(own, name=None):
    """Return why a project's models, or the one of a name, are refused."""
    with pytest.raises(ModelError) as caught:
        registry(own)(name)
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert "\n" not in str(caught.value)
    return str(caught.value)


def never():
    raise AssertionError("nobody asked for this model")


def test_a_name_stands_for_an_object_and_goes_before_providers():
    mine, other = Talker(name="mine"), Talker(name="other")
    models = registry({"mine": mine, "openai/gpt-5-mini": other})
    assert models("mine") is mine
    assert models("openai/gpt-5-mini") is other
    assert models("simulated").name == "simulated"


def test_a_function_is_called_once_and_only_for_its_own_name():
    made = []

    def make():
        made.append(1)
        return Talker(name="mine")

    models = registry({"mine": make, "other": never})
    assert made == []
    assert models("mine") is models("mine")
    assert made == [1]


def test_a_class_is_a_function_that_makes_a_model():
    class Mine(Talker):
        name = "mine"  # so the class itself has all that a model has

    assert isinstance(registry({"mine": Mine})("mine"), Mine)


class Nameless:
    async def complete(self, messages, **_): ...


class Unnamed(Nameless):
    name = None


@pytest.mark.parametrize(
    ("own", "line"),
    [
        (["mine"], "swapgate_models gave list: accepted is a mapping of names to a ChatModel"),
        (None, "swapgate_models gave NoneType: accepted is a mapping"),
        ({7: never}, "swapgate_models has the name 7: accepted is a text that is not empty"),
        ({"": never}, "swapgate_models has the name ''"),
        ({" mine": never}, "swapgate_models has the name ' mine': accepted is a text that is not empty, without sp"),
        ({"mine": "openai/gpt-5-mini"}, "swapgate_models['mine'] is an object of type str: accepted is a ChatModel"),
        ({"ok": never, "mine": Nameless()}, "swapgate_models['mine'] is an object of type Nameless: accepted"),
        ({"mine": Unnamed()}, "swapgate_models['mine'] is an object of type Unnamed"),
        ({"mine": lambda: 7}, "swapgate_models['mine'] returned an object of type int: accepted is a ChatModel"),
        ({"mine": lambda: Talker}, "swapgate_models['mine'] returned the class Talker: accepted is a ChatModel"),
        ({"mine": lambda name: 7}, "swapgate_models['mine'] raised TypeError: "),
    ],
)  # fmt: skip
def test_what_is_no_model_is_refused_by_name(own, line):
    assert refused(own, "mine").startswith(line)


def test_a_function_that_must_be_awaited_is_refused_and_leaves_no_warning(recwarn):
    async def later():
        return Talker(name="mine")

    assert "swapgate_models['mine'] returned an object of type coroutine" in refused({"mine": later}, "mine")
    assert not recwarn.list


def test_a_function_that_fails_is_named_with_the_place_of_its_fault():
    def broken():
        raise OSError("no such port")

    line = refused({"mine": broken}, "mine")
    assert re.fullmatch(
        r"swapgate_models\['mine'\] raised OSError: no such port \(test_models_own\.py:\d+\)", line
    )


def test_a_test_that_is_skipped_while_a_model_is_made_is_skipped():
    def missing():
        pytest.skip("no weights")

    with pytest.raises(pytest.skip.Exception, match="no weights"):
        registry({"mine": missing})("mine")


@pytest.mark.parametrize("name", ["mien", "simulated:lazy", "openai/gpt-5-mini"])
def test_an_unknown_name_lists_the_known_ones(monkeypatch, name):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    line = refused({"mine": Talker(), "rude": never}, name)
    assert line.startswith(f"model {name!r}")
    assert line.endswith("; swapgate_models has mine, rude")


def test_without_models_of_its_own_a_project_reads_nothing_about_them():
    assert "swapgate_models" not in refused({}, "mien")


# Reports go by the name, so a name may not hide what it stands for.


@pytest.mark.parametrize(
    ("name", "model"),
    [("careless", SimulatedCooks("simulated:careless")), ("simulated:mine", Talker(name="mine"))],
)
@pytest.mark.parametrize("late", [False, True])
def test_a_stand_in_and_nothing_else_is_called_simulated(name, model, late):
    line = refused({name: (lambda: model) if late else model}, name)
    assert f"swapgate_models[{name!r}] is the model {model.name!r}" in line
    assert f"so that reports say so; name it {model.name!r}" in line


def test_a_stand_in_of_ones_own_may_have_a_name_of_its_own():
    cook = SimulatedCooks("simulated:careless")
    assert registry({"simulated:mine": cook})("simulated:mine") is cook


# Models that swapgate_model returns.


def test_a_model_that_is_named_goes_by_that_name():
    mine = Talker(name="long name of a deployment")
    assert registry({"mine": mine}).add(mine) == "mine"


def test_two_models_of_one_name_are_refused():
    with pytest.raises(
        ModelError, match="let swapgate_model return the name alone, or give one of them another"
    ):
        registry({"mine": Talker(name="mine")}).add(Talker(name="mine"))


# Money.


def test_a_model_of_ones_own_without_a_price_is_refused_under_a_budget():
    served = LiteLLMModel("openai/served", options={"api_base": "http://127.0.0.1:9"})
    models = registry({"mine": served, "late": lambda: served}, must_be_priced=True)
    for name in ("mine", "late"):
        with pytest.raises(ModelError, match="no price"):
            models(name)
    priced = registry({"mine": served}, must_be_priced=True, price=(1e-6, 2e-6))
    assert priced("mine").priced
    assert registry({"mine": served})("mine") is served


# What evidence must know.


class Digested(Talker):
    digest = "v2"


def test_evidence_knows_a_model_by_its_digest_or_else_by_the_projects_code():
    models = registry({"mine": Talker(name="mine"), "told": Digested(name="told"), "late": Digested})
    assert models.identity("mine") is None
    assert models.identity("told") == "v2"
    models("late")
    assert models.identity("late") == "v2"
    added = models.add(Talker(name="added"))
    assert models.identity(added) is None
    assert [models.identity(name) for name in ("simulated", "openai/gpt-5-mini")] == ["", ""]


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"temperature": 0.2}, False),
        ({"extra_body": {"grammar": "root ::= word"}}, False),
        ({"temperature": 0.8, "max_completion_tokens": 9}, False),
        ({"temperature": 0.8, "api_base": "http://127.0.0.1:9/v1"}, True),
        ({"temperature": 0.8, "api_key": "sk-secret-1234567890", "extra_headers": {"x": "y"}}, True),
        ({"temperature": 0.8, "timeout": 9, "input_cost_per_token": 1.0}, True),
        ({"temperature": 0.8, "vertex_credentials": "secret", "aws_secret_access_key": "secret"}, True),
    ],
)  # fmt: skip
def test_the_identity_of_a_provider_is_what_can_change_an_answer(options, same):
    first = LiteLLMModel("openai/served", options={"temperature": 0.8})
    assert (LiteLLMModel("openai/served", options=options).digest == first.digest) is same
    assert LiteLLMModel("openai/other", options={"temperature": 0.8}).digest != first.digest


# On a cassette.


def test_recorded_models_are_replayed_without_being_made(tmp_path):
    path = tmp_path / "cassette.json"
    made = registry({"mine": lambda: Talker(name="mine")})
    models = with_cassette(made, path, "once")
    models.take({"mine": lambda: Talker(name="mine")})
    assert ask(models("mine"), "hi", "ho") == ["answer 1", "answer 2"]
    models.close()
    again = with_cassette(registry({"mine": never}), path, "none")
    assert ask(again("mine"), "ho", "hi") == ["answer 2", "answer 1"]


def test_a_model_that_will_be_asked_is_made_before_anything_is_spent(tmp_path):
    models = with_cassette(registry({}), tmp_path / "cassette.json", "once")
    models.take({"mine": lambda: 7})
    with pytest.raises(ModelError, match="returned an object of type int"):
        models("mine")


def test_a_ready_model_on_a_cassette_has_the_price_that_was_given(tmp_path):
    served = LiteLLMModel("openai/served", options={"api_base": "http://127.0.0.1:9"})
    models = with_cassette(registry({}, must_be_priced=True), tmp_path / "cassette.json", "once")
    with pytest.raises(ModelError, match="no price"):
        models.add(served)
    assert models.identity("openai/served") == ""
    free = with_cassette(registry({}), tmp_path / "cassette.json", "once")
    assert free.identity(free.add(served)) == served.digest


def test_a_cassette_around_something_else_takes_no_models(tmp_path):
    models = with_cassette(lambda name: Talker(name=name), tmp_path / "cassette.json", "once")
    with pytest.raises(TypeError, match="put the cassette around one"):
        models.take({"mine": Talker()})
