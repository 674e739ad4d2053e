"""Spending: one count for all processes of a run, and caps that hold over all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.teams import Usage

_STARTER = """
import sys
from pytest_swapgate.evidence import EvidenceStore
with EvidenceStore.open(sys.argv[1]) as store:
    print(sum(store.start_episode("run", most=50) for _ in range(40)))
"""


def test_a_run_that_consumed_nothing_is_all_zero(tmp_path: Path) -> None:
    with EvidenceStore.open(tmp_path / "evidence.db") as store:
        assert tuple(store.spending("run")) == (0, 0, 0, 0.0, 0)


def test_usage_adds_up_and_an_unknown_price_is_counted_not_taken_for_free(tmp_path: Path) -> None:
    with EvidenceStore.open(tmp_path / "evidence.db") as store:
        store.spend("run", Usage(calls=2, prompt_tokens=10, completion_tokens=5, usd=0.25))
        store.spend("run", Usage(calls=1, prompt_tokens=7, completion_tokens=1, usd=None))
        store.spend("other", Usage(calls=9, usd=9.0))
        assert tuple(store.spending("run")) == (0, 3, 23, 0.25, 1)


def test_no_more_episodes_start_than_the_cap(tmp_path: Path) -> None:
    with EvidenceStore.open(tmp_path / "evidence.db") as store:
        assert [store.start_episode("run", most=3) for _ in range(5)] == [True, True, True, False, False]
        assert store.spending("run").started == 3
        assert store.start_episode("another run", most=3)


def test_the_cap_holds_over_processes_that_start_at_once(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    EvidenceStore.open(path).close()
    starters = [
        subprocess.Popen([sys.executable, "-c", _STARTER, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    started = [int(starter.communicate(timeout=60)[0]) for starter in starters]
    assert sum(started) == 50


@pytest.mark.parametrize("run", ["", 3, None])
def test_a_run_without_a_name_is_refused(tmp_path: Path, run: object) -> None:
    with EvidenceStore.open(tmp_path / "evidence.db") as store, pytest.raises(ValueError, match="run"):
        store.start_episode(run)  # type: ignore[arg-type]
