"""Simulate the shipped statistics and print whether they keep the error rates they promise.

    python benchmarks/calibration.py                             the full run, under 15 minutes on 2 cores
    python benchmarks/calibration.py --quick                     under a minute
    python benchmarks/calibration.py --out docs/calibration.md   keep the output

Every row is one figure: what it should be, what it is, the Monte-Carlo error, ok or short. The exit code is 1 if any
row is short. Rows of other scripts (saved with `calibration_base.save_rows`) are appended with --extra.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import calibration_binary
import calibration_sequential
import calibration_units
import numpy as np
import scipy
from calibration_base import Row, as_table, load_rows

PARTS = (
    calibration_binary.intervals,
    calibration_binary.planned,
    calibration_binary.with_drift,
    calibration_binary.families,
    calibration_binary.reestimation,
    calibration_units.few_units,
    calibration_units.several_trials,
    calibration_units.crossed,
    calibration_units.resampled,
    calibration_sequential.looks,
    calibration_sequential.bets,
    calibration_sequential.monitors,
)


def run_part(number: int, seed: int, runs: int) -> tuple[list[Row], float]:
    start = time.perf_counter()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    return PARTS[number](rng, runs), time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--quick", action="store_true", help="fewer runs: under a minute, wider Monte-Carlo errors"
    )
    parser.add_argument("--seed", type=int, default=20_269, help="root seed (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--out", type=Path, help="also write the report to this Markdown file")
    parser.add_argument(
        "--extra", type=Path, action="append", default=[], help="rows saved by another script"
    )
    options = parser.parse_args()
    runs = 2_000 if options.quick else 40_000
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        done = list(pool.map(run_part, range(len(PARTS)), [options.seed] * len(PARTS), [runs] * len(PARTS)))
    rows = [r for part, _ in done for r in part]
    for path in options.extra:
        rows += load_rows(path)
    short = sum(not r.ok for r in rows)
    command = "python benchmarks/calibration.py" + (" --quick" if options.quick else "")
    head = (
        "# Calibration\n\n"
        f"Made by `{command} --seed {options.seed}`: {len(rows)} rows, {short} short,\n"
        f"up to {runs:,} simulated gates a row. "
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}.\n\n"
        "A row is ok if it keeps its nominal figure within three Monte-Carlo errors; `exact` means that every\n"
        "possible outcome was enumerated. M is the declared tolerance, H the true harm, pd the share of\n"
        "discordant pairs. The grid of the intervals is pd .1, .2, .3, .4, .5 by H 0, .05, .1, .15, .2, H < pd."
    )
    report = head + "\n" + as_table(rows) + "\n"
    print(report)
    slowest = sorted(
        ((seconds, f.__name__) for f, (_, seconds) in zip(PARTS, done, strict=True)), reverse=True
    )
    print(
        f"{time.perf_counter() - start:.0f} s;",
        ", ".join(f"{name} {seconds:.0f} s" for seconds, name in slowest),
    )
    if options.out:
        options.out.write_text(report, encoding="utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
