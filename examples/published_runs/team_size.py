"""Does a bigger team hurt? 957 published runs of coding teams, decided as a gate would.

    python examples/published_runs/team_size.py

Baseline: a team of one; candidate: a team of five; a task is one model on one problem with one share of parallel
work. The counts are those of github.com/emieczkowski/distributed-llm-teams (MIT), re-encoded in `team_runs.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from pytest_swapgate.stats import HarmEstimate, Verdict, pass_hat_k, pass_hat_k_difference

COUNTS: dict[str, dict[str, dict[str, dict[str, list[int]]]]] = json.loads(
    (Path(__file__).parent / "team_runs.json").read_text(encoding="utf-8")
)["counts"]
TOLERANCE = 0.10


class Contrast(NamedTuple):
    """pass^k of both arms on their common tasks, the harm of growing the team, and what was left out."""

    baseline: float
    candidate: float
    harm: HarmEstimate
    verdict: Verdict
    left_out: tuple[str, ...]


def contrast(mode: str, k: int, *, small: str = "1", large: str = "5") -> Contrast:
    """Compare two team sizes on the tasks that were run at least k times with both."""
    kept: list[tuple[list[int], list[int]]] = []
    left_out = []
    for model, tasks in COUNTS[mode].items():
        for task, sizes in tasks.items():
            arms = [sizes.get(size, [0, 0]) for size in (small, large)]
            if min(runs for _, runs in arms) >= k:
                kept.append((arms[0], arms[1]))
            else:
                left_out.append(f"{model} {task}")
    (c0, n0), (c1, n1) = (
        [list(column) for column in zip(*arm, strict=True)] for arm in zip(*kept, strict=True)
    )
    harm = pass_hat_k_difference(c0, n0, c1, n1, k)
    return Contrast(
        pass_hat_k(c0, n0, k), pass_hat_k(c1, n1, k), harm, harm.verdict(TOLERANCE), tuple(left_out)
    )


def main() -> None:
    print(f"team of 1 against team of 5, tolerance {TOLERANCE:.0%}, 90 % intervals over tasks")
    for mode in COUNTS:
        for k in (1, 4):
            result = contrast(mode, k)
            low, high = result.harm.interval
            print(
                f"{mode:<14} pass^{k}  {result.baseline:.3f} -> {result.candidate:.3f}   "
                f"harm {100 * result.harm.harm:+5.1f} pp  [{100 * low:+.1f}, {100 * high:+.1f}]   "
                f"{result.harm.n} tasks  {result.verdict.upper()}"
            )
            for task in result.left_out:
                print(f"{'':<14} left out, fewer than {k} runs with both sizes: {task}")


if __name__ == "__main__":
    main()
