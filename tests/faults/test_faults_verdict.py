"""A gate of 400 episodes behind a provider that fails: the same verdict, nothing blamed on the agents, honest books."""

from __future__ import annotations

import math

import anyio
import pytest
from fault_samples import PRICE, episodes_of, make_stage, outcomes, run_gate
from fault_server import ANSWER, FAULTS, PROMPT, serving

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models import ModelError
from pytest_swapgate.models.litellm_model import closing_clients
from pytest_swapgate.runner import Purse
from pytest_swapgate.stats import Verdict
from pytest_swapgate.teams import FailureClass


def ask(model, messages):
    async def work():
        async with closing_clients():
            return await model.complete(messages)

    return anyio.run(work)


CALL = PROMPT * PRICE[0] + ANSWER * PRICE[1]


def test_at_30_percent_faults_a_gate_of_400_episodes_gives_the_verdict_it_gives_without(tmp_path):
    with serving() as calm:
        expected, report = run_gate(make_stage(calm.url))
    with serving(0.3, seed=4) as server, EvidenceStore.open(tmp_path / "evidence.db") as store:
        stage = make_stage(server.url, store=store, purse=Purse(usd=100, store=store, run="r"), run="r")
        result, at_30 = run_gate(stage)
        spent = store.spending("r")

    assert report.verdict is Verdict.FAIL  # 9 of 10 against 6 of 10
    assert (at_30.verdict, at_30.rows) == (report.verdict, report.rows)
    assert len(outcomes(result)) == 400
    assert outcomes(result) == outcomes(expected)
    assert {e.failure for e in episodes_of(result)} == {None}

    assert set(server.injected) == {"", *FAULTS}
    assert 0.2 < 1 - server.injected[""] / server.requests < 0.4
    assert spent.calls == stage.purse.usage.calls == server.requests
    assert spent.tokens == stage.purse.usage.tokens == server.tokens
    assert math.isclose(spent.usd, server.billed * CALL, rel_tol=1e-9)
    assert math.isclose(stage.purse.usage.usd, server.billed * CALL, rel_tol=1e-9)


def test_an_outage_that_does_not_heal_is_named_and_never_an_agents_failure():
    with serving(1.0, faults=("503",)) as server:
        stage = make_stage(server.url, attempts=1)
        with pytest.raises(Exception, match=r"infrastructure") as caught:
            run_gate(stage, teams=20, trials=1)
    assert type(caught.value).__name__ in ("GateError", "ValueError")
    assert stage.purse.lost == {"infrastructure": 3 * 40}
    assert stage.purse.usage.calls == server.requests == 3 * 40


def test_a_provider_that_hangs_is_given_up_after_its_time_and_counted_once():
    with serving(slow=2) as server:
        stage = make_stage(server.url, timeout=2.0)
        answer = ask(stage.models("openai/good"), [{"role": "user", "content": "x"}])
    usage = answer.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (3, PROMPT, ANSWER)
    assert usage.usd == pytest.approx(CALL)
    assert server.requests == 3


def test_after_refusals_fewer_calls_are_in_flight_and_the_limit_grows_again():
    with serving(delay=0.01) as server:
        server.most_allowed = 4
        stage = make_stage(server.url, attempts=50)
        model = stage.models("openai/good")

        async def many(number):
            async with closing_clients(), anyio.create_task_group() as group:
                for i in range(number):
                    group.start_soon(model.complete, [{"role": "user", "content": str(i)}])

        anyio.run(many, 32)
        refused = server.injected["429"]
        lowered = model.pressure.limit
        server.most_in_flight, server.most_allowed = 0, None
        anyio.run(many, 32)  # another event loop: what was learned stays
        calm = server.most_in_flight
    assert lowered < 32
    assert calm < 32
    assert model.pressure.limit > lowered
    assert refused < 100


@pytest.mark.parametrize(
    ("history", "what"),
    [
        ([("assistant", ["a"]), ("user", None)], "message 2 comes before the result of tool call 'a'"),
        ([("assistant", ["a"])], "the result of tool call 'a' is missing"),
        ([("tool", "a")], "message 1 is the result of a tool call 'a' that is not open"),
        ([("assistant", ["a"]), ("tool", "a"), ("tool", "a")], "message 3 is the result of a tool call 'a'"),
        ([("assistant", ["a", "a"])], "message 1 makes two tool calls under one id"),
        ([("assistant", [None])], "message 1 makes a tool call without an id"),
    ],
)
def test_a_malformed_tool_history_is_not_sent_and_not_the_agents_failure(history, what):
    messages = []
    for role, calls in history:
        message = {"role": role, "content": "x"}
        if role == "assistant":
            message["tool_calls"] = [
                {"id": c, "type": "function", "function": {"name": "f", "arguments": "{}"}} for c in calls
            ]
        elif role == "tool":
            message["tool_call_id"] = calls
        messages.append(message)
    with serving() as server:
        model = make_stage(server.url).models("openai/good")
        with pytest.raises(ModelError, match="malformed tool history") as caught:
            ask(model, messages)
    assert what in str(caught.value)
    assert caught.value.failure is FailureClass.INFRASTRUCTURE
    assert server.requests == 0


def test_a_sound_tool_history_is_sent():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": "x", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
        {"role": "user", "content": "and?"},
    ]
    with serving() as server:
        model = make_stage(server.url).models("openai/good")
        assert ask(model, messages).text in ("yes", "no")
    assert server.requests == 1
