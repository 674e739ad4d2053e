"""Episodes played elsewhere: the same evidence, byte for byte; lost results are sent for again."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import threading
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)

import anyio
import pytest
from runner_samples import Model, Talk, make_chain, make_stage, make_team

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models import ModelError
from pytest_swapgate.runner import ArmError, BudgetReachedError, Purse, play_chains
from pytest_swapgate.runner.dask_executor import dask_executor
from pytest_swapgate.runner.elsewhere import SENDINGS
from pytest_swapgate.teams import BiteError, FailureClass

BACKENDS = ["asyncio", *(["trio"] if importlib.util.find_spec("trio") else [])]
CHAINS = [[make_chain(make_team(str(i)), first_seed=100 * i)] for i in range(4)]


def evidence(tmp_path, name, **more):
    """Play and return what is in the evidence file, in order of keys."""
    with EvidenceStore.open(tmp_path / f"{name}.db") as store:
        stage = make_stage(Model(), store=store, purse=Purse(store=store, run="r"), **more)
        played = anyio.run(play_chains, stage, CHAINS)
        rows = [
            (row.key, row.study, row.unit, row.arm, row.episode.model_dump_json()) for row in store.episodes()
        ]
        return played, sorted(rows), stage.purse.usage, store.spending("r")


class Inline(Executor):
    """Runs each job at once; the first times that it is given one, it fails as it is told."""

    def __init__(self, *failures):
        self.failures = list(failures)
        self.submitted = 0

    def submit(self, function, /, *args):
        self.submitted += 1
        failure = self.failures.pop(0) if self.failures else None
        if failure == "raise":
            raise BrokenExecutor("gone")
        future = Future()
        if failure == "cancel":
            future.cancel()
            future.set_running_or_notify_cancel()
        elif failure == "garbage":
            future.set_result({"score": 1.0})
        elif failure == "never":
            pass
        elif failure is not None:
            future.set_exception(failure)
        else:
            # A thread of its own: the event loop of the job is another one.
            threading.Thread(target=lambda: future.set_result(function(*args))).start()
        return future


def test_threads_and_processes_give_the_evidence_of_one_process(tmp_path):
    here = evidence(tmp_path, "here")
    assert len(here[1]) == 12
    with ThreadPoolExecutor(3) as threads:
        assert evidence(tmp_path, "threads", executor=threads) == here
    for method in multiprocessing.get_all_start_methods():
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as processes:
            assert evidence(tmp_path, method, executor=processes) == here
            assert evidence(tmp_path, method, executor=processes)[1] == here[1]  # read


@pytest.mark.parametrize(
    "lost",
    [
        "cancel",
        "raise",
        "garbage",
        BrokenExecutor("x"),
        CancelledError(),
        type("KilledWorker", (Exception,), {})(),
    ],
)
def test_lost_result_is_sent_for_again(tmp_path, lost):
    executor = Inline(lost, lost)
    assert evidence(tmp_path, "lossy", executor=executor) == evidence(tmp_path, "here")
    assert executor.submitted == 12 + 2


def test_executor_that_loses_everything_is_given_up_in_one_line(tmp_path):
    executor = Inline(*[BrokenExecutor("a worker died")] * 100)
    with pytest.raises(ArmError, match=r"lost the episode of 0 on task 'task-0' 4 times.*a worker died") as e:
        anyio.run(play_chains, make_stage(executor=executor), CHAINS[:1])
    assert e.value.failure is FailureClass.INFRASTRUCTURE
    assert executor.submitted == SENDINGS
    assert "\n" not in str(e.value)


def test_a_result_that_never_comes_is_given_up_in_one_line():
    stage = make_stage(executor=Inline(*["never"] * 100), episode_timeout=0.05, concurrency=1)
    with pytest.raises(ArmError, match=r"lost the episode of 0 .* 4 times.*nothing came back for 0\.1 s"):
        anyio.run(play_chains, stage, CHAINS[:1])


def test_a_result_that_is_none_is_named():
    executor = Inline(*["garbage"] * 100)
    with pytest.raises(ArmError, match="LostAnswerError: it returned dict, not what was played"):
        anyio.run(play_chains, make_stage(executor=executor), CHAINS[:1])


class Unpicklable(Talk):
    def __init__(self):
        self.lock = threading.Lock()


def test_what_cannot_be_sent_is_one_line():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
        stage = make_stage(environment=Unpicklable(), executor=processes)
        with pytest.raises(
            ArmError, match=r"could not play an episode: .*pickle.*must be picklable"
        ) as caught:
            anyio.run(play_chains, stage, CHAINS[:1])
    assert caught.value.failure is FailureClass.CONFIGURATION


def test_executor_that_was_shut_down_is_one_line():
    threads = ThreadPoolExecutor(1)
    threads.shutdown()
    with pytest.raises(ArmError, match="cannot schedule new futures after shutdown"):
        anyio.run(play_chains, make_stage(executor=threads), CHAINS[:1])


class Failing(Talk):
    def __init__(self, error):
        self.error = error

    async def play(self, team, task, seed):
        raise self.error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("mine"), ArmError),
        (BiteError("same"), BiteError),
        (ModelError("key", failure=FailureClass.CONFIGURATION), ArmError),
    ],
)
def test_what_stops_a_run_here_stops_it_from_there(error, expected):
    said = []
    for executor in (None, Inline()):
        with pytest.raises(expected) as caught:
            anyio.run(play_chains, make_stage(environment=Failing(error), executor=executor), CHAINS[:1])
        said.append((str(caught.value), getattr(caught.value, "failure", None)))
    assert said[0] == said[1]


def test_infrastructure_failure_there_is_played_again():
    stage = make_stage(
        environment=Failing(ModelError("gone", failure=FailureClass.INFRASTRUCTURE)), executor=Inline()
    )
    [[(episodes, _)]] = anyio.run(play_chains, stage, [[make_chain(trials=1)]])
    assert episodes[0].failure is FailureClass.INFRASTRUCTURE
    assert stage.executor.submitted == 3


def test_cap_holds_inside_an_episode_that_is_played_elsewhere():
    model = Model()
    stage = make_stage(model, executor=Inline(), purse=Purse(usd=1.5), concurrency=1)
    with pytest.raises(BudgetReachedError, match=r"budget of USD 1.5 is reached"):
        anyio.run(play_chains, stage, CHAINS)
    assert len(model.asked) == 6
    assert stage.purse.spending.usd == stage.purse.usage.usd == 1.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_cancelled_run_does_not_wait_for_the_executor(backend):
    class Never(Executor):
        def __init__(self):
            self.given = []

        def submit(self, function, /, *args):
            self.given.append(Future())
            return self.given[-1]

    async def work():
        with anyio.move_on_after(0.05):
            await play_chains(make_stage(executor=never), CHAINS)

    never = Never()
    anyio.run(work, backend=backend)
    if backend == "asyncio":
        assert [future.cancelled() for future in never.given] == [True] * 4
    for future in never.given:
        future.cancel()


# Dask.


class Deadly(Talk):
    """Kills its worker the first time that it comes to the fatal task."""

    digest = "deadly"

    def __init__(self, mark):
        self.mark = mark

    async def play(self, team, task, seed):
        if seed == 201 and not os.path.exists(self.mark):
            with open(self.mark, "w"):
                pass
            os._exit(1)
        return await super().play(team, task, seed)


def test_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ArmError, match=r"pip install 'pytest-swapgate\[dask\]'"), dask_executor("tcp://x:1"):
        pass


needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="needs the extra dask (distributed)"
)


@needs_dask
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_dask_cluster_gives_the_evidence_of_one_process_though_a_worker_is_killed(tmp_path):
    from distributed import LocalCluster

    os_mark = tmp_path / "killed"
    os_mark.touch()
    here = evidence(tmp_path, "here", environment=Deadly(str(os_mark)))
    os_mark.unlink()
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster,
        dask_executor(cluster.scheduler_address) as executor,
    ):
        there = evidence(tmp_path, "dask", environment=Deadly(str(os_mark)), executor=executor)
    assert os_mark.exists()
    assert there == here


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_scheduler_that_is_not_there_is_one_line():
    with (
        pytest.raises(ArmError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        dask_executor("tcp://127.0.0.1:9", timeout=1),
    ):
        pass
