"""Gates under pytest-xdist: what crosses is text, and what does not arrive makes the run red."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_swapgate import gates

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_swapgate.gates.showing import Showing
    from pytest_swapgate.gates.stopping import StopSign

LEDGER = "swapgate"


class Workers:
    """Controller side. Registered only where xdist is loaded.

    Every node must hand over its ledger; a verdict that a worker took and the controller never saw in a report, or
    saw in a report of another outcome, is a problem of the run.
    """

    def __init__(self, session: gates.GateSession) -> None:
        self._session = session
        self._open: set[str] = set()
        self._folder: Path | None = None
        self._showing: Showing | None = None
        self._sign: StopSign | None = None

    @pytest.hookimpl
    def pytest_configure_node(self, node: Any) -> None:
        """Remember a worker when it starts, and tell it where to say how far it is, and to hear when to stop."""
        if not self._open and self._folder is None:
            self._share_folder(node.config)
        self._open.add(node.gateway.id)
        if node.gateway.spec.popen:  # others do not share our folders
            if self._showing is not None:
                node.workerinput[gates.SHARED] = str(self._showing.file(node.gateway.id))
            if self._sign is not None:
                node.workerinput[gates.SIGN] = str(self._sign.file)
        dist = str(node.config.getoption("dist", ""))
        node.workerinput[gates.RUN] = {"name": self._session.run, "dist": dist}

    @pytest.hookimpl
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Check a worker's ledger when it ends."""
        self._open.discard(node.gateway.id)
        if self._showing is not None:
            self._showing.end(node.gateway.id)
        text = getattr(node, "workeroutput", {}).get(LEDGER)
        try:
            handed = json.loads(text or "")
            self._session.ledger += gates.entries_from(handed["gates"])
            self._session.remark(handed["remarks"])
        except (TypeError, KeyError, ValueError):
            self._miss(node.gateway.id, error)

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Stop what workers play where xdist will run nothing further."""
        if self._sign is not None:
            self._sign.count(report.failed)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Any:
        """Miss the workers that never ended; the problems are counted further out."""
        try:
            result = yield
        except BaseException as error:
            if self._sign is not None:
                self._sign.show("the run was stopped")
            if isinstance(error, pytest.exit.Exception):  # with whatever exit status
                self._miss_open()
            raise
        finally:
            if self._showing is not None:
                self._showing.stop()
        self._miss_open()
        return result

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        """Take away what workers wrote."""
        if self._showing is not None:
            self._showing.stop()
        if self._folder is not None:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)

    def _share_folder(self, config: pytest.Config) -> None:
        import tempfile
        from pathlib import Path

        from pytest_swapgate.gates.stopping import StopSign

        try:
            self._folder = Path(tempfile.mkdtemp(prefix="swapgate-"))
        except OSError:  # nothing is shown, and workers finish what they are in
            return
        self._sign = StopSign(self._folder / "stop", int(config.getoption("maxfail", 0) or 0))
        if not self._session.quiet:
            from pytest_swapgate.gates.showing import show_workers

            self._showing = show_workers(config, self._folder)

    def _miss_open(self) -> None:
        for name in sorted(self._open):
            self._miss(name, None)
        self._open.clear()

    def _miss(self, worker: str, error: object) -> None:
        why = f" ({error})" if error else ""
        self._session.problems.append(
            f"worker {worker} ended without its ledger{why}: what its gates decided is not known; "
            "run without -n to see why"
        )


def hand_over(config: pytest.Config, session: gates.GateSession) -> None:
    """Worker side: hand the ledger to the controller."""
    text = json.dumps({"gates": gates.own_entries(session), "remarks": session.remarks})
    config.workeroutput[LEDGER] = text  # type: ignore[attr-defined]
