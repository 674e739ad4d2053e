"""Speed, memory and accuracy of game values against coopgame-py and shapiq, ratios in one run.

    python benchmarks/games.py [--seed N] [--repeats N] [--shapiq-players N]

Whatever is not installed is left out (shapiq 1.8 needs Python 3.12 or later; so run this from such an
environment with numpy, scipy, coopgame-py and shapiq, and this package on the path).
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_swapgate.games import (
    Game,
    banzhaf,
    coalitions_needed,
    is_convex,
    is_monotone,
    is_superadditive,
    myerson,
    owen,
    regression_shapley,
    shapley,
)

N = 20
UNIONS = [list(range(4 * k, 4 * k + 4)) for k in range(5)]
PATH = [(i, i + 1) for i in range(N - 1)]
STAR = [(0, i) for i in range(1, N)]
COMPLETE = [(i, j) for i in range(N) for j in range(i + 1, N)]
PEAK = """
import sys
sys.path.insert(0, {root!r})
import numpy as np
from pytest_swapgate.games import shapley
def peak():  # unlike ru_maxrss, not inherited from the parent
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
table = np.random.default_rng(0).uniform(size=2**20)
before = peak()
shapley(table)
print(before, peak())
"""


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def seconds(runs: list[Callable[[], Any]], repeats: int) -> list[tuple[float, float]]:
    """Return (first, best) seconds of each, taking turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            times[k].append(time.perf_counter() - start)
    return [(t[0], min(t)) for t in times]


def speed(rng: np.random.Generator, repeats: int) -> None:
    table = rng.uniform(-1, 1, size=2**N)
    table[0] = 0.0
    ours = Game(table)
    print(
        f"{N} players, ms: best of {repeats} (first call); table = from a numpy array, game = from a game made before"
    )
    print(f"{'':34s}{'this package':>22s}{'coopgame-py':>22s}{'ratio':>9s}")
    cases: list[tuple[str, Callable[[Any], Any], str, tuple[Any, ...]]] = [
        ("Shapley", shapley, "shapley", ()),
        ("Banzhaf", banzhaf, "banzhaf", ()),
        ("Owen, 5 unions of 4", lambda game: owen(game, UNIONS), "owen", (UNIONS,)),
        ("Myerson, path", lambda game: myerson(game, PATH), "myerson", (PATH,)),
        ("Myerson, star", lambda game: myerson(game, STAR), "myerson", (STAR,)),
        ("Myerson, complete", lambda game: myerson(game, COMPLETE), "myerson", (COMPLETE,)),
    ]
    peer = None
    if installed("coopgame"):
        import coopgame

        peer = coopgame
    for name, value, peer_name, structure in cases:
        runs: list[Callable[[], Any]] = [lambda value=value: value(table), lambda value=value: value(ours)]
        if peer is not None:
            theirs = peer.Game(table[1:])
            run = getattr(peer, peer_name)
            runs += [
                lambda run=run, structure=structure: run(peer.Game(table[1:]), *structure),
                lambda run=run, theirs=theirs, structure=structure: run(theirs, *structure),
            ]
            difference = np.abs(np.asarray(value(ours)) - np.asarray(run(theirs, *structure))).max()
        measured = [(1e3 * first, 1e3 * best) for first, best in seconds(runs, repeats)]
        for k, kind in enumerate(("table", "game")):
            line = f"{name + ', ' + kind:34s}{measured[k][1]:12.3f} ({measured[k][0]:7.3f})"
            if peer is not None:
                other = measured[k + 2]
                line += f"{other[1]:12.3f} ({other[0]:7.3f}){other[1] / measured[k][1]:8.1f}x  |diff| {difference:.0e}"
            print(line)


def memory(rng: np.random.Generator) -> None:
    table = rng.uniform(size=2**N)
    tracemalloc.start()
    shapley(table)
    traced = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    print(
        f"\nexact Shapley, {N} players: {traced:.1f} MB allocated beside the table of {table.nbytes / 1e6:.1f} MB"
    )
    if Path("/proc/self/status").exists():
        root = str(Path(__file__).resolve().parents[1])
        code = PEAK.format(root=root)
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        before, peak = (int(word) / 1024 for word in out.stdout.split())
        print(f"peak of a fresh process {peak:.0f} MB; {before:.0f} MB of it interpreter, numpy and table")


