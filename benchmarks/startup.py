"""What the plugin adds to a run that has no gate: CPU of an empty `pytest -q`, with and without it.

    python benchmarks/startup.py              # 40 interleaved pairs of runs
    python benchmarks/startup.py --pairs 10   # a quick look

Both sides are the same command in the same environment, every other installed plugin blocked; the comparison blocks
ours too (`-p no:swapgate`). The order inside a pair alternates. Prints medians, their ratio and the milliseconds
added (median of the differences inside pairs, with its 95 % interval by order statistics). Whatever else a machine
does only adds to CPU time, so the quietest tenth of the runs of each side is compared as well. The exit code is 1 if
both figures are above 15 ms.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import distribution, entry_points
from pathlib import Path
from statistics import median

import pytest

REACH = 15.0


def cpu(folder: Path, *args: str) -> float:
    """CPU milliseconds, user and system, of one `pytest -q` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"pytest {' '.join(args)} ended with exit code {process.returncode}")
    return 1000 * (usage.ru_utime + usage.ru_stime)


def quietest(values: list[float]) -> float:
    """Mean of the lowest tenth."""
    lowest = sorted(values)[: max(1, len(values) // 10)]
    return sum(lowest) / len(lowest)


def middle_interval(values: list[float]) -> tuple[float, float]:
    """Interval of the median that holds with 95 % whatever the distribution: two order statistics."""
    ordered, n = sorted(values), len(values)
    cumulative, rank = 0.0, 0
    for k in range(n):
        cumulative += math.comb(n, k) / 2**n
        if cumulative > 0.025:
            break
        rank = k + 1
    return ordered[max(rank - 1, 0)], ordered[min(n - rank, n - 1)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=40, help="interleaved pairs of runs, >= 6")
    pairs = max(parser.parse_args().pairs, 6)
    others = [point.name for point in entry_points(group="pytest11") if point.name != "swapgate"]
    blocked = [f"-pno:{name}" for name in others]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (folder / "test_empty.py").write_text("def test_empty():\n    pass\n", encoding="utf-8")
        sides = {"with": blocked, "without": [*blocked, "-pno:swapgate"]}
        for args in sides.values():
            cpu(folder, *args)  # byte code
        measured: dict[str, list[float]] = {"with": [], "without": []}
        for pair in range(pairs):
            for side in ("with", "without") if pair % 2 else ("without", "with"):
                measured[side].append(cpu(folder, *sides[side]))
    added = [a - b for a, b in zip(measured["with"], measured["without"], strict=True)]
    low, high = middle_interval(added)
    middles = {side: median(values) for side, values in measured.items()}
    print(
        f"empty pytest -q, {pairs} interleaved pairs, Python {platform.python_version()}, pytest {pytest.__version__},"
    )
    print(
        f"pytest-swapgate {distribution('pytest-swapgate').version}, {len(others)} other plugins blocked on both sides"
    )
    print(f"  with     {middles['with']:7.1f} ms CPU (median)")
    print(
        f"  without  {middles['without']:7.1f} ms CPU (median)    ratio {middles['with'] / middles['without']:.3f}"
    )
    quiet = quietest(measured["with"]) - quietest(measured["without"])
    reached = min(median(added), quiet) <= REACH
    print(
        f"  added    {median(added):7.1f} ms CPU [{low:.1f}, {high:.1f}]; {quiet:.1f} ms between the quietest tenths"
    )
    print(f"  reach    {REACH:7.1f} ms: {'ok' if reached else 'SHORT'}")
    return int(not reached)


if __name__ == "__main__":
    sys.exit(main())
