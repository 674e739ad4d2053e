"""Providers through litellm, against a server on loopback that fails on demand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import pytest
from fake_server import Reply, completion, refusal, serve

from pytest_swapgate.models import ModelError
from pytest_swapgate.models.faults import classify
from pytest_swapgate.models.litellm_model import LiteLLMModel, load_litellm
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.teams import FailureClass, Usage

SECRET = "sk-Ab0-very_secret_0123456789"
PROVIDERS = ["openai/served", "hosted_vllm/served"]
ASKED = [{"role": "system", "content": "be"}, {"role": "user", "content": "hi"}]
OK = completion()


@pytest.fixture(scope="module")
def server():
    with serve() as fake:
        yield fake


@pytest.fixture
def waits(monkeypatch):
    """Record waiting times instead of waiting."""
    found = []

    async def sleep(seconds):
        found.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    return found


def ask(
    server, *replies, name="openai/served", attempts=3, timeout=5.0, price=None, options=None, **parameters
):
    """Play a script and ask once."""
    server.play(*replies)
    model = LiteLLMModel(
        name,
        options={"api_base": server.url, "api_key": SECRET, **(options or {})},
        attempts=attempts,
        timeout=timeout,
        price=price,
    )
    return anyio.run(lambda: model.complete(ASKED, **parameters))


def failed(server, *replies, **more):
    """Ask once and return the error."""
    with pytest.raises(ModelError) as caught:
        ask(server, *replies, **more)
    return caught.value


# What is sent and what comes back.


@pytest.mark.parametrize("name", PROVIDERS)
def test_request_and_answer_are_exact(server, name):
    answer = ask(server, OK, name=name, seed=2**31 + 5, temperature=0.25, max_tokens=9)
    assert answer.text == "pong"
    assert answer.model == "served-model"
    assert answer.finish_reason == "stop"
    assert answer.usage == Usage(calls=1, prompt_tokens=11, completion_tokens=7, usd=None)
    [sent] = server.requests
    assert sent == {
        "model": "served",
        "messages": ASKED,
        "seed": 5,
        "temperature": 0.25,
        "max_tokens": 9,
    }
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"


def test_parameters_that_nobody_set_are_not_sent(server):
    ask(server, OK)
    assert set(server.requests[0]) == {"model", "messages"}


def test_options_reach_the_provider(server):
    ask(server, OK, options={"extra_body": {"grammar": "root ::= word"}})
    assert server.requests[0]["grammar"] == "root ::= word"


@pytest.mark.parametrize(
    ("name", "takes"), [("anthropic/claude-sonnet-4-5", False), ("openai/gpt-4o-mini", True)]
)
def test_seed_is_left_out_for_a_provider_that_takes_none(monkeypatch, name, takes):
    litellm = load_litellm()
    sent = {}

    async def acompletion(**request):
        sent.update(request)
        return litellm.completion(model="openai/x", messages=ASKED, mock_response="pong")

    monkeypatch.setattr(litellm, "acompletion", acompletion)
    model = LiteLLMModel(name)
    assert anyio.run(lambda: model.complete(ASKED, seed=3)).text == "pong"
    assert ("seed" in sent) == takes


def test_seed_is_sent_where_nobody_knows_whether_it_is_taken(server, monkeypatch):
    def unknown(**_):
        raise ValueError("unmapped")

    monkeypatch.setattr(load_litellm(), "get_supported_openai_params", unknown)
    ask(server, OK, seed=3)
    assert server.requests[0]["seed"] == 3


def test_a_temperature_that_a_model_does_not_take_is_refused_not_dropped(server):
    error = failed(server, OK, name="openai/gpt-5-mini", temperature=0.7)
    assert error.failure is FailureClass.CONFIGURATION
    assert "temperature" in str(error)
    assert server.count == 0


# Money.


@pytest.mark.parametrize("name", PROVIDERS)
def test_price_that_was_given_is_exact(server, name):
    answer = ask(server, OK, name=name, price=(0.25, 0.5))
    assert answer.usage.usd == pytest.approx(11 * 0.25 + 7 * 0.5, abs=1e-12)


def test_price_that_litellm_knows_is_used(server):
    assert ask(server, OK, name="openai/gpt-4o-mini").usage.usd == pytest.approx(11 * 0.15e-6 + 7 * 0.6e-6)


def test_a_free_model_is_free_only_when_said_so(server):
    assert ask(server, OK, price=(0.0, 0.0)).usage.usd == 0.0
    assert ask(server, OK).usage.usd is None


def test_answer_without_token_counts_has_no_known_price(server):
    body = {key: value for key, value in OK.body.items() if key != "usage"}
    usage = ask(server, Reply(body=body), price=(1.0, 1.0)).usage
    assert usage == Usage(calls=1, usd=None)


# Failure classes.

INFRASTRUCTURE = {
    "429": refusal(429),
    "500": refusal(500),
    "503": refusal(503),
    "529": refusal(529),
    "reset": Reply(fault="reset"),
    "cut body": Reply(body=OK.body, fault="cut"),
    "not JSON": Reply(body="<html>Bad gateway</html>"),
    "empty body": Reply(body=""),
    "no choices": completion(choices=False),
}


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", INFRASTRUCTURE)
def test_infrastructure_is_retried_and_every_attempt_is_counted(server, waits, name, fault):
    bad = INFRASTRUCTURE[fault]
    answer = ask(server, bad, bad, OK, name=name)
    assert answer.text == "pong"
    assert server.count == 3
    assert answer.usage.calls == server.count
    assert len(waits) == 2


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", INFRASTRUCTURE)
def test_infrastructure_that_does_not_heal_is_given_up(server, waits, name, fault):
    error = failed(server, INFRASTRUCTURE[fault], name=name)
    assert error.failure is FailureClass.INFRASTRUCTURE
    assert error.usage.calls == server.count == 3
    assert len(waits) == 2


@pytest.mark.parametrize("fault", ["slow", "drip"])
def test_an_attempt_ends_at_its_time_limit(server, waits, fault):
    answer = ask(server, Reply(body=OK.body, fault=fault), OK, timeout=0.6)
    assert answer.text == "pong"
    assert answer.usage.calls == server.count == 2


def test_a_provider_that_is_not_there_is_infrastructure(waits):
    model = LiteLLMModel(
        "openai/served", options={"api_base": "http://127.0.0.1:9/v1", "api_key": SECRET}, attempts=2
    )
    with pytest.raises(ModelError) as caught:
        anyio.run(lambda: model.complete(ASKED))
    assert caught.value.failure is FailureClass.INFRASTRUCTURE
    assert caught.value.usage.calls == 2


CONFIGURATION = {
    "key": (refusal(401, f"Incorrect API key provided: {SECRET}", code="invalid_api_key"), "check the key"),
    "forbidden": (refusal(403, "not yours"), "may use this model"),
    "model": (refusal(404, "The model does not exist", code="model_not_found"), "check the model name"),
    "request": (refusal(400, "temperature must be below 2"), "temperature must be below 2"),
    "entity": (refusal(422, "no such field"), "no such field"),
    "credit": (refusal(429, "You exceeded your quota", code="insufficient_quota"), "no credit left"),
}


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", CONFIGURATION)
def test_configuration_stops_at_once_and_says_what_to_fix(server, waits, name, fault):
    reply, advice = CONFIGURATION[fault]
    error = failed(server, reply, name=name)
    assert error.failure is FailureClass.CONFIGURATION
    assert advice in str(error)
    assert str(error).startswith(f"{name}: ")
    assert "\n" not in str(error)
    assert error.usage.calls == server.count == 1
    assert waits == []


AGENT = {
    "no text": completion(None),
    "cut before any text": completion(None, finish="length"),
    "filtered answer": completion(None, finish="content_filter"),
    "context": refusal(
        400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"
    ),
}


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", AGENT)
def test_the_agents_own_failure_is_neither_retried_nor_lost(server, waits, name, fault):
    error = failed(server, AGENT[fault], name=name)
    assert error.failure is FailureClass.AGENT
    assert error.usage.calls == server.count == 1
    assert waits == []


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("code", ["content_policy_violation", "content_filter"])
def test_refused_words_are_the_agents_failure_whatever_the_message(server, code, name):
    error = failed(server, refusal(400, "Your request was rejected.", code=code), name=name)
    assert error.failure is FailureClass.AGENT


class BadRequestError(Exception):
    """Named as litellm names it."""

    status_code = 422


def test_body_that_litellm_cannot_read_is_infrastructure_though_it_says_bad_request():
    error = classify(BadRequestError("Error converting to valid response block=x"), "gemini/x")
    assert error.failure is FailureClass.INFRASTRUCTURE


def test_missing_package_of_a_provider_is_configuration():
    error = classify(ModuleNotFoundError("No module named 'boto3'"), "bedrock/x")
    assert error.failure is FailureClass.CONFIGURATION
    assert str(error) == (
        "bedrock/x: ModuleNotFoundError: install what this provider needs; it says: No module named 'boto3'"
    )


def test_failed_answer_still_costs_its_tokens(server):
    error = failed(server, completion(None), price=(1.0, 1.0))
    assert error.usage == Usage(calls=1, prompt_tokens=11, completion_tokens=7, usd=18.0)


def test_a_cut_answer_is_the_agents_own_words(server):
    answer = ask(server, completion("Chef plan: wai", finish="length"), max_tokens=4)
    assert (answer.text, answer.finish_reason) == ("Chef plan: wai", "length")
    assert ask(server, completion("")).text == ""


def test_unreadable_characters_arrive(server):
    assert ask(server, completion("é 水 \ud83c\udf72")).text == "é 水 🍲"


# Waiting.


@pytest.mark.parametrize(
    ("asked", "waited"), [("7", 7.0), ("0", 0.0), ("0.5", 0.5), ("-3", 0.0), ("9999", 30.0)]
)
@pytest.mark.parametrize("name", PROVIDERS)
def test_retry_after_is_honoured_up_to_a_cap(server, waits, name, asked, waited):
    ask(server, refusal(429, retry_after=asked), OK, name=name)
    assert waits == [waited]


def test_retry_after_may_be_a_date(server, waits):
    soon = datetime.now(UTC) + timedelta(seconds=20)
    ask(server, refusal(503, retry_after=format_datetime(soon, usegmt=True)), OK)
    assert 10 < waits[0] <= 20


@pytest.mark.parametrize("asked", ["soon", "nan", ""])
def test_unreadable_retry_after_falls_back_to_jitter(server, waits, asked):
    ask(server, refusal(429, retry_after=asked), OK)
    assert 0 <= waits[0] <= 1


def test_waits_grow_with_full_jitter(server, waits):
    for _ in range(6):
        failed(server, refusal(500), attempts=5)
    by_attempt = [waits[i::4] for i in range(4)]
    for attempt, found in enumerate(by_attempt):
        assert all(0 <= wait <= 2**attempt for wait in found)
    assert max(by_attempt[3]) > 1
    assert len(set(waits)) == len(waits)


# Secrets.


@pytest.mark.parametrize("name", PROVIDERS)
def test_key_is_in_no_message_and_no_repr(server, waits, name, monkeypatch):
    monkeypatch.setenv("OTHER_PROVIDER_API_KEY", "plainlookingvalue")
    for status in (400, 401, 403, 404, 429, 500):
        error = failed(server, refusal(status, f"bad {SECRET} and plainlookingvalue"), name=name, attempts=1)
        for text in (str(error), repr(error), repr(error.__cause__), repr(error.__context__)):
            assert SECRET not in text
            assert "plainlookingvalue" not in text
    model = LiteLLMModel(name, options={"api_key": SECRET})
    assert SECRET not in repr(model)
    assert SECRET not in str(model)


# Names and keys.


@pytest.fixture
def no_keys(monkeypatch):
    for variable in list(os.environ):
        if variable.endswith("_API_KEY"):
            monkeypatch.delenv(variable)


@pytest.mark.parametrize("name", ["gpt-nonsense", "nowhere/model", ""])
def test_unknown_model_name_gives_one_line(no_keys, capfd, name):
    with pytest.raises(ModelError, match=r"is not one that litellm knows: write provider/model") as caught:
        ModelRegistry()(name)
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai/gpt-5-mini", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY")],
)
def test_missing_key_is_named_before_anything_is_spent(no_keys, monkeypatch, name, variable):
    with pytest.raises(ModelError, match=rf"needs {variable} in the environment") as caught:
        ModelRegistry()(name)
    assert caught.value.failure is FailureClass.CONFIGURATION
    monkeypatch.setenv(variable, "x")
    assert ModelRegistry()(name).name == name


@pytest.mark.parametrize("name", ["bedrock/anthropic.claude-3-haiku", "ollama/llama3", "hosted_vllm/x"])
def test_provider_without_a_plain_key_is_left_to_the_first_call(no_keys, monkeypatch, name):
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "OLLAMA_API_BASE"):
        monkeypatch.delenv(variable, raising=False)
    LiteLLMModel(name).check()


def test_server_of_ones_own_needs_no_key(no_keys, server):
    LiteLLMModel("openai/served", options={"api_base": server.url}).check()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("attempts", 0),
        ("attempts", True),
        ("attempts", 1.5),
        ("timeout", 0),
        ("timeout", float("nan")),
        ("timeout", float("inf")),
        ("timeout", True),
        ("price", (1.0,)),
        ("price", (-1.0, 0.0)),
        ("price", (float("nan"), 0.0)),
    ],
)
def test_bad_argument_is_refused_by_name(argument, value):
    with pytest.raises(ValueError, match=rf"^{argument} must be"):
        LiteLLMModel("openai/x", **{argument: value})


# The import.

_ALONE = """
import json, socket, sys
sys.path.insert(0, sys.argv[2])
reached = []
sys.addaudithook(
    lambda event, args: reached.append(str(args))
    if event in ("socket.connect", "socket.getaddrinfo", "urllib.Request") else None
)
import anyio
from pytest_swapgate.models.litellm_model import LiteLLMModel, load_litellm
load_litellm()
at_import = list(reached)
model = LiteLLMModel("openai/served", options={"api_base": sys.argv[1], "api_key": "sk-x"})
answers = [anyio.run(lambda: model.complete([{"role": "user", "content": "hi"}], seed=1)).text for _ in range(3)]
port = sys.argv[1].split(":")[2].split("/")[0]
elsewhere = [where for where in reached if port not in where]
print(json.dumps({"import": at_import, "elsewhere": elsewhere, "answers": answers}))
"""


def test_import_stays_off_the_network_and_calls_are_silent_where_warnings_are_errors(server):
    server.play(OK)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _ALONE, server.url, os.path.dirname(__file__)],
        capture_output=True,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if not k.startswith("LITELLM")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found == {"import": [], "elsewhere": [], "answers": ["pong"] * 3}
    assert done.stderr == ""
    assert server.count == 3
