"""A gate that a cap has stopped: the figures of what was played, and never a verdict but inconclusive.

What had been played when the money ran out is no planned sample, so nothing is decided on it, whatever it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from pytest_swapgate.gate import wording
from pytest_swapgate.gate.passk import common_size
from pytest_swapgate.gate.planning import MIN_UNITS
from pytest_swapgate.gate.tolerances import ActivePassK, Tolerance
from pytest_swapgate.gate.verdicts import GateError, GateReport, Row
from pytest_swapgate.models.registry import is_simulated
from pytest_swapgate.stats import Verdict
from pytest_swapgate.studies.paired import PairedResult

MakeRow = Callable[[PairedResult], Row]


def report_stopped(
    tolerance: Tolerance, result: PairedResult, rows: Mapping[str, MakeRow], *, nodeid: str
) -> GateReport:
    """Report a gate that ended before its plan.

    Parameters
    ----------
    rows
        Metric -> what forms its row of a result.
    """
    made, missing = _rows(tolerance, result, rows)
    return GateReport(
        gate=tolerance.marker,
        nodeid=nodeid,
        verdict=Verdict.INCONCLUSIVE,
        reason=wording.stopped_reason(result, made),
        rows=tuple(made),
        baseline=result.baseline,
        candidate=result.candidate,
        lines=wording.stopped_lines(tolerance, result, made, missing) if result.planned else (),
        simulated=any(map(is_simulated, result.models)),
    )


def _rows(
    tolerance: Tolerance, result: PairedResult, rows: Mapping[str, MakeRow]
) -> tuple[list[Row], list[str]]:
    """Return the rows that have an interval, and a line for each that has none."""
    units = len(result.units)
    if units < MIN_UNITS:
        return [], [_too_few(result, rows)] if units else []
    made, missing = [], []
    # The interval of a look is that of its own pairs, not of those that came after it.
    seen = replace(result, look_interval=None)
    for metric, make in rows.items():
        try:
            if isinstance(tolerance, ActivePassK):
                _check_active(tolerance.k, seen)
            row = _row(make, seen)
        except (GateError, ValueError) as error:
            missing.append(f"{metric}: no interval: {error}")
        else:
            # No planned sample, so no p-value either: a test at the moment the money ran out has no level.
            made.append(row.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "p_harm": None}))
    return made, missing


def _check_active(k: int, result: PairedResult) -> None:
    units = sum(common_size(replace(result, units=(unit,)), k) > 0 for unit in result.units)
    if units < MIN_UNITS:
        raise GateError(
            f"{wording.many(units, result.unit_word)} so far with {k} coordination-active trials of a task in both "
            f"arms, at least {MIN_UNITS} are needed"
        )


def _row(make: MakeRow, result: PairedResult) -> Row:
    try:
        return make(result)
    except (GateError, ValueError):
        if result.floor is None:
            raise
        return make(replace(result, floor=None))  # it may be the floor that cannot be formed


def _too_few(result: PairedResult, metrics: Mapping[str, MakeRow]) -> str:
    """Say what a handful of units show, and why that is all that can be said."""
    units, word = len(result.units), result.unit_word
    shown = []
    if "score" in metrics:
        shown.append(f"score harm {100 * float(np.mean(result.score_harms)):+.1f} pp")
    if "cost" in metrics:
        try:
            shown.append(f"cost {100 * math.expm1(float(np.mean(result.cost_harms))):+.0f} %")
        except ValueError as error:
            shown.append(str(error))
    figures = f" ({', '.join(shown)})" if shown else ""
    return f"{wording.many(units, word)} so far{figures}: no interval, at least {MIN_UNITS} are needed"
