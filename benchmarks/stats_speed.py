"""Time the statistics: ten thousand Tango intervals at once, sequential bounds, exact power, one decision.

    python benchmarks/stats_speed.py

Prints the median of several runs beside the figure to reach; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from pytest_swapgate.stats import (
    binary_harm,
    continuous_harm,
    plan_looks,
    required_units,
    sequential_rates,
    spending_bounds,
    take_look,
    tango_interval,
    verdict_rates,
)


def timed(run: Callable[[], object], repeats: int) -> float:
    """Median seconds of a call, after one call to warm up."""
    run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def main() -> int:
    rng = np.random.default_rng(0)
    b, c = rng.integers(0, 60, size=(2, 10_000))
    n = b + c + rng.integers(1, 200, size=10_000)
    units = rng.standard_normal(12)
    plan = plan_looks(0.10, discordance=0.32, power=0.8)
    cases: list[tuple[str, Callable[[], object], float, int]] = [
        ("10,000 Tango intervals", lambda: tango_interval(b, c, n, confidence=0.9), 0.5, 20),
        ("O'Brien-Fleming bounds, K = 5", lambda: spending_bounds(5), 0.050, 50),
        ("O'Brien-Fleming bounds, K = 50", lambda: spending_bounds(50), 1.0, 5),
        (
            "plan of a sequential gate, n = 196",
            lambda: plan_looks(0.10, discordance=0.32, power=0.8),
            0.2,
            10,
        ),
        ("exact rates of that plan", lambda: sequential_rates(plan, harm=0.0, discordance=0.32), 0.5, 10),
        ("one look", lambda: take_look(plan, 3, 30, 12), 0.005, 50),
        ("one binary harm", lambda: binary_harm(34, 24, 200), 0.005, 50),
        ("one continuous harm, J = 12", lambda: continuous_harm(units), 0.001, 50),
        (
            "exact verdict rates, n = 254",
            lambda: verdict_rates(254, harm=0.05, discordance=0.3, tolerance=0.1),
            0.1,
            20,
        ),
        (
            "exact verdict rates, n = 1019",
            lambda: verdict_rates(1019, harm=0.02, discordance=0.3, tolerance=0.05),
            1.0,
            5,
        ),
        ("required units at alpha .05 / 12", lambda: required_units(0.18, sd=0.3, alpha=0.05 / 12), 0.02, 20),
    ]
    missed = 0
    print(f"{'what':<42}{'seconds':>10}{'to reach':>10}")
    for name, run, limit, repeats in cases:
        seconds = timed(run, repeats)
        missed += seconds > limit
        print(f"{name:<42}{seconds:>10.5f}{limit:>10.3f}{'' if seconds <= limit else '  MISSED'}")
    code = (
        "import time; t = time.perf_counter(); import pytest_swapgate.stats; print(time.perf_counter() - t)"
    )
    imports = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3)]
    print(f"{'import pytest_swapgate.stats (for the record)':<42}{median(imports):>10.5f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
