"""Gates under pytest-xdist: what crosses is text, and what does not arrive makes the run red."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_swapgate import gates

LEDGER = "swapgate"


class Workers:
    """Controller side. Registered only where xdist is loaded.

    Every node must hand over its ledger; a verdict that a worker took and the controller never saw in a report, or
    saw in a report of another outcome, is a problem of the run.
    """

    def __init__(self, session: gates.GateSession) -> None:
        self._session = session
        self._open: set[str] = set()
        self._outcomes: dict[str, str] = {}
        self.problems: list[str] = []

    @pytest.hookimpl
    def pytest_configure_node(self, node: Any) -> None:
        """Remember a worker when it starts."""
        self._open.add(node.gateway.id)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the outcome of each call."""
        if report.when == "call":
            self._outcomes[report.nodeid] = report.outcome

    @pytest.hookimpl
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Check a worker's ledger when it ends."""
        self._open.discard(node.gateway.id)
        text = getattr(node, "workeroutput", {}).get(LEDGER)
        if not isinstance(text, str):
            self.problems.append(
                f"worker {node.gateway.id} ended without its ledger{f' ({error})' if error else ''}"
            )
            return
        for nodeid, verdicts in json.loads(text).items():
            if nodeid not in self._session.reports:
                self.problems.append(f"{nodeid}: its verdict ({', '.join(verdicts)}) never arrived")
            elif "error" in verdicts and self._outcomes.get(nodeid) == "passed":
                self.problems.append(f"{nodeid}: an error was reported as passed")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Any:
        """Never end green with a problem: count it as a failed test."""
        result = yield
        self.problems.extend(f"worker {name} never ended" for name in sorted(self._open))
        if self.problems:
            session.testsfailed += len(self.problems)
        return result


def hand_over(config: pytest.Config, session: gates.GateSession) -> None:
    """Worker side: hand the ledger to the controller."""
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[LEDGER] = json.dumps(session.judged)
