"""What the plugin keeps of a session and of each gate test, and how a gate is judged after its body."""

from __future__ import annotations

import json
import sys
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

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
STUDY_PROPERTY = "swapgate_study"
"""Key of a study's table in ``user_properties``, text."""


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
    options
        pytest's parsed options.
    reports
        Controller: node id -> JSON texts of its gates, in order of arrival.
    studies
        Controller: node id -> table of the study that it ran.
    judged
        This process: node id -> verdict words, for the ledger that workers hand over.
    outcomes
        Controller: node id of a gate -> how its call was reported.
    problems
        Controller: what makes the run red beside its tests.
    """

    settings: Settings
    run: str
    root: Path
    options: Mapping[str, Any]
    reports: dict[str, list[str]] = field(default_factory=dict)
    studies: dict[str, str] = field(default_factory=dict)
    judged: dict[str, list[str]] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _store: EvidenceStore | None = None
    _purse: Purse | None = None

    @property
    def store(self) -> EvidenceStore:
        """The evidence file, opened on first use."""
        if self._store is None:
            from pytest_swapgate.evidence import EvidenceStore

            self._store = EvidenceStore.open(self.root / self.settings.evidence)
        return self._store

    @cached_property
    def surroundings(self) -> str:
        """Identity of what surrounds every function of the project."""
        from pytest_swapgate.identity import surroundings

        return surroundings(self.root, self.options)

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
        options=vars(config.option),
    )


def stop(message: str) -> NoReturn:
    """Fail with a message alone: no traceback, no story of other exceptions."""
    raise pytest.fail.Exception(message, pytrace=False) from None


def check_markers(item: pytest.Item) -> tuple[Tolerance, ...]:
    """Return a test's tolerances; a bad argument fails with one line that names the test."""
    from pytest_swapgate.gate.tolerances import ToleranceError

    try:
        return markers.tolerances_of(item)
    except ToleranceError as error:
        stop(f"{item.nodeid}: {error}")


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
        refused = f"swapgate: attempt {attempt} refused, a gate is decided once and reruns cannot change its verdict"
        stop(f"{test.first}\n{refused}" if test.first else refused)


def judge(item: pytest.Item) -> None:
    """Take the verdict of a test whose body has passed; fail the test when it is not green."""
    from pytest_swapgate.evidence import content_key
    from pytest_swapgate.gate.judge import judge as decide_gate
    from pytest_swapgate.gate.verdicts import GateError

    session, test = item.config.stash[SESSION], item.stash[TEST]
    runner = _answered(test)
    reports: list[GateReport] = []
    for tolerance in test.tolerances:
        for result in runner.results:
            try:
                reports.append(decide_gate(tolerance, result, nodeid=item.nodeid))
            except GateError as error:
                raise GateError(f"{tolerance.marker}: {error}") from error
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
    announce(item, reports)


def _answered(test: GateTest) -> PairedRunner:
    """Return the runner of a gate that has an answer to every comparison it asked for."""
    from pytest_swapgate.gate.verdicts import GateError

    runner = test.runner
    names = " and ".join(tolerance.marker for tolerance in test.tolerances)
    if runner is None or not runner.asked:
        raise GateError(f"{names} decided nothing: the test never called paired_runner(baseline, candidate)")
    if any(not run.awaited for run in runner.pending):
        raise GateError(f"{names}: a comparison was never awaited: write 'await paired_runner(...)'")
    if len(runner.results) < runner.asked:
        raise GateError(
            f"{names}: a comparison was begun and never finished; do not catch its error, and await it to its end"
        )
    return runner


def announce(item: pytest.Item, reports: list[GateReport]) -> None:
    """Publish a gate's reports and let its test pass or fail by them."""
    from pytest_swapgate.report.terminal import headline, render
    from pytest_swapgate.stats import Verdict

    test = item.stash[TEST]
    publish(item, [report.model_dump_json() for report in reports], [str(r.verdict) for r in reports])
    red = [report for report in reports if report.verdict is not Verdict.PASS]
    if item.config.stash[SESSION].settings.inconclusive == "warn":
        for report in red:
            if report.verdict is Verdict.INCONCLUSIVE:
                _warn(f"{item.nodeid}: {headline(report)}")
        red = [report for report in red if report.verdict is not Verdict.INCONCLUSIVE]
    blocks = "\n\n".join(render(report) for report in reports)
    if red:
        test.first = headline(red[0])
        stop("\n".join([*(headline(report) for report in red), "", blocks]))
    item.add_report_section("call", "swapgate", blocks)


