"""What the plugin keeps of a session and of each gate test, and how a gate is judged after its body."""

from __future__ import annotations

import json
import uuid
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_swapgate import markers
from pytest_swapgate.settings import Settings

if TYPE_CHECKING:
    from pytest_swapgate.evidence import EvidenceStore
    from pytest_swapgate.gate.paired_runner import PairedRunner
    from pytest_swapgate.gate.tolerances import Tolerance
    from pytest_swapgate.gate.verdicts import GateReport
    from pytest_swapgate.runner import Purse

PROPERTY = "swapgate"
"""Key of the gate's report in ``user_properties``: one JSON text, nothing else crosses between processes."""


class SwapgateWarning(pytest.PytestWarning):
    """An inconclusive gate under ``--swapgate-inconclusive warn``."""


@dataclass
class GateSession:
    """State of one pytest session (one per xdist worker).

    Attributes
    ----------
    settings
        Resolved options.
    run
        Name of the run, shared by all workers.
    root
        The project's root folder.
    reports
        Controller: node id -> JSON texts of its gates, in order of arrival.
    judged
        This process: node id -> verdict words, for the ledger that workers hand over.
    """

    settings: Settings
    run: str
    root: Path
    arguments: tuple[str, ...]
    reports: dict[str, list[str]] = field(default_factory=dict)
    judged: dict[str, list[str]] = field(default_factory=dict)
    _store: EvidenceStore | None = None
    _purse: Purse | None = None

    @property
    def store(self) -> EvidenceStore:
        """The evidence file, opened on first use."""
        if self._store is None:
            from pytest_swapgate.evidence import EvidenceError, EvidenceStore

            try:
                self._store = EvidenceStore.open(self.root / self.settings.evidence)
            except EvidenceError as error:
                pytest.fail(f"swapgate: {error}", pytrace=False)
        return self._store

    @property
    def purse(self) -> Purse:
        """The caps of this process."""
        if self._purse is None:
            from pytest_swapgate.runner import Purse

            self._purse = Purse(usd=self.settings.budget, episodes=self.settings.max_episodes)
        return self._purse

    def close(self) -> None:
        """Close the evidence file."""
        if self._store is not None:
            self._store.close()
            self._store = None


SESSION = pytest.StashKey[GateSession]()


@dataclass
class GateTest:
    """State of one gate test, kept over attempts.

    Attributes
    ----------
    tolerances
        What its markers declare.
    runner
        The paired runner that it was given, if any.
    attempts
        How often it was started in this process.
    first
        Message of the first attempt, once it ended badly.
    """

    tolerances: tuple[Tolerance, ...]
    runner: PairedRunner | None = None
    attempts: int = 0
    first: str = ""


TEST = pytest.StashKey[GateTest]()


def new_session(config: pytest.Config, settings: Settings) -> GateSession:
    """Make the state of a session; workers take the controller's run name."""
    worker = getattr(config, "workerinput", None)
    run = worker["testrunuid"] if worker else uuid.uuid4().hex
    return GateSession(
        settings=settings,
        run=run,
        root=config.rootpath,
        arguments=tuple(str(argument) for argument in config.invocation_params.args),
    )


def check_markers(item: pytest.Item) -> tuple[Tolerance, ...]:
    """Return a test's tolerances; a bad argument fails with one line that names the test."""
    from pytest_swapgate.gate.tolerances import ToleranceError

    try:
        return markers.tolerances_of(item)
    except ToleranceError as error:
        pytest.fail(f"{item.nodeid}: {error}", pytrace=False)


