"""Options of one call: what arrives at the model, what is recorded and audited, what is refused."""

from __future__ import annotations

import json
from functools import partial

import anyio
import pytest
from cassette_samples import messages, only
from fake_server import completion, serve

from pytest_swapgate.models import Completion, ModelError, PlayingTeam
from pytest_swapgate.models.cassette import CassetteError, with_cassette
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.teams import Agent, FailureClass, Team, Usage

GRAMMAR = {"extra_body": {"grammar": "root ::= word"}}


class Open:
    """Takes options, and keeps all that it is asked with."""

    name = "open"

    def __init__(self):
        self.asked = []

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None, options=None):
        self.asked.append({"temperature": temperature, "max_tokens": max_tokens, "options": options})
        return Completion(f"answer {len(self.asked)}", Usage(calls=1), self.name)


class Plain(Open):
    """Takes no options."""

    name = "plain"

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        return await super().complete(messages, temperature=temperature, max_tokens=max_tokens)


def playing(models, *, name="open", temperature=None):
    team = Team(id="t", agents=(Agent(seat="a", model=name), Agent(seat="b", model=name)))
    return PlayingTeam(team, models, temperature=temperature)


def say(models, options=None, *, temperature=None, name="open", **more):
    """Ask seat a once; return the answer and the digest of the request."""
    team = playing(models, name=name, temperature=temperature)
    text = anyio.run(partial(team.ask, "a", messages("hi"), options=options, **more))
    return text, team.payloads["a"]


@pytest.fixture(scope="module")
def server():
    with serve() as fake:
        fake.play(completion())
        yield fake


def test_options_reach_the_model_and_their_sampling_parameters_have_their_own_names_too():
    model = Open()
    say(only(model), {**GRAMMAR, "temperature": 0.2, "max_tokens": 7}, temperature=0.9)
    say(only(model), {"stop": ["\n"]}, temperature=0.9, max_tokens=5)
    say(only(model))
    assert model.asked == [
        {"temperature": 0.2, "max_tokens": 7, "options": {**GRAMMAR, "temperature": 0.2, "max_tokens": 7}},
        {"temperature": 0.9, "max_tokens": 5, "options": {"stop": ["\n"]}},
        {"temperature": None, "max_tokens": None, "options": None},
    ]


def test_an_option_of_none_is_no_option():
    model = Open()
    say(only(model), {"temperature": None, "stop": None}, temperature=0.9)
    assert model.asked == [{"temperature": 0.9, "max_tokens": None, "options": None}]


def test_a_model_without_options_still_takes_temperature_and_length():
    model = Plain()
    say(only(model), {"temperature": 0, "max_tokens": 7})
    assert model.asked == [{"temperature": 0, "max_tokens": 7, "options": None}]


@pytest.mark.parametrize("recorded", [False, True])
def test_a_model_that_takes_no_options_is_not_asked_and_says_what_to_do(tmp_path, recorded):
    model = Plain()
    models = with_cassette(only(model), tmp_path / "c.json", "once") if recorded else only(model)
    with pytest.raises(ModelError) as caught:
        say(models, {**GRAMMAR, "temperature": 0.2}, name="plain")
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert str(caught.value) == (
        "model 'plain' takes no options, and is asked with extra_body: let its complete() have a parameter "
        "options=None, or ask without"
    )
    assert model.asked == []


def test_options_of_a_call_go_before_the_models_own_and_those_before_its_arguments(server):
    own = {"api_base": server.url, "api_key": "x", "temperature": 0.8, "max_tokens": 9, "top_p": 0.5}
    model = LiteLLMModel("openai/served", options=own)
    server.play(completion())
    say(only(model), {**GRAMMAR, "temperature": 0.2}, max_tokens=3)
    say(only(model), temperature=0.1, max_tokens=3)
    first, second = server.requests
    assert {k: v for k, v in first.items() if k not in ("model", "messages")} == {
        "temperature": 0.2,
        "max_tokens": 9,
        "top_p": 0.5,
        "grammar": "root ::= word",
    }
    assert (second["temperature"], second["max_tokens"], "grammar" in second) == (0.8, 9, False)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("hot", "options must be a mapping of names to values, got 'hot'"),
        ({1: 2}, "options must be a mapping of names to values"),
        (
            {"seed": 1},
            "options must not hold 'seed', which belongs to the model or is an argument of its own",
        ),
        ({"model": "other"}, "options must not hold 'model'"),
        ({"stream": True}, "options must not hold 'stream'"),
        ({"api_key": "sk-1"}, "options must not hold 'api_key'"),
        ({"extra_headers": {"authorization": "x"}}, "options must not hold 'extra_headers'"),
        ({"temperature": "hot"}, "options: temperature must be a number >= 0, got 'hot'"),
        ({"temperature": float("nan")}, "options: temperature must be a number >= 0, got nan"),
        ({"max_tokens": 0}, "options: max_tokens must be a whole number >= 1, got 0"),
        ({"max_tokens": True}, "options: max_tokens must be a whole number >= 1, got True"),
        ({"top_p": float("inf")}, "options must be plain JSON"),
        ({"stop": {"a"}}, "options must be plain JSON"),
        ({"max_tokens": 3}, "max_tokens is given twice, as 20 and in options: give it once"),
    ],
)
def test_what_is_no_option_is_refused_before_the_model_is_asked(options, line):
    model = Open()
    with pytest.raises(ValueError) as caught:
        say(only(model), options, max_tokens=20)
    assert str(caught.value).startswith(line)
    assert model.asked == []


