"""The recipes of the README for shards: a red gate of any shard stops the release, whichever shard ended last."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.example import Example, Result

from pytest_swapgate.cli import main

BOTH = '''
def passes(share):
    """An arm that succeeds on that share of the trials, each by its own lot."""
    import random

    def arm(task, seed):
        return random.Random(f"{task} {seed} {share}").random() < share

    return arm


@pytest.mark.swap_penalty(score=0.25)
def test_good(paired_runner):
    paired_runner(passes(0.90), passes(0.89), range(60))


@pytest.mark.swap_penalty(score=0.25)
def test_bad(paired_runner):
    paired_runner(passes(0.90), passes(BAD), range(60))
'''


@pytest.fixture
def both(written: Callable[[str], Example]) -> Callable[[float], Example]:
    """A project with a gate that passes, and one of the share that is given."""
    return lambda share: written(BOTH.replace("BAD", str(share)))


def report(file: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["report", str(file)])
    return code, capsys.readouterr().out


def test_a_shard_that_failed_stops_the_release_of_the_combined_file(
    both: Callable[[float], Example], run: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    example = both(0.3)
    run(example, "-k", "bad", "--swapgate-evidence", "shard-1.db").assert_ends(1, failed=1, deselected=1)
    run(example, "-k", "good", "--swapgate-evidence", "shard-2.db").assert_ends(0, passed=1, deselected=1)
    shards = sorted(map(str, example.folder.glob("shard-*.db")))
    assert len(shards) == 2
    target = example.folder / "all.db"
    assert main(["combine", str(target), *shards]) == 0
    code, out = report(target, capsys)
    assert code == 1
    assert out.startswith("2 runs, 2 gates\n")
    assert [line.split()[1:] for line in out.splitlines() if line.startswith("swap_penalty")] == [
        ["test_gate.py::test_good", "pass"],
        ["test_gate.py::test_bad", "FAIL"],
    ]


def test_shards_that_share_one_file_one_after_the_other_stop_it_too_until_the_gate_itself_is_green(
    both: Callable[[float], Example], run: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    example = both(0.3)
    run(example, "-k", "bad").assert_ends(1, failed=1, deselected=1)
    run(example, "-k", "good").assert_ends(0, passed=1, deselected=1)
    assert report(example.evidence, capsys)[0] == 1
    better = both(0.88)
    run(better, "-k", "bad").assert_ends(0, passed=1, deselected=1)
    assert report(example.evidence, capsys)[0] == 0