def start(item: pytest.Item) -> None:
    """Prepare a gate test; refuse a second attempt.

    A gate is decided once: a rerun would double its chance of turning green on harm.
    """
    session = item.config.stash[SESSION]
    test = item.stash.get(TEST, None)
    if test is None:
        test = item.stash.setdefault(TEST, GateTest(check_markers(item)))
    test.attempts += 1
    test.runner = None
    attempt = max(test.attempts, getattr(item, "execution_count", 1))
    if attempt == 1:
        # The ledger also knows of attempts in workers that have died since.
        attempt = session.store.open_attempt(session.run, item.nodeid)
    if attempt > 1:
        first = f"; the first attempt said: {test.first}" if test.first else ""
        pytest.fail(
            f"swapgate: attempt {attempt} refused, a gate is decided once and reruns cannot change its verdict{first}",
            pytrace=False,
        )


def judge(item: pytest.Item) -> None:
    """Take the verdict of a test whose body has passed; fail the test when it is not green."""
    from pytest_swapgate.evidence import content_key
    from pytest_swapgate.gate.judge import judge as decide_gate
    from pytest_swapgate.gate.verdicts import GateError
    from pytest_swapgate.report.terminal import headline, render
    from pytest_swapgate.stats import Verdict

    session, test = item.config.stash[SESSION], item.stash[TEST]
    runner = test.runner
    names = " and ".join(tolerance.marker for tolerance in test.tolerances)
    if runner is not None and any(not run.awaited for run in runner.pending):
        broken(item, f"{names}: a comparison was never awaited: write 'await paired_runner(...)'")
    if runner is None or not runner.results:
        broken(item, f"{names} decided nothing: the test never called paired_runner(baseline, candidate)")
    reports: list[GateReport] = []
    for tolerance in test.tolerances:
        for result in runner.results:
            try:
                reports.append(decide_gate(tolerance, result, nodeid=item.nodeid))
            except GateError as error:
                broken(item, f"{tolerance.marker}: {error}")
    texts = [report.model_dump_json() for report in reports]
    publish(item, texts, [str(report.verdict) for report in reports])
    for report in reports:
        session.store.record_verdict(
            session.run,
            item.nodeid,
            str(report.verdict),
            content_key(
                report=report.model_dump(mode="json", include={"gate", "rows", "baseline", "candidate"})
            ),
            report.model_dump_json(),
        )
    red = [report for report in reports if report.verdict is not Verdict.PASS]
    if session.settings.inconclusive == "warn":
        for report in red:
            if report.verdict is Verdict.INCONCLUSIVE:
                warnings.warn(SwapgateWarning(f"{item.nodeid}: {headline(report)}"), stacklevel=2)
        red = [report for report in red if report.verdict is not Verdict.INCONCLUSIVE]
    blocks = "\n\n".join(render(report) for report in reports)
    if red:
        test.first = headline(red[0])
        pytest.fail("\n".join([*(headline(report) for report in red), "", blocks]), pytrace=False)
    item.add_report_section("call", "swapgate", blocks)


def broken(item: pytest.Item, reason: str) -> NoReturn:
    """Fail a gate that could not decide, and say so in its report."""
    from pytest_swapgate.gate.verdicts import GateReport

    test = item.stash[TEST]
    gate = test.tolerances[0].marker if test.tolerances else "swapgate"
    report = GateReport(gate=gate, nodeid=item.nodeid, verdict="error", reason=reason)
    publish(item, [report.model_dump_json()], ["error"])
    test.first = reason
    pytest.fail(f"swapgate error: {reason}", pytrace=False)


def publish(item: pytest.Item, texts: list[str], verdicts: list[str]) -> None:
    """Put a gate's reports where the controller finds them, replacing those of an earlier attempt."""
    item.user_properties[:] = [pair for pair in item.user_properties if pair[0] != PROPERTY]
    item.user_properties.append((PROPERTY, json.dumps(texts)))
    item.config.stash[SESSION].judged[item.nodeid] = verdicts


def collect(session: GateSession, report: pytest.TestReport) -> None:
    """Take a gate's reports out of a test report (in the controller, or in a run without workers)."""
    for name, value in report.user_properties:
        if name == PROPERTY and isinstance(value, str):
            session.reports[report.nodeid] = [str(text) for text in json.loads(value)]
