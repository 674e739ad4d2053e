"""What the ledger of gates says, checked before it is believed, and as text."""

from __future__ import annotations

from typing import NamedTuple

from pytest_swapgate.evidence import EvidenceError, EvidenceStore, VerdictRecord, lookup
from pytest_swapgate.evidence.skips import SKIPPED, skip_reason
from pytest_swapgate.gate.verdicts import GateReport
from pytest_swapgate.report.terminal import render

_WIDTH = 100


class Told(NamedTuple):
    """What is told of a gate.

    Attributes
    ----------
    word
        Its verdict, ``error``, or ``skipped``.
    block
        Lines for the reader.
    simulated
        Whether it rests on a simulated model.
    at
        When it was recorded; empty if it was not.
    report
        What was recorded of its decision; None if there is none that can be used.
    """

    word: str
    block: str
    simulated: bool = False
    at: str = ""
    report: GateReport | None = None


def sound_verdicts(store: EvidenceStore) -> tuple[VerdictRecord, ...]:
    """Return all verdicts and skips, oldest first; refuse a ledger that is damaged."""
    for problem in lookup.ledger_problems(store):
        raise EvidenceError(f"{problem}; restore the file or name another path")
    return store.verdicts()


def told(record: VerdictRecord) -> Told:
    """Return what a record tells; an error that says so if it cannot be read."""
    try:
        if record.verdict == SKIPPED:
            return _skipped(record)
        report = GateReport.model_validate_json(record.summary)
        if (report.nodeid, str(report.verdict)) == (record.gate, record.verdict):
            return Told(record.verdict, render(report), report.simulated, record.at, report)
        why = f"the ledger says {record.verdict!r}, its report {report.verdict!s} of {report.nodeid}"
    except ValueError:
        why = "another version of pytest-swapgate wrote it, or it is damaged"
    return broken(record.gate, f"the record of its verdict cannot be used: {why}")


def broken(gate: str, reason: str) -> Told:
    """Return what is told of a gate that has no verdict and was not skipped."""
    report = GateReport(gate="swapgate", nodeid=gate, verdict="error", reason=reason)
    return Told("error", render(report))


def _skipped(record: VerdictRecord) -> Told:
    head = f"swapgate  {record.gate}"
    reason = f"skipped before any comparison was asked for: {skip_reason(record) or 'no reason given'}"
    block = f"{head}  {SKIPPED.upper():>{max(0, _WIDTH - 2 - len(head))}}\n  {reason}"
    return Told(SKIPPED, block, at=record.at)
