"""Caps over all workers: what is in flight may finish, nothing else starts, and what was played is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support.example import Example

from pytest_swapgate.evidence import EvidenceStore

FOUR = """
import pytest

@pytest.mark.swap_penalty(score=0.2, cost=0.6, score_sd=0.04, cost_sd=0.11)
@pytest.mark.parametrize("arm", ["swap", "swap_cleared", "amnesia", "naive"])
def test_gate(arm, placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, getattr(formed_teams, arm)())
"""
CALL = 21  # tokens of one call of the desk's clerks
CONCURRENCY = 4


def _spent(folder: Path):
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        (run,) = {record.run for record in store.verdicts()} or {""}
        return store.spending(run)


def test_a_cap_on_tokens_holds_over_four_workers(teams: Callable[..., Example], folder: Path) -> None:
    cap = 3000
    result = (
        teams()
        .with_test(FOUR)
        .run_pytest(
            *("-n", "4", "--swapgate-max-tokens", str(cap), "--swapgate-concurrency", str(CONCURRENCY)),
            plugins="pytest_swapgate.plugin xdist.plugin",
        )
    )
    assert result.exit_code == 1, result.text
    result.assert_says("the cap of 3,000 tokens is reached: raise --swapgate-max-tokens")
    assert "pass" not in {
        line.rpartition(" ")[2] for line in result.lines if line.startswith("swap_penalty  ")
    }
    assert cap <= _spent(folder).tokens <= cap + 4 * CONCURRENCY * CALL


def test_a_later_run_with_a_larger_cap_plays_only_what_is_missing(
    teams: Callable[..., Example], folder: Path
) -> None:
    example = teams().with_test(FOUR)
    example.run_pytest("--swapgate-max-tokens", "3000")
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        kept = sum(count.episodes for count in store.summary())
    assert kept > 0
    result = example.run_pytest()
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        total = sum(count.episodes for count in store.summary())
        last = store.verdicts()[-1].run
        assert store.spending(last).started == total - kept
        assert store.conflicts == 0
    assert "INCONCLUSIVE" not in result.text
