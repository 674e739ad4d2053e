"""Cassettes in use: VCR's modes, repetitions, failures, secrets, replay without key, network or litellm."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from cassette_samples import USAGE, Talker, ask, complete, fault, messages, never, only

from pytest_swapgate.environments.kitchen import KitchenEnvironment
from pytest_swapgate.environments.kitchen.cooks.model import SimulatedCooks
from pytest_swapgate.models import ChatModel, ModelError, PlayingTeam
from pytest_swapgate.models.cassette import CassetteError, CassetteModel, Tape, attempt, with_cassette
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Stage
from pytest_swapgate.studies import form_cohort
from pytest_swapgate.studies.arms import TeamArm, play_arms
from pytest_swapgate.teams import Agent, Condition, FailureClass, Team

REAL = "openai/gpt-x"
COOK = SimulatedCooks()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tapes" / "cassette.json"


def record(
    path: Path, *texts: str, mode: str = "once", prefix: str = "answer ", **parameters: Any
) -> list[str]:
    models = with_cassette(only(Talker(prefix)), path, mode)
    answers = ask(models(REAL), *texts, **parameters)
    models.close()
    return answers


def test_the_wrapper_is_a_chat_model_under_the_same_name(path: Path) -> None:
    model = with_cassette(never, path, "none")(REAL)
    assert isinstance(model, ChatModel)
    assert model.name == REAL


def test_none_replays_and_asks_nobody(path: Path) -> None:
    assert record(path, "hi", "ho") == ["answer 1", "answer 2"]
    models = with_cassette(never, path, "none")
    assert ask(models(REAL), "ho", "hi") == ["answer 2", "answer 1"]
    assert (models.replayed, models.tape.replayed, models.tape.recorded) == (True, 2, 0)
    with pytest.raises(CassetteError, match="mode none asks no model"):
        ask(models(REAL), "new")


def test_none_without_a_file_creates_nothing(path: Path) -> None:
    models = with_cassette(never, path, "none")
    with pytest.raises(CassetteError, match="never recorded"):
        ask(models(REAL), "hi")
    models.close()
    assert not path.parent.exists()


def test_once_records_without_a_file_and_refuses_what_is_new_with_one(path: Path) -> None:
    record(path, "hi")
    before = path.read_bytes()
    talker = Talker()
    models = with_cassette(only(talker), path, "once")
    assert ask(models(REAL), "hi") == ["answer 1"]
    with pytest.raises(CassetteError, match=r"repetition 2 \(1 recorded\)"):
        ask(models(REAL), "hi")
    with pytest.raises(CassetteError, match=r"repetition 1 \(never recorded\)"):
        ask(models(REAL), "ho")
    models.close()
    assert talker.calls == 0
    assert path.read_bytes() == before


def test_once_takes_an_empty_file_for_none(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert record(path, "hi") == ["answer 1"]
    assert record(path, "hi", mode="none") == ["answer 1"]


def test_new_episodes_replays_and_adds(path: Path) -> None:
    record(path, "hi")
    assert record(path, "ho", "hi", "hi", mode="new_episodes", prefix="new ") == [
        "new 1",
        "answer 1",
        "new 2",
    ]
    assert record(path, "hi", "hi", "ho", mode="none") == ["answer 1", "new 2", "new 1"]


def test_new_episodes_asks_for_no_model_while_all_is_recorded(path: Path) -> None:
    record(path, "hi")
    before = path.read_bytes()
    models = with_cassette(never, path, "new_episodes")
    assert ask(models(REAL), "hi") == ["answer 1"]
    models.close()
    assert path.read_bytes() == before


def test_all_always_asks_and_replaces_what_it_asked_again(path: Path) -> None:
    record(path, "hi", "hi", "ho")
    assert record(path, "hi", "he", mode="all", prefix="again ") == ["again 1", "again 2"]
    models = with_cassette(never, path, "none")
    assert ask(models(REAL), "hi", "ho", "he") == ["again 1", "answer 3", "again 2"]
    with pytest.raises(CassetteError, match=r"repetition 2 \(1 recorded\)"):
        ask(models(REAL), "hi")


def test_the_nth_time_is_answered_by_the_nth_recording(path: Path) -> None:
    said = record(path, "hi", "ho", "hi", "hi")
    assert said == ["answer 1", "answer 2", "answer 3", "answer 4"]
    assert record(path, "hi", "hi", "ho", "hi", mode="none") == [
        "answer 1",
        "answer 3",
        "answer 2",
        "answer 4",
    ]


@pytest.mark.parametrize("other", [{"seed": 2}, {"temperature": 0.5}, {"max_tokens": 9}, {}])
def test_another_parameter_is_another_request(path: Path, other: dict[str, Any]) -> None:
    record(path, "hi", seed=1, temperature=0, max_tokens=8)
    assert record(path, "hi", mode="none", seed=1, temperature=0.0, max_tokens=8) == ["answer 1"]
    with pytest.raises(CassetteError, match="never recorded"):
        record(
            path,
            "hi",
            mode="none",
            **({"seed": 1, "temperature": 0, "max_tokens": 8} | other if other else {}),
        )


def test_another_model_is_another_request(path: Path) -> None:
    record(path, "hi")
    with pytest.raises(CassetteError, match="never recorded"):
        ask(with_cassette(never, path, "none")("openai/gpt-y"), "hi")


def test_a_missing_recording_names_the_request_in_one_line(path: Path) -> None:
    text = "Cut the\nonion " + "and then another one " * 20
    with pytest.raises(CassetteError) as caught:
        ask(with_cassette(never, path, "none")(REAL), text, seed=3)
    error = str(caught.value)
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert error.startswith(f"{path}: no recording for model '{REAL}', last message 'Cut the onion and")
    assert "digest " in error
    assert "repetition 1" in error
    assert "\n" not in error
    assert len(error) < 400


def test_around_nothing_a_new_request_is_an_error_in_every_mode(path: Path) -> None:
    record(path, "hi")
    model = CassetteModel(Tape(path, "new_episodes"), REAL)
    assert ask(model, "hi") == ["answer 1"]
    with pytest.raises(CassetteError, match="there is no model to ask"):
        ask(model, "ho")


def test_usage_price_and_names_are_replayed_exactly(path: Path) -> None:
    models = with_cassette(only(Talker()), path, "once")
    first = complete(models(REAL), "hi")
    models.close()
    assert first.usage == USAGE
    assert complete(with_cassette(never, path, "none")(REAL), "hi") == first


def test_a_price_that_is_unknown_stays_unknown(path: Path) -> None:
    class Unpriced(Talker):
        async def complete(self, messages: Any, **parameters: Any) -> Any:
            said = await super().complete(messages, **parameters)
            return said._replace(usage=USAGE.model_copy(update={"usd": None}), finish_reason="length")

    models = with_cassette(only(Unpriced()), path, "once")
    complete(models(REAL), "hi")
    models.close()
    replayed = complete(with_cassette(never, path, "none")(REAL), "hi")
    assert (replayed.usage.usd, replayed.finish_reason) == (None, "length")


def test_a_team_cannot_tell_a_replay_from_the_first_time(path: Path) -> None:
    async def play(mode: str) -> tuple[list[str], Any, Any]:
        models = with_cassette(only(Talker()), path, mode)
        agents = tuple(Agent(seat=seat, model=REAL) for seat in ("chef", "assistant"))
        team = PlayingTeam(Team(id="t", agents=agents), models, temperature=0.7)
        said = [await team.ask("chef", messages(text), seed=1, max_tokens=9) for text in ("a", "b", "a")]
        models.close()
        return said, team.usage, team.payloads

    assert anyio.run(play, "once") == anyio.run(play, "none")


def test_bytes_do_not_depend_on_who_answered_first(tmp_path: Path) -> None:
    class Slow(Talker):
        def __init__(self, order: list[str]) -> None:
            super().__init__()
            self.order = order

        async def complete(self, messages: Any, **parameters: Any) -> Any:
            text = messages[-1]["content"]
            while self.order[0] != f"{text}{parameters['seed']}":
                await anyio.sleep(0)
            self.order.pop(0)
            said = await super().complete(messages, **parameters)
            return said._replace(text=f"{text}{parameters['seed']}")

    async def run(path: Path, order: list[str]) -> bytes:
        models = with_cassette(only(Slow(list(order))), path, "once")
        model = models(REAL)
        async with anyio.create_task_group() as tasks:
            for seed in (1, 2):
                for text in "abc":
                    tasks.start_soon(lambda t=text, s=seed: model.complete(messages(t), seed=s))
        models.close()
        return path.read_bytes()

    orders = (["a1", "a2", "b1", "b2", "c1", "c2"], ["c2", "b1", "a2", "c1", "b2", "a1"])
    first, second = (anyio.run(run, tmp_path / f"{i}.json", order) for i, order in enumerate(orders))
    assert first == second
    keys = [recording["key"] for recording in json.loads(first)["recordings"]]
    assert keys == sorted(keys)
    assert len(keys) == 6


def test_the_same_request_at_the_same_time_is_kept_in_the_order_asked(path: Path) -> None:
    async def run() -> list[str]:
        class Backwards(Talker):
            async def complete(self, messages: Any, **parameters: Any) -> Any:
                said = await super().complete(messages, **parameters)
                await anyio.sleep(0.02 if said.text == "answer 1" else 0)
                return said

        models = with_cassette(only(Backwards()), path, "once")
        said = ["", ""]

        async def one(index: int) -> None:
            said[index] = (await models(REAL).complete(messages("hi"))).text

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, 0)
            tasks.start_soon(one, 1)
        models.close()
        return said

    said = anyio.run(run)
    assert said == ["answer 1", "answer 2"]
    assert record(path, "hi", "hi", mode="none") == said


def test_the_agents_own_failure_is_an_outcome_and_is_replayed(path: Path) -> None:
    talker = Talker()
    talker.faults = [fault(FailureClass.AGENT, "context window exceeded")]
    models = with_cassette(only(talker), path, "once")
    with pytest.raises(ModelError):
        ask(models(REAL), "hi")
    assert ask(models(REAL), "hi") == ["answer 2"]
    models.close()
    model = with_cassette(never, path, "none")(REAL)
    with pytest.raises(ModelError, match="context window exceeded") as caught:
        ask(model, "hi")
    assert (caught.value.failure, caught.value.usage) == (FailureClass.AGENT, USAGE)
    assert ask(model, "hi") == ["answer 2"]


def test_an_answer_without_text_is_the_agents_failure(path: Path) -> None:
    class Silent(Talker):
        async def complete(self, messages: Any, **parameters: Any) -> Any:
            return (await super().complete(messages, **parameters))._replace(text=None)

    models = with_cassette(only(Silent()), path, "once")
    with pytest.raises(ModelError, match="without text") as caught:
        ask(models(REAL), "hi")
    assert (caught.value.failure, caught.value.usage) == (FailureClass.AGENT, USAGE)


@pytest.mark.parametrize(
    "raised",
    [
        fault(FailureClass.INFRASTRUCTURE),
        fault(FailureClass.CONFIGURATION),
        fault(FailureClass.HARNESS),
        RuntimeError("a bug"),
    ],
    ids=str,
)
def test_what_is_not_an_outcome_is_not_recorded_and_takes_no_number(path: Path, raised: Exception) -> None:
    talker = Talker()
    models = with_cassette(only(talker), path, "once")
    assert ask(models(REAL), "hi") == ["answer 1"]
    talker.faults = [raised, raised]
    for _ in range(2):
        with pytest.raises(type(raised)):
            ask(models(REAL), "hi")
    assert ask(models(REAL), "hi") == ["answer 4"]
    models.close()
    assert b"no answer" not in path.read_bytes()
    assert record(path, "hi", "hi", mode="none") == ["answer 1", "answer 4"]


def test_a_cancelled_call_takes_no_number(path: Path) -> None:
    class Stuck(Talker):
        async def complete(self, messages: Any, **parameters: Any) -> Any:
            if not self.calls:
                self.calls = 1
                await anyio.sleep_forever()
            return await super().complete(messages, **parameters)

    async def run() -> str:
        models = with_cassette(only(Stuck()), path, "once")
        with anyio.move_on_after(0.01):
            await models(REAL).complete(messages("hi"))
        said = (await models(REAL).complete(messages("hi"))).text
        models.close()
        return said

    said = anyio.run(run)
    assert record(path, "hi", mode="none") == [said]


@pytest.mark.parametrize("mode", ["once", "new_episodes", "all"])
def test_a_try_that_is_played_again_leaves_only_the_one_that_counts(path: Path, mode: str) -> None:
    if mode != "once":
        record(path, "a", prefix="old ")
    talker = Talker()
    models = with_cassette(only(talker), path, mode)
    model = models(REAL)
    with attempt() as lost:
        ask(model, "a", "b", "b")
        talker.faults = [fault(FailureClass.INFRASTRUCTURE)]
        with pytest.raises(ModelError):
            ask(model, "c")
        lost.again()
    with attempt():
        said = ask(model, "a", "b", "b", "c")
    models.close()
    assert (said[0] == "old 1") is (mode == "new_episodes")
    assert record(path, "a", "b", "b", "c", mode="none") == said
    with pytest.raises(CassetteError, match=r"repetition 3 \(2 recorded\)"):
        record(path, "b", "b", "b", mode="none")


SECRET = "sk-planted-0123456789"


def test_no_secret_of_the_environment_gets_into_any_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("OPENAI_API_KEY", SECRET),
        ("my_token", "tok-éé-planted"),
        ("DB_PASSWORD", 'pass"word\\planted'),
        ("CLIENT_SECRET", f"{SECRET}-longer"),
        ("SHORT_KEY", "onion"),
        ("HARMLESS", "You cook."),
    ):
        monkeypatch.setenv(name, value)
    said = f'{SECRET}-longer, {SECRET}, tok-éé-planted, pass"word\\planted, onion'
    talker = Talker(prefix=f"I know {said} ")
    talker.faults = [fault(FailureClass.AGENT, f"refused: {said}")]
    models = with_cassette(only(talker), path, "once")
    with pytest.raises(ModelError) as caught:
        ask(models(f"{REAL}-{SECRET}"), said)
    (answer,) = ask(models(REAL), said)
    part = next(path.parent.glob("*.part")).read_text(encoding="utf-8")
    models.close()
    for text in (answer, str(caught.value), part, path.read_text(encoding="utf-8")):
        assert "planted" not in text
        assert "<redacted>, <redacted>, <redacted>, <redacted>, onion" in text
    assert "You cook." in path.read_text(encoding="utf-8")

    # Whoever replays has another key, and the same request.
    for name in ("my_token", "DB_PASSWORD", "CLIENT_SECRET"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "another-planted-key")
    asked = "another-planted-key, another-planted-key, another-planted-key, another-planted-key, onion"
    assert ask(with_cassette(never, path, "none")(REAL), asked) == [answer]


def test_a_missing_recording_does_not_show_a_secret(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(CassetteError) as caught:
        ask(with_cassette(never, path, "none")(REAL), f"my key is {SECRET}")
    assert "my key is <redacted>" in str(caught.value)


def test_odd_text_survives(path: Path) -> None:
    odd = 'é 洋葱 \u2028 \x00 \x1b[31m "\\ \ud83d end'
    said = record(path, odd, prefix=odd)
    assert said == [odd.replace("\ud83d", "?") + "1"]
    assert record(path, odd, mode="none") == said


def test_what_is_sure_to_be_asked_is_resolved_before_anything_is_spent(path: Path) -> None:
    def wrong(name: str) -> ChatModel:
        raise ModelError(f"{name}: no such model", failure=FailureClass.CONFIGURATION)

    for mode in ("once", "new_episodes", "all"):
        with pytest.raises(ModelError, match="no such model"):
            with_cassette(wrong, path, mode)(REAL)
    record(path, "hi")
    model = with_cassette(wrong, path, "new_episodes")(REAL)
    assert ask(model, "hi") == ["answer 1"]
    with pytest.raises(ModelError, match="no such model"):
        ask(model, "ho")


def test_simulated_players_are_not_recorded_and_a_users_own_model_is(path: Path) -> None:
    player = Talker(name="simulated:harmful")
    models = with_cassette(only(player), path, "once")
    assert models("simulated:harmful") is player
    mine = Talker("mine ", name="my-model")
    assert models.add(mine) == "my-model"
    assert ask(models("my-model"), "hi") == ["mine 1"]
    models.close()
    replay = with_cassette(never, path, "none")
    replay.add(mine)
    assert ask(replay("my-model"), "hi") == ["mine 1"]
    assert mine.calls == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mode": "always"}, "mode must be one of none, once, new_episodes, all, got 'always'"),
        ({"mode": "once", "writer": "../gw0"}, "writer must be letters"),
    ],
)
def test_bad_arguments_say_what_is_accepted(path: Path, arguments: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        with_cassette(never, path, **arguments)


REPLAY = """
import os, socket, sys, asyncio
assert not any("KEY" in name for name in os.environ)
def refuse(*args): raise AssertionError("network")
socket.create_connection = socket.getaddrinfo = socket.socket.connect = refuse
from pytest_swapgate.models.cassette import with_cassette
from pytest_swapgate.models.registry import ModelRegistry
models = with_cassette(ModelRegistry(), sys.argv[1], "none")
said = asyncio.run(models("openai/gpt-x").complete([
    {"role": "system", "content": "You cook."}, {"role": "user", "content": "hi"}]))
