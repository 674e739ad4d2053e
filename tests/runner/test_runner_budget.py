"""One budget over all processes of a run, held between two calls of one episode."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest
from runner_samples import Model, Talk, make_chain, make_stage, make_team

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models import Completion, ModelError
from pytest_swapgate.models.cassette import with_cassette
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import BudgetReachedError, CallableArm, Purse, Stage, play_callables, play_chains
from pytest_swapgate.teams import Episode, FailureClass, Usage

_SHARE = """
import sys
sys.path.insert(0, sys.argv[2])
import anyio
from runner_samples import Model, make_chain, make_stage, make_team
from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.runner import BudgetReachedError, Purse, play_chains
model = Model()
with EvidenceStore.open(sys.argv[1]) as store:
    stage = make_stage(model, store=store, purse=Purse(usd=20.0, store=store, run="r"), concurrency=2)
    chains = [[make_chain(make_team(str(i)), first_seed=1000 * i + int(sys.argv[3]))] for i in range(40)]
    try:
        anyio.run(play_chains, stage, chains)
    except BudgetReachedError:
        print(len(model.asked))
"""


@pytest.fixture
def store(tmp_path):
    with EvidenceStore.open(tmp_path / "e.db") as found:
        yield found


def play(stage, *chains):
    return anyio.run(play_chains, stage, [[chain] for chain in chains])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    ("caps", "calls", "says"),
    [
        ({"usd": 1.5}, 6, r"budget of USD 1.5 is reached"),
        ({"tokens": 56}, 6, r"cap of 56 tokens is reached: raise --swapgate-max-tokens"),
    ],
)
def test_no_call_starts_once_the_cap_is_reached_and_the_cut_episode_is_not_kept(
    store, caps, calls, says, shared
):
    model = Model()
    purse = Purse(**caps, **({"store": store, "run": "r"} if shared else {}))
    stage = make_stage(model, store=store, purse=purse)
    with pytest.raises(BudgetReachedError, match=says):
        play(stage, make_chain())  # 4 calls an episode, USD 0.25 and 11 tokens each
    assert len(model.asked) == calls
    assert len(list(store.episodes())) == purse.played == 1
    assert purse.spending.calls == purse.usage.calls == calls
    assert store.spending("r").calls == (calls if shared else 0)


def test_an_environment_that_swallows_the_cap_is_cut_all_the_same(store):
    class Deaf(Talk):
        async def play(self, team, task, seed):
            try:
                await super().play(team, task, seed)
            except Exception:
                return Episode(score=0.0)
            return Episode(score=1.0)

    stage = make_stage(Model(), environment=Deaf(), store=store, purse=Purse(usd=0.25))
    with pytest.raises(BudgetReachedError):
        play(stage, make_chain())
    assert list(store.episodes()) == []


def test_the_overshoot_is_at_most_the_calls_in_flight(store):
    class Slow(Model):
        async def complete(self, messages, **more):
            await anyio.sleep(0.001)
            return await super().complete(messages, **more)

    model = Slow()
    stage = make_stage(model, purse=Purse(usd=10.0, store=store, run="r"), concurrency=8)
    with pytest.raises(BudgetReachedError):
        play(stage, *(make_chain(make_team(str(i))) for i in range(20)))
    assert 40 <= len(model.asked) <= 40 + 7
    assert len(model.asked) >= store.spending("r").calls


def test_processes_of_a_run_share_one_budget(tmp_path):
    path = tmp_path / "e.db"
    EvidenceStore.open(path).close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _SHARE, str(path), str(Path(__file__).parent), str(i)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in range(3)
    ]
    calls = [int(worker.communicate(timeout=60)[0]) for worker in workers]
    assert 80 <= sum(calls) <= 80 + 3 * 2
    with EvidenceStore.open(path) as store:
        assert store.spending("r").calls == sum(calls)
        with pytest.raises(BudgetReachedError):
            Purse(usd=20.0, store=store, run="r").start()
        Purse(usd=20.0, store=store, run="another").start()


def test_unknown_price_under_a_budget_stops_before_the_next_call():
    class Unpriced(Model):
        async def complete(self, messages, **more):
            answer = await super().complete(messages, **more)
            return Completion(answer.text, Usage(calls=1, prompt_tokens=1, usd=None), self.name)

    model = Unpriced()
    with pytest.raises(BudgetReachedError, match="--swapgate-price IN,OUT"):
        play(make_stage(model, purse=Purse(usd=100)), make_chain())
    assert len(model.asked) == 1
    assert play(make_stage(Unpriced(), purse=Purse()), make_chain())


def test_cap_on_episodes_is_shared(store):
    first, second = (Purse(episodes=3, store=store, run="r") for _ in range(2))
    first.start()
    second.start()
    first.start()
    with pytest.raises(BudgetReachedError, match="cap of 3 episodes"):
        second.start()


def test_replayed_calls_are_reported_and_not_spent(tmp_path):
    def run(mode, model, **caps):
        registry = ModelRegistry()
        registry.add(model)
        models = with_cassette(registry, tmp_path / "c.json", mode)
        stage = Stage(Talk(), models, purse=Purse(**caps))
        try:
            return play(stage, make_chain()), stage.purse
        finally:
            models.close()

    recorded, purse = run("once", Model())
    assert purse.spending.usd == purse.usage.usd == 12 * 0.25
    replayed, purse = run("none", Model(), usd=0.25)
    assert replayed == recorded
    assert purse.usage.usd == 12 * 0.25
    assert (purse.spending.usd, purse.spending.calls, purse.spending.started) == (0, 0, 3)


def test_lost_times_are_not_left_on_the_cassette(tmp_path):
    failing = iter([False, True, False, False, False, False])

    def hook(_):
        if next(failing, False):
            raise ModelError("gone", failure=FailureClass.INFRASTRUCTURE)

    registry = ModelRegistry()
    registry.add(Model(hook=hook))
    models = with_cassette(registry, tmp_path / "c.json", "once")
    recorded = play(Stage(Talk(), models), make_chain(trials=1))
    models.close()
    stage = Stage(Talk(), with_cassette(ModelRegistry(), tmp_path / "c.json", "none"))
    replayed = play(stage, make_chain(trials=1))
    assert [e.score for e in replayed[0][0][0]] == [e.score for e in recorded[0][0][0]] == [1.0]
    assert stage.models.tape.replayed == 4


def test_usage_that_an_arm_reports_itself_is_spent():
    async def arm(task, seed):
        return Episode(score=1.0, usage=Usage(calls=1, prompt_tokens=5, usd=0.5))

    stage = make_stage(purse=Purse(usd=2.0))
    arms = [CallableArm(role, "g", arm, None) for role in ("baseline", "candidate")]

    async def work():
        await play_callables(stage, *arms, ["a", "b", "c"], trials=1, seed=0)

    with pytest.raises(BudgetReachedError):
        anyio.run(work)
    assert stage.purse.spending.usd >= 2.0


def test_usage_of_an_environment_of_its_own_is_spent_beside_its_calls():
    class Own(Talk):
        writes_notebooks = False

        async def play(self, team, task, seed):
            episode = await super().play(team, task, seed)
            return episode.model_copy(update={"usage": Usage(calls=1, prompt_tokens=3, usd=0.125)})

    stage = make_stage(environment=Own())
    [[([episode], _)]] = play(stage, make_chain(trials=1))
    assert episode.usage.usd == stage.purse.spending.usd == 2 * 0.25 + 0.125
    assert stage.purse.spending.calls == 3


@pytest.mark.parametrize("tokens", [0, -1, True, 2.5])
def test_bad_cap_on_tokens_is_refused(tokens):
    with pytest.raises(ValueError, match="max_tokens must be a whole number >= 1"):
        Purse(tokens=tokens)


def test_shared_purse_needs_the_name_of_its_run(store):
    with pytest.raises(ValueError, match="run must name the run"):
        Purse(store=store)


def test_lost_times_are_counted_by_class():
    def hook(_):
        raise ModelError("gone", failure=FailureClass.INFRASTRUCTURE)

    stage = make_stage(Model(hook=hook))
    play(stage, make_chain(trials=2))
    assert stage.purse.lost == {"infrastructure": 6}
    assert stage.progress.standing().infrastructure == 6


def test_plain_function_that_nobody_waits_for_any_more_asks_no_model():
    left = threading.Event()
    said = []

    class Late(Talk):
        def play(self, team, task, seed):
            left.wait(10)
            try:
                anyio.from_thread.run(team.ask, "one", [{"role": "user", "content": "x"}])
            except BaseException as error:
                said.append(type(error).__name__)

    async def work():
        [[(episodes, _)]] = await play_chains(stage, [[make_chain(trials=1)]])
        left.set()
        while len(said) < 3:
            await anyio.sleep(0.01)
        return episodes

    model = Model()
    stage = make_stage(model, environment=Late(), episode_timeout=0.05)
    [episode] = anyio.run(work)
    assert episode.failure is FailureClass.INFRASTRUCTURE
    assert model.asked == []


def test_registry_travels_without_what_belongs_to_this_process():
    model = LiteLLMModel("openai/mine", options={"api_base": "http://x"}, price=(1.0, 2.0))
    model.pressure.limit = 3
    registry = ModelRegistry()
    registry.add(model)
    there = pickle.loads(pickle.dumps(registry))("openai/mine")
    assert (there.name, there.priced) == ("openai/mine", True)
    assert there.pressure.limit == float("inf")