def exact_shapiq(rng: np.random.Generator, n: int) -> None:
    if not installed("shapiq"):
        print("\nshapiq is not installed: no exact comparison, no LeverageSHAP")
        return
    from shapiq.game_theory import ExactComputer

    table = rng.uniform(size=2**n)
    powers = 1 << np.arange(n)
    (_, fast), (_, slow) = seconds(
        [lambda: shapley(table), lambda: ExactComputer(lambda rows: table[rows @ powers], n)("SV", order=1)],
        1,
    )
    print(
        f"\nexact Shapley, {n} players: {1e3 * fast:.2f} ms, shapiq {1e3 * slow:.0f} ms, {slow / fast:.0f}x"
    )


def test_games(n: int) -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(5)
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    masks = np.arange(2**n)
    total = np.zeros(2**n)
    for _ in range(50):
        needed = rng.integers(1, 2**n)
        total += rng.uniform(-1, 1) * (masks & needed == needed)
    yield "50 unanimity games", total
    yield "independent worths", rng.uniform(size=2**n)
    yield "any one succeeds", 1 - np.prod(1 - rng.uniform(0.05, 0.4, n) * bits, axis=1)
    weights = rng.integers(1, 10, n)
    yield "weighted majority", (bits @ weights > weights.sum() / 2).astype(float)
    yield "planner and workers", bits[:, 0] / (1 + np.exp(-(bits @ rng.normal(size=n))))
    yield "airport", (bits * np.arange(1, n + 1)).max(axis=1).astype(float)


def accuracy(repeats: int) -> None:
    """Compare the RMSE of leverage-score regression on noiseless 10-player games."""
    n = 10
    powers = 1 << np.arange(n)
    print(
        f"\nRMSE on noiseless {n}-player games, {repeats} repeats; ratio to shapiq's LeverageSHAP (reach: <= 1.25)"
    )
    worst = 0.0
    for name, table in test_games(n):
        truth = shapley(table)
        cells = []
        for budget in (64, 128, 256, 512):
            ours = np.array(
                [
                    regression_shapley(table, budget=budget, rng=np.random.default_rng(k)).values
                    for k in range(repeats)
                ]
            )
            error = float(np.sqrt(np.mean((ours - truth) ** 2)))
            cell = f"{budget}: {error:.5f}"
            if installed("shapiq"):
                from shapiq.approximator import LeverageSHAP

                theirs = []
                for k in range(repeats):
                    found = LeverageSHAP(n=n, random_state=k).approximate(
                        budget, lambda rows, table=table: table[rows @ powers]
                    )
                    theirs.append([found[(player,)] for player in range(n)])
                ratio = error / float(np.sqrt(np.mean((np.array(theirs) - truth) ** 2)))
                worst = max(worst, ratio)
                cell += f" ({ratio:.2f}x)"
            cells.append(cell)
        print(f"  {name:22s}" + "  ".join(cells))
    if worst:
        print(f"  largest ratio {worst:.2f}")


def checks(rng: np.random.Generator) -> None:
    size = np.array([bin(mask).count("1") for mask in range(2**16)], dtype=float)
    table = size**2 + rng.uniform(0, 0.1, size=2**16)
    table[0] = 0.0
    found = seconds(
        [lambda: is_superadditive(table), lambda: is_convex(table), lambda: is_monotone(table)], 2
    )
    print(
        "\n16 players: superadditive {:.0f} ms, convex {:.0f} ms, monotone {:.0f} ms".format(
            *(1e3 * b for _, b in found)
        )
    )
    print(
        f"coalitions: Owen, 20 players in 5 unions of 4: {coalitions_needed('owen', N, UNIONS):,}; "
        f"Myerson, path of 20: {coalitions_needed('myerson', N, edges=PATH):,}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=100, help="of each estimate")
    parser.add_argument("--shapiq-players", type=int, default=12, help="20 takes shapiq over a minute")
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    speed(rng, 9)
    memory(rng)
    exact_shapiq(rng, arguments.shapiq_players)
    accuracy(arguments.repeats)
    checks(rng)


if __name__ == "__main__":
    main()