assert models.replayed
assert "litellm" not in sys.modules
print(said.text, said.usage.usd)
"""


def test_replay_needs_neither_key_nor_network_nor_litellm(path: Path) -> None:
    record(path, "hi")
    done = subprocess.run(
        [sys.executable, "-c", REPLAY, str(path)],
        env={"PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == f"answer 1 {0.1 + 0.2}\n"


def test_a_provider_is_not_even_checked_on_replay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(path, "hi")
    monkeypatch.setattr(LiteLLMModel, "check", lambda self: pytest.fail("checked"))
    assert ask(with_cassette(ModelRegistry(), path, "new_episodes")(REAL), "hi") == ["answer 1"]


def test_a_whole_study_is_replayed_byte_for_byte_though_the_model_never_says_the_same_twice(
    path: Path,
) -> None:
    class Moody(Talker):
        async def complete(self, messages: Any, **parameters: Any) -> Any:
            said = await super().complete(messages, **parameters)
            await anyio.sleep(0.001 * (self.calls % 3))
            words = COOK.answer(messages[0]["content"], messages[-1]["content"], str(self.calls))
            return said._replace(text=words)

    async def play(mode: str) -> list[str]:
        models = with_cassette(only(Moody()), path, mode)
        stage = Stage(environment=KitchenEnvironment(), models=models, concurrency=16)
        cohort = await form_cohort(stage, model=REAL, teams=2, episodes=1, trials=1, seed=0)
        arms = await play_arms([TeamArm(cohort, Condition.PLACEBO), TeamArm(cohort, Condition.SWAP)])
        models.close()
        return [episode.model_dump_json() for arm in arms for team in arm.episodes for episode in team]

    assert anyio.run(play, "once") == anyio.run(play, "none")


def test_a_message_that_is_not_json_is_refused(path: Path) -> None:
    model = with_cassette(only(Talker()), path, "once")(REAL)
    with pytest.raises(ValueError, match="must be plain JSON"):
        complete(model, object())  # type: ignore[arg-type]
