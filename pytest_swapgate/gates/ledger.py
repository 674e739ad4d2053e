"""What crosses from a gate to the controller, and what is red because it did not arrive as it was sent.

Reports can be changed or dropped by any plugin on their way. What counts is the ledger that each process keeps of its
own gate tests; reports only say what the reader was told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from pytest_swapgate.gates.gate_test import TEST, GateTest
from pytest_swapgate.gates.state import GateSession
from pytest_swapgate.markers import GATE_MARKERS

PROPERTY = "pytest-swapgate:reports"
"""Key of a gate's reports in ``user_properties``: one JSON text, nothing else crosses between processes."""
STUDY_PROPERTY = "pytest-swapgate:study"
"""Key of a study's table in ``user_properties``, text."""

LATE = (
    "paired_runner was called after the verdict of this gate had been taken, in the teardown of a fixture or later: "
    "compare in the test, or in a fixture before it"
)


class Entry(NamedTuple):
    """What one gate test came to in the process that ran it.

    Attributes
    ----------
    nodeid
        Which test.
    verdicts
        Words of its verdicts; empty where none was taken.
    asked
        Whether a comparison was asked for.
    expected
        Whether an xfail was declared before that.
    late
        Whether one was asked for after its verdict, and nothing of it has been reported.
    """

    nodeid: str
    verdicts: tuple[str, ...] = ()
    asked: bool = False
    expected: bool = False
    late: bool = False

    def red(self, inconclusive: str) -> bool:
        """Whether it must not end green, given what is to become of the inconclusive."""
        words = {"error", "fail"} | ({"inconclusive"} if inconclusive == "fail" else set())
        return self.late or bool(words & set(self.verdicts)) or (self.asked and not self.verdicts)

    @property
    def what(self) -> str:
        """What it came to, in words that a sentence can begin with."""
        if self.verdicts:
            return f"its verdict {', '.join(self.verdicts)}"
        return "its comparison, begun and never judged," if self.asked else "a gate without a verdict"


def entry_of(nodeid: str, test: GateTest) -> Entry:
    """Return what a gate test came to."""
    late = test.late > 0 and "error" not in test.verdicts
    return Entry(nodeid, tuple(test.verdicts), test.asked > 0, test.expected, late)


def own_entries(session: GateSession) -> list[Entry]:
    """Return what the gate tests of this process came to."""
    return [entry_of(nodeid, test) for nodeid, test in session.tests]


def entries_from(handed: Iterable[object]) -> list[Entry]:
    """Return the entries that a worker has handed over.

    Raises
    ------
    ValueError
        If they are not what was sent.
    """
    entries = []
    for each in handed:
        if not isinstance(each, list) or len(each) != len(Entry._fields):
            raise ValueError("not the entry of a ledger")
        nodeid, verdicts, *flags = each
        if not (isinstance(nodeid, str) and isinstance(verdicts, list)):
            raise ValueError("not the entry of a ledger")
        entries.append(Entry(nodeid, tuple(map(str, verdicts)), *map(bool, flags)))
    return entries


def publish(item: pytest.Item, texts: list[str], verdicts: list[str]) -> None:
    """Put a gate's reports where the controller finds them, after those that are there."""
    test = item.stash[TEST]
    test.verdicts += verdicts
    test.reports += texts
    item.user_properties[:] = [pair for pair in item.user_properties if pair[0] != PROPERTY]
    item.user_properties.append((PROPERTY, json.dumps(test.reports)))


def told(report: pytest.TestReport) -> str:
    """Return what a report says: pytest's outcome, or that an xfail made something else of it."""
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.passed else "xfailed"
    return str(report.outcome)


def collect(session: GateSession, report: pytest.TestReport) -> None:
    """Take a gate's reports out of a test report (in the controller, or in a run without workers)."""
    for table in _properties(report, STUDY_PROPERTY):
        session.studies[report.nodeid] = table
    if "swapgate" not in report.keywords or not any(name in report.keywords for name in GATE_MARKERS):
        return
    if report.skipped:
        session.skipped.add(report.nodeid)
    if (report.when == "call" or not report.passed) and session.outcomes.get(report.nodeid) != "failed":
        session.outcomes[report.nodeid] = told(report)
    for text in _properties(report, PROPERTY):
        texts = _reports(text, report.nodeid)
        if texts:
            session.reports[report.nodeid] = texts


def _properties(report: pytest.TestReport, name: str) -> Iterator[str]:
    for pair in report.user_properties:
        if isinstance(pair, tuple | list) and len(pair) == 2 and pair[0] == name and isinstance(pair[1], str):
            yield pair[1]


def _reports(text: str, nodeid: str) -> list[str]:
    """Return the gate's reports in a property; none if it is not one of ours."""
    from pytest_swapgate.gate.verdicts import GateReport

    try:
        texts = json.loads(text)
        reports = [GateReport.model_validate_json(each) for each in texts]
    except (TypeError, ValueError):
        return []
    return texts if all(report.nodeid == nodeid for report in reports) else []


_OF_TEAMS = r"(intact|placebo|swap|swap_cleared|amnesia|naive|replace)\(.*\)"


def check_replacements(session: GateSession) -> None:
    """Note a replacement of the command line that no gate has tried: green would say nothing about it."""
    tried = {json.loads(text)["candidate"] for texts in session.reports.values() for text in texts}
    if any(candidate and not re.fullmatch(_OF_TEAMS, candidate) for candidate in tried):
        return  # a project's own functions may have read the option
    for seat, model in session.settings.replacements.items():
        if f"replace({seat}, model={model})" not in tried:
            session.problems.append(
                f"--swapgate-replace {seat}={model}: no gate of this run tried it; compare with "
                "formed_teams.replace() in one"
            )


def check_ledger(session: GateSession) -> None:
    """Note everything that gates came to and that did not arrive, or arrived as something else."""
    for entry in session.ledger:
        problem = _problem(session, entry)
        if problem:
            session.problems.append(f"{entry.nodeid}: {problem}")


def must_be_red(session: GateSession) -> list[Entry]:
    """Return what no run may end green with, whatever was reported of it."""
    red = (entry for entry in session.ledger if entry.red(session.settings.inconclusive))
    return [entry for entry in red if not _announced(session, entry)]


def announced(session: GateSession) -> list[str]:
    """Return the node ids of gates that are red and do not fail the run, because an xfail had announced it."""
    red = (entry for entry in session.ledger if entry.red(session.settings.inconclusive))
    return [entry.nodeid for entry in red if _announced(session, entry)]


def _announced(session: GateSession, entry: Entry) -> bool:
    return entry.expected and session.outcomes.get(entry.nodeid) == "xfailed"


def _problem(session: GateSession, entry: Entry) -> str:
    outcome = session.outcomes.get(entry.nodeid)
    arrived = tuple(json.loads(text)["verdict"] for text in session.reports.get(entry.nodeid, ()))
    if not entry.verdicts:
        if outcome is None:
            return "a comparison was begun and never judged: its test was stopped" if entry.asked else ""
        if outcome == "passed" or (entry.asked and outcome != "failed" and not _announced(session, entry)):
            return f"{entry.what} was reported as {outcome}"
        return ""
    if outcome is None or not arrived:
        return f"{entry.what} never arrived"
    if entry.late:
        return f"{LATE}; nothing was played for it"
    if entry.red(session.settings.inconclusive) and outcome != "failed" and not _announced(session, entry):
        return f"{entry.what} was reported as {outcome}"
    return f"{entry.what} arrived as {', '.join(arrived)}" if arrived != entry.verdicts else ""
