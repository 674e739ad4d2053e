"""What no other plugin, conftest.py or test can take back: a red gate is reported red, and its run ends red."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pytest_swapgate import markers
from pytest_swapgate.gates.gate_test import TEST, GateTest
from pytest_swapgate.gates.ledger import Entry, check_ledger, entry_of, must_be_red, own_entries, told
from pytest_swapgate.gates.state import GateSession, stop

_GREEN = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


class Guard:
    """Has the last word on reports and on the exit status; registered after every other plugin."""

    def __init__(self, session: GateSession) -> None:
        self._session = session
        self._settled = False

    def settle(self) -> None:
        """Compare the ledgers with what was reported, once, when all of both is there."""
        if not self._settled:
            self._settled = True
            self._session.ledger += own_entries(self._session)
            check_ledger(self._session)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        """Report a gate as red that would have been reported as something milder."""
        report: pytest.TestReport = yield
        test = item.stash.get(TEST, None)
        if test is None:
            if report.when == "call" and report.passed and markers.is_gate(item):
                _insist(item, report, Entry(item.nodeid), "")
        elif _ended(test, report):
            entry = entry_of(item.nodeid, test)
            if entry.red(self._session.settings.inconclusive) or (report.passed and not entry.verdicts):
                _insist(item, report, entry, test.first)
            _keep_headlines(report, test.first)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Any:
        """Let no run with a red gate end green, whoever set its exit status, and say which gate it was."""
        if self._session.worker:
            return (yield)
        self.settle()
        self._hold(session)
        try:
            return (yield)
        except pytest.exit.Exception as error:
            if error.returncode is not None:
                session.exitstatus = error.returncode
                self._hold(session)
                error.returncode = int(session.exitstatus)
            raise
        finally:
            self._hold(session)
            for problem in self._session.problems[self._session.said :]:  # no summary, or too late for it
                print(f"swapgate problem: {problem}", file=sys.stderr)

    def _hold(self, session: pytest.Session) -> None:
        if session.exitstatus not in _GREEN:
            return
        problems = self._session.problems
        for entry in must_be_red(self._session):
            if not any(problem.startswith(f"{entry.nodeid}: ") for problem in problems):
                problems.append(
                    f"{entry.nodeid}: {entry.what} was red, and a plugin, a conftest.py or a test had set the exit "
                    f"status to {int(session.exitstatus)}; it is {int(pytest.ExitCode.TESTS_FAILED)} again"
                )
        if problems:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _ended(test: GateTest, report: pytest.TestReport) -> bool:
    """Whether a report is of the phase in which a gate ended; while a body runs, there may be reports of its parts."""
    return test.late > 0 if report.when == "teardown" else test.over


def _keep_headlines(report: pytest.TestReport, first: str) -> None:
    # The block is in the failure's text and in the summary. Where pytest shortens nothing (CI, -vv), its "short test
    # summary" would print it for a third time, and a JUnit file's message attribute would hold it.
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and first and crash.message.startswith(f"Failed: {first}"):
        crash.message = crash.message.partition("\n\n")[0]


def _insist(item: pytest.Item, report: pytest.TestReport, entry: Entry, first: str) -> None:
    word = told(report)
    if word == "failed" or (word == "xfailed" and entry.expected):
        return
    why = (
        f"swapgate: {entry.what} was made {word} by a plugin, a conftest.py or the test itself; only an xfail that is "
        "declared before the first comparison of a gate may do that"
    )
    try:
        stop(f"{first}\n{why}" if first else why)
    except pytest.fail.Exception:
        report.longrepr = item.repr_failure(pytest.ExceptionInfo.from_current())
    report.outcome = "failed"
    if hasattr(report, "wasxfail"):
        del report.wasxfail
