"""A gate as text for a terminal."""

from __future__ import annotations

from pytest_swapgate.gate.verdicts import GateReport, Row
from pytest_swapgate.gate.wording import bounds, share
from pytest_swapgate.stats import Verdict

_WIDTH = 100


def render(report: GateReport) -> str:
    """Return the block of one gate: head, one line a metric, what the reader must know beside it."""
    head = f"{report.gate}  {report.nodeid}"
    word = _word(report.verdict)
    lines = [f"{head}{' ' * max(2, _WIDTH - len(head) - len(word))}{word}"]
    if report.baseline:
        lines.append(f"  {report.candidate} against {report.baseline}")
    lines.extend(_row(row) for row in report.rows)
    if not report.rows and report.reason:
        lines.append(f"  {report.reason}")
    lines.extend(f"  {line}" for line in report.lines)
    return "\n".join(lines)


def headline(report: GateReport) -> str:
    """Return one line: gate, verdict, reason."""
    return f"{report.gate} {_word(report.verdict)}: {report.reason}"


def _word(verdict: Verdict | str) -> str:
    return str(verdict) if verdict == Verdict.PASS else str(verdict).upper()


def _row(row: Row) -> str:
    unit = "%" if row.metric == "cost" else "pp"
    estimate = f"{share(row, row.harm, sign=True):>9}"
    floor = "floor not measured" if row.floor is None else f"floor {share(row, row.floor)}"
    body = f"  {row.metric:<7}harm {estimate}  {bounds(row):<16}  tolerance {100 * row.tolerance:g} {unit}"
    body = f"{body:<70}{floor}"
    word = _word(row.verdict)
    return f"{body}{' ' * max(2, _WIDTH - len(body) - len(word))}{word}"
