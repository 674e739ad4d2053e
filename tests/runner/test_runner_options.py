"""Options of a call in episodes: what they are part of, and what an environment hears that uses them wrongly."""

from __future__ import annotations

import anyio
import pytest
from runner_samples import Model, Talk, make_chain, make_stage

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models import Completion
from pytest_swapgate.models.cassette import with_cassette
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import ArmError, Stage, play_chains
from pytest_swapgate.teams import Episode, FailureClass, Message, Usage


class Tuned(Model):
    """Says yes to a call that asks for little heat, and keeps what it was asked for."""

    def __init__(self):
        super().__init__("model")
        self.options = []

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None, options=None):
        self.options.append(options)
        text = "yes" if (temperature or 0) < 0.5 else "no"
        return Completion(text, Usage(calls=1, prompt_tokens=10, completion_tokens=1), self.name)


class Asks(Talk):
    """Asks every seat with options of its own, and forms no notebooks."""

    writes_notebooks = False

    def __init__(self, **options):
        self.options = options

    async def play(self, team, task, seed):
        said = []
        for seat in self.seats:
            asked = [{"role": "user", "content": task.id}]
            text = await team.ask(seat, asked, seed=seed, options=self.options[seat])
            said.append(Message(sender=seat, text=text))
        return Episode(score=sum(m.text == "yes" for m in said) / 2, messages=said, subtasks=1)


class Named(Asks):
    digest = "v1"


def play(environment, model, **more):
    stage = make_stage(model, environment=environment, **more)
    [[(episodes, _)]] = anyio.run(play_chains, stage, [[make_chain()]])
    return stage, episodes


def test_each_seat_has_options_of_its_own():
    model = Tuned()
    _, episodes = play(Asks(one={"temperature": 0.1}, two={"temperature": 0.9, "stop": ["."]}), model)
    assert [episode.score for episode in episodes] == [0.5] * 3
    assert model.options[:2] == [{"temperature": 0.1}, {"temperature": 0.9, "stop": ["."]}]
    assert episodes[0].payloads["one"] != episodes[0].payloads["two"]


@pytest.fixture
def store(tmp_path):
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        yield opened


def played(environment, store):
    """Return how often the model was asked: 0 if all was read from evidence."""
    model = Tuned()
    play(environment, model, store=store)
    return len(model.options)


def test_another_option_is_played_again_and_the_same_is_read(store):
    cool, hot = {"one": {"temperature": 0.1}, "two": None}, {"one": {"temperature": 0.9}, "two": None}
    assert played(Asks(**cool), store) == 6
    assert played(Asks(**cool), store) == 0
    assert played(Asks(**hot), store) == 6


def test_an_environment_that_names_its_own_identity_answers_for_its_options(store):
    cool, hot = {"one": {"temperature": 0.1}, "two": None}, {"one": {"temperature": 0.9}, "two": None}
    assert played(Named(**cool), store) == 6
    assert played(Named(**hot), store) == 0
    changed = Named(**hot)
    changed.digest = "v2"
    assert played(changed, store) == 6


def test_a_model_that_takes_no_options_stops_the_run_and_says_so():
    with pytest.raises(ArmError, match="model 'model' takes no options, and is asked with stop") as caught:
        play(Asks(one={"stop": ["."]}, two=None), Model())
    assert caught.value.failure is FailureClass.CONFIGURATION


def test_a_wrong_option_is_the_environments_fault_and_is_named_with_its_place():
    with pytest.raises(
        ArmError,
        match=r"Asks\.play raised ValueError: options must not hold 'seed'.*\(test_runner_options\.py:\d+\)",
    ):
        play(Asks(one={"seed": 1}, two=None), Tuned())


def test_episodes_with_options_are_replayed_from_a_cassette_and_no_model_is_there(tmp_path):
    path = tmp_path / "cassette.json"
    environment = Asks(one={"temperature": 0.1, "stop": ["."]}, two={"temperature": 0.9})

    def run(mode, own):
        registry = ModelRegistry()
        registry.take(own)
        models = with_cassette(registry, path, mode)
        stage = Stage(environment, models)
        [[(episodes, _)]] = anyio.run(play_chains, stage, [[make_chain()]])
        models.close()
        return episodes

    def gone():
        raise AssertionError("made on replay")

    recorded = run("once", {"model": Tuned})
    assert run("none", {"model": gone}) == recorded
    assert [episode.score for episode in recorded] == [0.5] * 3


# Settings of a model of the project's own.


class Digested(Tuned):
    def __init__(self, digest):
        super().__init__()
        self.digest = digest


@pytest.mark.parametrize(
    ("first", "second", "surroundings", "again"),
    [
        (Digested("v1"), Digested("v2"), ("code", "code"), True),
        (Digested("v1"), Digested("v1"), ("code", "other code"), False),
        (Tuned(), Tuned(), ("code", "other code"), True),
        (Tuned(), Tuned(), ("code", "code"), False),
    ],
)
def test_evidence_of_a_model_is_read_while_it_says_that_it_is_the_same(
    store, first, second, surroundings, again
):
    environment = Named(one=None, two=None)
    for model, around in zip((first, second), surroundings, strict=True):
        registry = ModelRegistry()
        registry.take({"model": model})
        stage = Stage(environment, registry, store=store, surroundings=around)
        anyio.run(play_chains, stage, [[make_chain()]])
    assert len(first.options) == 6
    assert len(second.options) == (6 if again else 0)
