"""Caps on what a run may spend."""

from __future__ import annotations

import math
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.runner import BudgetReachedError, Purse
from pytest_swapgate.teams import Usage


def test_purse_without_caps_counts_only():
    purse = Purse()
    for _ in range(3):
        purse.start()
        purse.finish(Usage(calls=2, usd=None))
    purse.found()
    assert (purse.played, purse.read, purse.usage) == (3, 1, Usage(calls=6, usd=None))


def test_no_episode_starts_once_the_money_is_gone():
    purse = Purse(usd=1.0)
    purse.start()
    purse.start()  # in flight beside it: may finish
    purse.finish(Usage(usd=0.6))
    purse.start()
    purse.finish(Usage(usd=0.6))
    with pytest.raises(
        BudgetReachedError,
        match=r"budget of USD 1 is reached: raise --swapgate-budget; what was played is kept",
    ):
        purse.start()
    purse.finish(Usage(usd=0.6))
    assert purse.usage.usd == pytest.approx(1.8)


def test_unknown_price_cannot_be_kept_within_a_budget():
    purse = Purse(usd=100.0)
    purse.start()
    purse.finish(Usage(usd=None))
    with pytest.raises(BudgetReachedError, match="without a price"):
        purse.start()


def test_episodes_are_capped_when_they_start():
    purse = Purse(episodes=2)
    purse.start()
    purse.start()
    with pytest.raises(
        BudgetReachedError, match=r"cap of 2 episodes is reached: raise --swapgate-max-episodes"
    ):
        purse.start()
    for _ in range(5):
        purse.found()  # reading is free


@given(st.integers(1, 12), st.integers(0, 30))
@settings(deadline=None, max_examples=40)
def test_never_more_episodes_than_the_cap(cap, asked):
    purse = Purse(episodes=cap)
    started = 0
    for _ in range(asked):
        try:
            purse.start()
        except BudgetReachedError:
            continue
        started += 1
    assert started == min(cap, asked)


def test_cap_holds_between_threads():
    purse = Purse(episodes=100)
    started = []

    def work():
        for _ in range(100):
            try:
                purse.start()
            except BudgetReachedError:
                return
            started.append(1)
            purse.finish(Usage(calls=1))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == purse.played == purse.usage.calls == 100


@pytest.mark.parametrize("usd", [0, -1, math.nan, math.inf, True])
def test_bad_budget_is_refused(usd):
    with pytest.raises(ValueError, match="budget must be a number of US dollars > 0"):
        Purse(usd=usd)


@pytest.mark.parametrize("episodes", [0, -1, True, 2.5])
def test_bad_cap_is_refused(episodes):
    with pytest.raises(ValueError, match="max_episodes must be a whole number >= 1"):
        Purse(episodes=episodes)
