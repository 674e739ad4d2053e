"""A team that plays: what is asked, counted and kept; and names that become models."""

from __future__ import annotations

import subprocess
import sys

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.models import ChatModel, Completion, ModelError, PlayingTeam
from pytest_swapgate.models.playing import payload_digest
from pytest_swapgate.models.registry import ModelRegistry, is_simulated
from pytest_swapgate.teams import Agent, FailureClass, Notebook, Team, Usage, placebo

ASKED = [{"role": "system", "content": "be"}, {"role": "user", "content": "hi"}]


class Scripted:
    """Answers from a list; an exception in it is raised."""

    def __init__(self, *answers, name="scripted"):
        self.name = name
        self.answers = list(answers)
        self.asked = []

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        self.asked.append((list(messages), seed, temperature, max_tokens))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        usage = Usage(calls=1, prompt_tokens=3, completion_tokens=2, usd=0.5)
        return Completion(answer, usage, self.name)


def make_team(model="scripted"):
    return Team(id="t", agents=(Agent(seat="a", model=model), Agent(seat="b", model=model)))


def play(model, *asks, temperature=None):
    """Ask seats in turn; return the playing team and the answers."""
    playing = PlayingTeam(make_team(), lambda name: model, temperature=temperature)

    async def work():
        return [await playing.ask(seat, ASKED, **more) for seat, more in asks]

    return playing, anyio.run(work)


def test_protocol_is_met_by_a_class_with_name_and_complete():
    assert isinstance(Scripted(), ChatModel)
    assert not isinstance(object(), ChatModel)


def test_answers_come_back_and_every_call_is_counted():
    model = Scripted("one", "two", "three")
    playing, answers = play(model, ("a", {"seed": 7, "max_tokens": 5}), ("b", {}), ("a", {}), temperature=0.5)
    assert answers == ["one", "two", "three"]
    assert playing.usage == Usage(calls=3, prompt_tokens=9, completion_tokens=6, usd=1.5)
    assert model.asked[0] == (ASKED, 7, 0.5, 5)
    assert model.asked[1] == (ASKED, None, 0.5, None)


def test_a_failed_call_is_counted_with_what_it_consumed():
    lost = ModelError("gone", failure=FailureClass.INFRASTRUCTURE, usage=Usage(calls=4))
    model = Scripted("one", lost)
    playing = PlayingTeam(make_team(), lambda name: model)

    async def work():
        await playing.ask("a", ASKED)
        await playing.ask("a", ASKED)

    with pytest.raises(ModelError, match="gone"):
        anyio.run(work)
    assert playing.usage.calls == 5


def test_an_answer_without_text_is_the_agents_failure():
    with pytest.raises(ModelError, match="without text") as caught:
        play(Scripted(None), ("a", {}))
    assert caught.value.failure is FailureClass.AGENT


@given(st.text())
@settings(deadline=None, max_examples=60)
def test_any_answer_fits_into_a_notebook(text):
    # Hypothesis draws lone surrogates too: JSON escapes of a provider can hold them.
    _, [answer] = play(Scripted(text), ("a", {}))
    Notebook(task_notes=answer)
    assert len(answer) == len(text)


def test_lone_surrogate_becomes_a_question_mark():
    _, [answer] = play(Scripted("a\ud800b é"), ("a", {}))
    assert answer == "a?b é"


def test_first_request_of_each_seat_is_kept_as_a_digest():
    playing, _ = play(Scripted("x", "y", "z"), ("a", {"seed": 1}), ("a", {"seed": 2}), ("b", {"seed": 3}))
    assert playing.payloads["a"] == playing.payloads["b"] == payload_digest("scripted", None, None, ASKED)


@pytest.mark.parametrize(
    "other",
    [
        ("n", None, None, ASKED),
        ("m", 0.7, None, ASKED),
        ("m", None, 5, ASKED),
        ("m", None, None, ASKED[1:]),
        ("m", None, None, [{"role": "user", "content": "be"}, {"role": "system", "content": "hi"}]),
    ],
)
def test_every_part_of_a_request_enters_its_digest(other):
    assert payload_digest(*other) != payload_digest("m", None, None, ASKED)


def test_digest_takes_any_text():
    assert payload_digest("m", None, None, [{"role": "user", "content": "\ud800"}])


def test_playing_team_shows_seats_notebooks_and_announcement():
    team = placebo(make_team(), "a").after
    playing = PlayingTeam(team, lambda name: Scripted())
    assert playing.seats == ("a", "b")
    assert playing.announcement == team.announcement != ""
    assert playing["b"] == team["b"]
    assert playing.notebook("a") == Notebook()
    with pytest.raises(ValueError, match="seat must be one of a, b"):
        playing.notebook("c")


# Names.


@pytest.mark.parametrize("name", ["simulated", "simulated:plain", "simulated:noise=2"])
def test_simulated_names_are_known(name):
    assert is_simulated(name)


@pytest.mark.parametrize("name", ["simulate", "simulatedx", "openai/simulated", ""])
def test_other_names_are_not_simulated(name):
    assert not is_simulated(name)


def test_a_model_is_made_once_and_kept():
    made = []

    def simulated(name):
        made.append(name)
        return Scripted(name=name)

    registry = ModelRegistry(simulated)
    assert registry("simulated") is registry("simulated")
    assert registry("simulated:x").name == "simulated:x"
    assert made == ["simulated", "simulated:x"]


def test_a_ready_model_goes_by_its_own_name():
    registry = ModelRegistry()
    model = Scripted(name="mine")
    assert registry.add(model) == "mine"
    assert registry("mine") is model


def test_environment_without_a_player_says_what_to_do():
    with pytest.raises(ModelError, match="no simulated player; name a provider's model") as caught:
        ModelRegistry()("simulated")
    assert caught.value.failure is FailureClass.CONFIGURATION


def test_bad_simulated_variant_is_a_configuration_error():
    def simulated(name):
        raise ValueError("accepted are these")

    with pytest.raises(ModelError, match=r"model 'simulated:odd': accepted are these") as caught:
        ModelRegistry(simulated)("simulated:odd")
    assert caught.value.failure is FailureClass.CONFIGURATION


def test_models_are_imported_without_litellm():
    code = (
        "import sys, pytest_swapgate.models.registry, pytest_swapgate.studies; "
        "from pytest_swapgate.models.litellm_model import LiteLLMModel; LiteLLMModel('openai/x'); "
        "print('litellm' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
