"""False alarms of the whole gate, end to end: placebo against placebo, each gate with a cohort of its own.

    python benchmarks/false_alarms.py                 # 200 gates, two processes
    python benchmarks/false_alarms.py --gates 20      # a quick look

Every gate forms its own teams, plays the placebo arm twice with different seeds, and is judged by the shipped rule
with the default tolerances. Prints how often a gate failed, against 5 % + 2 standard errors, and how often it passed.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import anyio

from pytest_swapgate.environments.kitchen import KitchenEnvironment
from pytest_swapgate.gate.judge import judge
from pytest_swapgate.gate.tolerances import SwapPenalty
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Stage
from pytest_swapgate.studies import PairedResult, TeamArm, form_cohort, play_arms
from pytest_swapgate.studies.paired import pair_teams
from pytest_swapgate.teams import Condition


def one_gate(job: tuple[int, int, int, str]) -> tuple[str, list[str], list[bool]]:
    seed, teams, level, model = job

    async def run() -> PairedResult:
        environment = KitchenEnvironment(formation_level=level - 1, held_out_level=level)
        stage = Stage(environment, ModelRegistry(environment.simulated))
        cohort = await form_cohort(stage, model=model, teams=teams, seed=seed)
        arm = TeamArm(cohort, Condition.PLACEBO)
        first, second = await play_arms([arm, arm.repeated()])
        units, word = pair_teams(first, second)
        planned = teams * cohort.trials
        return PairedResult(arm.label, arm.repeated().label, units, word, planned)

    report = judge(SwapPenalty(), anyio.run(run), nodeid=f"gate-{seed}")
    return report.verdict, [row.verdict for row in report.rows], [row.low > 0 for row in report.rows]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gates", type=int, default=200)
    parser.add_argument("--teams", type=int, default=12)
    parser.add_argument("--level", type=int, default=6, help="held-out level; teams form on the one below")
    parser.add_argument("--model", default="simulated")
    parser.add_argument("--seed", type=int, default=1000, help="seed of the first gate")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    jobs = [(options.seed + g, options.teams, options.level, options.model) for g in range(options.gates)]
    with ProcessPoolExecutor(options.processes) as pool:
        verdicts = list(pool.map(one_gate, jobs, chunksize=4))
    n = len(verdicts)
    limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / n)
    print(
        f"{n} A/A gates, {options.teams} teams, level {options.level - 1} -> {options.level}, model {options.model},"
    )
    print(f"seeds {options.seed}..{options.seed + n - 1}, Python {platform.python_version()}")
    counts = Counter(str(verdict) for verdict, _, _ in verdicts)
    print(
        "  verdicts: "
        + ", ".join(f"{word} {counts[word] / n:.3f}" for word in ("pass", "fail", "inconclusive"))
    )
    for index, name in enumerate(("score", "cost")):
        above = sum(lows[index] for _, _, lows in verdicts) / n
        passes = sum(rows[index] == "pass" for _, rows, _ in verdicts) / n
        print(f"  {name:<6} pass {passes:.3f}, interval above zero {above:.3f} (nominal .025)")
    alarms = counts["fail"] / n
    word = "ok" if alarms <= limit else "SHORT"
    print(f"false alarms {alarms:.3f}, nominal .05, allowed {limit:.3f} (+2 standard errors): {word}")
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
