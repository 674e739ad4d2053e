"""What a gate reports: rows, verdict, sizes, who pays. Plain values only, so that it survives any transport."""

from __future__ import annotations

from typing import Literal

from pytest_swapgate.stats import Verdict
from pytest_swapgate.teams.frozen import Frozen


class GateError(Exception):
    """A gate that cannot decide because something is wrong: nothing measured, nothing changed, no honest outcome."""


class Row(Frozen):
    """One metric of a gate.

    Attributes
    ----------
    metric
        ``score``, ``cost`` or ``pass^k``.
    harm, low, high
        Estimate and decision interval: a share for score and pass^k, a relative rise for cost.
    tolerance
        Declared, in the same unit.
    floor
        Harm that identical arms of this size exceed by chance, in the same unit; None if not measured.
    verdict
        Of this metric.
    detectable
        Smallest harm that a sample of this size and spread detects with the declared power; None if unknown.
    note
        Anything the reader must know about this row.
    p_harm
        One-sided p-value of "harm <= 0", which the FAIL side tests; None where there is none (a sequential or stopped
        gate, a row that no verdict may be taken from, no spread seen) or an older version wrote the report.
    """

    metric: str
    harm: float
    low: float
    high: float
    tolerance: float
    floor: float | None = None
    verdict: Verdict
    detectable: float | None = None
    note: str = ""
    p_harm: float | None = None


class GateReport(Frozen):
    """One gate, decided.

    Attributes
    ----------
    gate
        Name of the marker.
    nodeid
        Test that declared it.
    verdict
        ``pass``, ``fail``, ``inconclusive``, or ``error`` when the gate itself broke.
    reason
        One line: why.
    rows
        One a metric.
    baseline, candidate
        Names of the arms.
    lines
        Further lines for the reader, in order: sizes, who pays, power, money.
    simulated
        Whether the verdict rests on a simulated model.
    alpha
        Level that was declared, before it was split; None if nothing was decided or an older version wrote the report.
    """

    gate: str
    nodeid: str
    verdict: Verdict | Literal["error"]
    reason: str
    rows: tuple[Row, ...] = ()
    baseline: str = ""
    candidate: str = ""
    lines: tuple[str, ...] = ()
    simulated: bool = False
    alpha: float | None = None
