"""Coverage of attribution intervals by simulation.

    python benchmarks/games_coverage.py [--quick] [--seed N]

A team of agents succeeds or fails at a task (Bernoulli). Tasks differ in difficulty and in which agents
they need; agents help each other in pairs, and two are redundant. Tasks are drawn with replacement from a large
population of tasks, so the truth is known: the value of the population's mean success rates.
Every utility is evaluated once a task and coalition, and reused wherever that coalition appears.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from pytest_swapgate.games import leave_one_out, myerson, owen, permutation_shapley, shapley, value_intervals

Array = NDArray[np.float64]
PLAYERS = 6
POPULATION = 4_000


def population(rng: np.random.Generator, n: int) -> Array:
    """Return success rates, shape (tasks, 2**n)."""
    bits = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
    ease = rng.normal(-1.0, 1.0, size=(POPULATION, 1))
    need = np.linspace(0.0, 1.0, n) + rng.normal(0, 0.5, size=(POPULATION, n))
    pairs = np.triu(rng.normal(0.0, 0.3, size=(n, n)), 1)
    redundant = -0.5 * bits[:, 0] * bits[:, 1]
    return expit(ease + need @ bits.T + np.einsum("si,ij,sj->s", bits, pairs, bits) + redundant)


def over_tasks(
    value: Callable[[Array], Array], rates: Array, tasks: int, repeats: int, rng: np.random.Generator
) -> Array:
    """Return how often each player's interval over tasks covers the truth, shape (n,)."""
    truth = value(rates.mean(axis=0))
    covered = np.zeros(truth.size)
    for _ in range(repeats):
        drawn = rates[rng.integers(0, POPULATION, size=tasks)]
        utilities = (rng.random(drawn.shape) < drawn).astype(float)
        bounds = np.array(value_intervals(value(utilities)))
        covered += (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
    return covered / repeats


def by_permutations(
    rates: Array, tasks: int, pairs: int, repeats: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return coverage of the two-way interval, and of the one that takes pairs for independent."""
    truth = shapley(rates.mean(axis=0))
    covered, naive = np.zeros(truth.size), np.zeros(truth.size)
    for _ in range(repeats):
        drawn = rates[rng.integers(0, POPULATION, size=tasks)]
        utilities = (rng.random(drawn.shape) < drawn).astype(float)
        result = permutation_shapley(utilities, pairs=pairs, rng=rng)
        bounds = np.array(result.intervals)
        covered += (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
        simple = permutation_shapley(utilities.mean(axis=0), pairs=pairs, rng=rng)
        limits = np.array(simple.intervals)
        naive += (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    return covered / repeats, naive / repeats


def show(name: str, coverage: Array, repeats: int, *, upper: float = 0.97) -> None:
    error = np.sqrt(0.05 * 0.95 / repeats)
    verdict = "ok" if 0.94 - error <= coverage.mean() <= upper + error else "OUT"
    print(
        f"{name:44s} {coverage.mean():.4f}   players {coverage.min():.4f} to {coverage.max():.4f}   {verdict}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the repeats")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    repeats = 800 if arguments.quick else 8_000
    rates = population(rng, PLAYERS)
    unions = [[0, 1, 2], [3, 4], [5]]
    star = [(0, i) for i in range(1, PLAYERS)]
    values: dict[str, Callable[[Array], Array]] = {
        "shapley": shapley,
        "owen": lambda table: owen(table, unions),
        "myerson": lambda table: myerson(table, star),
        "leave_one_out": leave_one_out,
    }
    print(
        "mean success by team size: "
        + ", ".join(f"{rates.mean(axis=0)[2**k - 1]:.2f}" for k in range(PLAYERS + 1))
    )
    print(f"{PLAYERS} agents, Bernoulli utilities, nominal .95, {repeats} repeats, target .94-.97")
    for name, value in values.items():
        for tasks in (5, 20, 100):
            upper = (
                1.0 if name == "leave_one_out" else 0.97
            )  # Tango with one trial a task: safe, wide at 5 tasks
            show(
                f"{name}, {tasks} tasks", over_tasks(value, rates, tasks, repeats, rng), repeats, upper=upper
            )
    repeats //= 4
    print(f"\nantithetic permutations, cached noisy utilities, {repeats} repeats")
    for tasks in (5, 20, 100):
        covered, naive = by_permutations(rates, tasks, 32, repeats, rng)
        show(f"32 pairs x {tasks} tasks, two-way", covered, repeats)
        print(f"{'  same data, pairs taken for independent':44s} {naive.mean():.4f}")


if __name__ == "__main__":
    main()
