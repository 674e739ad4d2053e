"""What a calibration row is, how it is judged, printed and stored; shared by every calibration script."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Row:
    """One line: what was simulated, what it should be, what it is."""

    section: str
    what: str
    nominal: str
    measured: float
    error: float
    """Monte-Carlo standard error; 0 where every case was enumerated."""
    ok: bool


Judge = tuple[str, Callable[[float, float], bool]]


def at_most(limit: float, *, shown: str = "") -> Judge:
    """Not above the limit by more than three Monte-Carlo errors."""
    return shown or f"<= {limit:.4g}", lambda x, e: x <= limit + 3 * e


def at_least(limit: float, *, shown: str = "") -> Judge:
    """Not below the limit by more than three Monte-Carlo errors."""
    return shown or f">= {limit:.4g}", lambda x, e: x >= limit - 3 * e


def between(low: float, high: float) -> Judge:
    """Inside a range, give or take three Monte-Carlo errors."""
    return f"{low:.4g} to {high:.4g}", lambda x, e: low - 3 * e <= x <= high + 3 * e


def near(value: float, relative: float) -> Judge:
    """Within a relative distance, give or take three Monte-Carlo errors."""
    return f"{value:.4g} +- {relative:.0%}", lambda x, e: abs(x - value) <= relative * value + 3 * e


def row(section: str, what: str, judge: Judge, measured: float, error: float = 0.0) -> Row:
    nominal, good = judge
    return Row(section, what, nominal, float(measured), float(error), bool(good(measured, error)))


def rate(section: str, what: str, judge: Judge, hits: np.ndarray | Sequence[bool]) -> Row:
    """Make a row whose figure is the share of true values."""
    array = np.asarray(hits, dtype=float)
    p = float(array.mean())
    # the error of a share of 0 or 1 is not 0
    spread = max(p * (1 - p), 1 / array.size)
    return row(section, what, judge, p, math.sqrt(spread / array.size))


def share(section: str, what: str, judge: Judge, p: float, runs: int) -> Row:
    """Make a row whose figure is a share of a known number of runs."""
    return row(section, what, judge, p, math.sqrt(max(p * (1 - p), 1 / runs) / runs))


def mean(section: str, what: str, judge: Judge, values: np.ndarray) -> Row:
    """Make a row whose figure is a mean."""
    array = np.asarray(values, dtype=float)
    return row(section, what, judge, float(array.mean()), float(array.std(ddof=1) / math.sqrt(array.size)))


def as_table(rows: Iterable[Row]) -> str:
    """Markdown tables, one per section."""
    lines: list[str] = []
    section = None
    for r in rows:
        if r.section != section:
            section = r.section
            lines += [
                "",
                f"## {section}",
                "",
                "| what | nominal | measured | MC error | |",
                "|---|---|---|---|---|",
            ]
        digits = 1 if abs(r.measured) >= 20 else 2 if abs(r.measured) >= 2 else 4
        error = "exact" if r.error == 0 else f"{r.error:.{digits}f}"
        verdict = "ok" if r.ok else "**short**"
        lines.append(f"| {r.what} | {r.nominal} | {r.measured:.{digits}f} | {error} | {verdict} |")
    return "\n".join(lines)


def save_rows(path: Path, rows: Iterable[Row]) -> None:
    """Store rows for `calibration.py --extra`."""
    path.write_text(json.dumps([asdict(r) for r in rows], indent=1) + "\n", encoding="utf-8")


def load_rows(path: Path) -> list[Row]:
    """Rows stored by another calibration script."""
    return [Row(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
