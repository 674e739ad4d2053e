"""Several processes on one file, and processes that die."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from evidence_samples import episode, finish, put, start

from pytest_swapgate.evidence import EvidenceError, EvidenceStore
from pytest_swapgate.evidence.lock import file_lock, lock_path

APPEND = """
from evidence_samples import episode, put
from pytest_swapgate.evidence import EvidenceStore
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
with EvidenceStore.open(path) as store:
    for i in range(count):
        put(store, f"{name}-{i}", episode(i))
        put(store, f"shared-{i}", episode(i))
        print(f"{name}-{i}", store.open_attempt("run", "gate"), flush=True)
"""

HOLD = """
from pathlib import Path
from pytest_swapgate.evidence.lock import file_lock
with file_lock(Path(sys.argv[1]), "cohort"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_processes_that_start_together_lose_no_row_and_share_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "new" / "evidence.db"
    workers = [start(APPEND, path, f"w{number}", 80) for number in range(4)]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    numbers = [int(line.split()[1]) for worker in workers for line in finish(worker).splitlines()]
    assert sorted(numbers) == list(range(1, 4 * 80 + 1))
    expected = {f"{name}-{i}" for name in ("w0", "w1", "w2", "w3", "shared") for i in range(80)}
    with EvidenceStore.read(path) as store:
        assert {stored.key for stored in store.episodes()} == expected
        assert store.conflicts == 0
        assert store.check() == ()


def test_kill_9_again_and_again_loses_nothing_that_was_put(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    finished: set[str] = set()
    for round_ in range(4):
        worker = start(APPEND, path, f"w{round_}", 100_000)
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
        worker.stdout.readline()
        for _ in range(20 + 37 * round_):
            finished.add(worker.stdout.readline().split()[0])
        worker.kill()
        out, _ = worker.communicate()
        # Whole lines only: the last one may have been cut.
        finished.update(line.split()[0] for line in out.splitlines(keepends=True) if line.endswith("\n"))
    with EvidenceStore.open(path) as store:
        assert store.known(finished) == finished
        assert store.check() == ()
        assert store.open_attempt("run", "gate") >= len(finished) + 1
        assert put(store, "after", episode())


def test_a_lock_keeps_another_process_out_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    with EvidenceStore.open(path) as store:
        holder = start(HOLD, path)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(EvidenceError, match=r"'cohort' is still held .* after 0.05 s"),
            store.lock("cohort", timeout=0.05),
        ):
            pass
        with store.lock("another", timeout=0):
            pass
        finish(holder)
        with store.lock("cohort", timeout=0):
            pass


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    holder = start(HOLD, path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    with file_lock(path, "cohort", timeout=5):
        pass


def test_a_lock_is_exclusive_between_threads_and_freed_by_an_error(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    with (
        file_lock(path, "a"),
        pytest.raises(EvidenceError, match="still held"),
        file_lock(path, "a", timeout=0),
    ):
        pass
    with pytest.raises(RuntimeError, match="inside"), file_lock(path, "a"):
        raise RuntimeError("inside")
    with file_lock(path, "a", timeout=None):
        pass
    assert os.listdir(tmp_path) == [lock_path(path, "a").name]


def test_a_lock_name_never_becomes_a_path(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    with file_lock(path, "../../etc/passwd\0\ud800"):
        (name,) = os.listdir(tmp_path)
    assert name.startswith("evidence.db-")
    assert name.endswith(".lock")


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), True, "1"])
def test_a_bad_timeout_is_refused(tmp_path: Path, timeout: object) -> None:
    with pytest.raises(ValueError, match="timeout must be"), file_lock(tmp_path / "e", "a", timeout=timeout):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize("name", ["", None])
def test_a_lock_needs_a_name(tmp_path: Path, name: object) -> None:
    with pytest.raises(ValueError, match="name must be"), file_lock(tmp_path / "e", name):  # type: ignore[arg-type]
        pass


def test_a_lock_in_a_missing_folder_is_one_clear_line(tmp_path: Path) -> None:
    with (
        pytest.raises(EvidenceError, match="cannot write the lock file"),
        file_lock(tmp_path / "no" / "e", "a"),
    ):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_store_is_refused_in_a_forked_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EvidenceStore.open(tmp_path / "evidence.db") as store:
        real = os.getpid()
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: real + 1)
            with pytest.raises(EvidenceError, match="open it again after a fork"):
                store.known(["k"])
        assert store.known(["k"]) == set()


def test_a_writer_waits_for_another_ones_transaction(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    holder = """
from pytest_swapgate.evidence import EvidenceStore
import time
with EvidenceStore.open(sys.argv[1]) as store, store.database.transaction():
    store.database.change("INSERT INTO attempts VALUES ('r', 'g', 7)")
    print("held", flush=True)
    time.sleep(0.3)
"""
    with EvidenceStore.open(path) as store:
        other = start(holder, path)
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert store.open_attempt("r", "g") == 8
        finish(other)