# What is audited.


def test_every_option_enters_the_digest_of_the_request():
    asked = [
        None,
        GRAMMAR,
        {"extra_body": {"grammar": "root ::= other"}},
        {"stop": ["x"]},
        {"temperature": 0.5},
    ]
    digests = [say(only(Open()), options)[1] for options in asked]
    assert len(set(digests)) == len(asked)
    assert say(only(Open()), {})[1] == digests[0]
    turned = {"stop": ["x"], "temperature": 0.5}
    assert say(only(Open()), turned)[1] == say(only(Open()), dict(reversed(turned.items())))[1]


def test_two_names_of_one_model_are_one_occupant_unless_something_differs(server):
    def named(name, **options):
        served = {"api_base": server.url, "api_key": "x", **options}
        registry = ModelRegistry()
        registry.take({name: LiteLLMModel("openai/served", options=served)})
        return say(registry, name=name)[1]

    today = named("today")
    assert named("next") == today
    assert named("next", temperature=0.1) != today
    assert named("next", api_key="y") == today
    assert named("next", api_base=server.url.replace("127.0.0.1", "localhost")) != today


def test_two_names_of_models_without_a_digest_are_two_occupants():
    registry = ModelRegistry()
    registry.take({"today": Open(), "next": Open()})
    assert say(registry, name="today")[1] != say(registry, name="next")[1]


# What is recorded.


def recorded(path, mode, options, *, models=None):
    with_it = with_cassette(models or only(Open()), path, mode)
    try:
        return say(with_it, options)[0]
    finally:
        with_it.close()


def test_another_option_is_another_request_of_a_cassette(tmp_path):
    path = tmp_path / "cassette.json"
    assert recorded(path, "once", GRAMMAR) == "answer 1"
    assert recorded(path, "none", dict(GRAMMAR)) == "answer 1"
    for other in (None, {"extra_body": {"grammar": "root ::= other"}}, {**GRAMMAR, "temperature": 0.1}):
        with pytest.raises(CassetteError, match="never recorded"):
            recorded(path, "none", other)
    [recording] = json.loads(path.read_text())["recordings"]
    assert recording["parameters"] == {"options": GRAMMAR}


def test_a_request_without_options_is_found_in_a_cassette_from_before_there_were_any(tmp_path):
    path = tmp_path / "cassette.json"
    recorded(path, "once", None)
    [recording] = json.loads(path.read_text())["recordings"]
    assert recording["parameters"] == {}
    assert recorded(path, "none", {}) == "answer 1"


def test_no_secret_gets_into_a_cassette_by_way_of_an_option(tmp_path, monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", "planted-secret-0123456789")
    path = tmp_path / "cassette.json"
    options = {"extra_body": {"auth": "planted-secret-0123456789"}}
    recorded(path, "once", options)
    assert "planted-secret" not in path.read_text()
    assert recorded(path, "none", options) == "answer 1"


# What comes back.


def test_a_model_that_answers_with_something_else_is_named():
    class Text(Open):
        async def complete(self, messages, **_):
            return "yes"

    class Sync(Open):
        def complete(self, messages, **_):
            return Completion("yes", Usage(calls=1), self.name)

    for kind, words in (
        (Text, "Text.complete() must return a Completion, got str"),
        (Sync, "Sync.complete() must be async, it gave Completion at once"),
    ):
        with pytest.raises(ModelError) as caught:
            say(only(kind()))
        assert caught.value.failure is FailureClass.CONFIGURATION
        assert str(caught.value) == f"model 'open': {words}"
