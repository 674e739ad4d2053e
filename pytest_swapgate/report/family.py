"""All tests of a run as one family: p-values of harm adjusted by Holm, beside verdicts that were decided one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pytest_swapgate.gate.verdicts import GateReport, Row
from pytest_swapgate.stats import Verdict, holm

_MOST_LINES = 10
_ALPHA = 0.05
"""Level of a gate whose report does not know its own: another version wrote it."""


class _Tested(NamedTuple):
    adjusted: float
    line: str
    hinted: bool


def family_lines(reports: Sequence[GateReport], *, of: str = "this run") -> list[str]:
    """Return the Holm-adjusted p-values of all tests of harm as text, the smallest first.

    Parameters
    ----------
    reports
        Decided gates, in any order. A gate that several workers report counts once.
    of
        What the tests are of.

    Returns
    -------
    list of str
        Head, at most ten tests, and what is not shown; empty unless two gates have a test.
    """
    rows = {
        (report.nodeid, report.gate, row.metric): (report, row) for report in reports for row in report.rows
    }
    tested = [(report, row, row.p_harm) for report, row in rows.values() if row.p_harm is not None]
    if len({(report.nodeid, report.gate) for report, _, _ in tested}) < 2:
        return []  # a gate by itself has split its alpha over its metrics already
    # The node id breaks ties: workers report in any order.
    tested.sort(key=lambda each: (each[2], each[0].nodeid, each[0].gate, each[1].metric))
    adjusted = holm([p for _, _, p in tested])
    told = [_told(*each[:2], float(p), len(tested), of) for each, p in zip(tested, adjusted, strict=True)]
    kept = sorted(range(len(told)), key=lambda place: not told[place].hinted)[:_MOST_LINES]
    lines = [f"harm above zero, Holm-adjusted over the {len(told)} tests of {of}"]
    lines += [told[place].line for place in sorted(kept)]
    if len(told) > len(kept):
        lines.append(f"  and {len(told) - len(kept)} more")
    without = len(rows) - len(tested)
    if without:
        lines.append(f"  not counted: {without} without a p-value (sequential, stopped, or no spread seen)")
    return lines


def shown_p(p: float) -> str:
    """Write a p-value with its sign: ``= 0.210``, ``< 0.001``."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _told(report: GateReport, row: Row, adjusted: float, tests: int, of: str) -> _Tested:
    line = f"  p {shown_p(adjusted):<9}  {report.nodeid} {row.metric}"
    alpha = _ALPHA if report.alpha is None else report.alpha
    hinted = row.verdict is Verdict.FAIL and adjusted > alpha
    if hinted:
        # Metrics divide alpha already; this is the family whose share of alpha Bonferroni asks for.
        family = math.ceil(tests / len(report.rows))
        line += f": FAIL alone; over {of}'s tests it could be noise: declare family={family}"
    return _Tested(adjusted, line, hinted)
