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

    @pytest.hookimpl
    def pytest_configure_node(self, node: Any) -> None:
        """Remember a worker when it starts."""
        self._open.add(node.gateway.id)

    @pytest.hookimpl
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Check a worker's ledger when it ends."""
        self._open.discard(node.gateway.id)
        text = getattr(node, "workeroutput", {}).get(LEDGER)
        if isinstance(text, str):
            gates.check_ledger(self._session, json.loads(text))
        else:
            self._miss(node.gateway.id, error)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Any:
        """Miss the workers that never ended; the problems are counted further out."""
        result = yield
        for name in sorted(self._open):
            self._miss(name, None)
        return result

    def _miss(self, worker: str, error: object) -> None:
        why = f" ({error})" if error else ""
        self._session.problems.append(
            f"worker {worker} ended without its ledger{why}: what its gates decided is not known; "
            "run without -n to see why"
        )


def hand_over(config: pytest.Config, session: gates.GateSession) -> None:
    """Worker side: hand the ledger to the controller."""
    config.workeroutput[LEDGER] = json.dumps(session.judged)  # type: ignore[attr-defined]