def _warn(text: str) -> None:
    with warnings.catch_warnings():
        # Asked for by name, so that -W error does not turn it into a failure after all.
        warnings.simplefilter("always", SwapgateWarning)
        warnings.warn(SwapgateWarning(text), stacklevel=3)


@contextmanager
def explained(item: pytest.Item) -> Iterator[None]:
    """Turn what ends a gate's body badly into one line, and remember it as the reason of the first attempt."""
    test = item.stash[TEST]
    try:
        yield
    except BaseException as error:
        reason = _reason(test, error)
        if reason is None:
            text = str(error).strip().split("\n")[0]
            test.first = test.first or (f"{type(error).__name__}: {text}" if text else type(error).__name__)
            raise
    else:
        return
    broken(item, reason)


def _reason(test: GateTest, error: BaseException) -> str | None:
    """Return what to say of an error that is the gate's own, or of a way around its verdict; None for any other."""
    causes = _leaves(error)
    if all(map(is_ours, causes)):
        return str(causes[0])
    skip_test = getattr(sys.modules.get("unittest"), "SkipTest", pytest.skip.Exception)
    ways_around = (pytest.skip.Exception, pytest.xfail.Exception, skip_test)
    if test.runner is not None and test.runner.asked and all(isinstance(c, ways_around) for c in causes):
        return (
            f"skipped or xfailed after a comparison had begun ({causes[0]}): a gate that was asked must answer; skip "
            "before paired_runner(...), and return Episode(score=0, failure='infrastructure') for a trial that "
            "could not be played"
        )
    return None


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


def is_ours(error: BaseException) -> bool:
    """Whether an error is one of this package, whose message is written for the user."""
    return type(error).__module__.partition(".")[0] == "pytest_swapgate"


def setup_failed(item: pytest.Item, error: Exception) -> NoReturn:
    """Say in one line why what a test needs could not be set up; a gate reports it."""
    if TEST not in item.stash:
        stop(f"swapgate: {error}")
    from pytest_swapgate.runner import BudgetReachedError

    if isinstance(error, BudgetReachedError):
        from pytest_swapgate.gate.verdicts import GateReport
        from pytest_swapgate.stats import Verdict

        gates = [tolerance.marker for tolerance in item.stash[TEST].tolerances]
        announce(
            item,
            [
                GateReport(gate=gate, nodeid=item.nodeid, verdict=Verdict.INCONCLUSIVE, reason=str(error))
                for gate in gates
            ],
        )
        pytest.skip(f"swapgate: inconclusive: {error}")
    broken(item, str(error))


def broken(item: pytest.Item, reason: str) -> NoReturn:
    """Fail a gate that could not decide, and say so in its report."""
    from pytest_swapgate.gate.verdicts import GateReport

    test = item.stash[TEST]
    gate = test.tolerances[0].marker if test.tolerances else "swapgate"
    report = GateReport(gate=gate, nodeid=item.nodeid, verdict="error", reason=reason)
    publish(item, [report.model_dump_json()], ["error"])
    test.first = reason
    stop(f"swapgate error: {reason}")


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
            if report.when == "call":
                session.outcomes[report.nodeid] = report.outcome
        elif name == STUDY_PROPERTY and isinstance(value, str):
            session.studies[report.nodeid] = value


def check_ledger(session: GateSession, ledger: Mapping[str, list[str]]) -> None:
    """Note every verdict that was taken and did not arrive, or arrived as another outcome."""
    red = {"error", "fail"} | ({"inconclusive"} if session.settings.inconclusive == "fail" else set())
    for nodeid, verdicts in ledger.items():
        words = ", ".join(verdicts)
        if nodeid not in session.reports:
            session.problems.append(f"{nodeid}: its verdict {words} never arrived")
        elif red & set(verdicts) and session.outcomes.get(nodeid) == "passed":
            session.problems.append(f"{nodeid}: its verdict {words} was reported as passed")
