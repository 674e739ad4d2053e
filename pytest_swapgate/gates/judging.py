"""How a gate test starts, is judged after its body, and says in one line what broke it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_swapgate import markers
from pytest_swapgate.gates.gate_test import TEST, GateTest, expects_failure
from pytest_swapgate.gates.ledger import LATE, publish
from pytest_swapgate.gates.state import SESSION, SwapgateWarning, is_ours, stop
from pytest_swapgate.shortening import shortened

if TYPE_CHECKING:
    from pytest_swapgate.gate.paired_runner import PairedRunner
    from pytest_swapgate.gate.tolerances import Tolerance
    from pytest_swapgate.gate.verdicts import GateReport

_LONGEST_REASON = 2_000
"""Of a broken gate, with all the texts of a user that one sentence may hold."""


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
    if is_set_up_only(item):
        return
    test.attempts += 1
    test.runner = None
    attempt = max(test.attempts, getattr(item, "execution_count", 1))
    if attempt > 1:
        _refuse(test, attempt, "a gate is decided once and reruns cannot change its verdict")
    # The ledger of the file also knows of attempts in other workers, and in those that have died since.
    attempt = session.store.open_attempt(session.run, item.nodeid)
    if attempt > 1:
        test.over = True
        _refuse(test, attempt, _decided_elsewhere(item))
    session.tests.append((item.nodeid, test))
    test.expected = expects_failure(item)


def is_set_up_only(item: pytest.Item) -> bool:
    """Whether fixtures are set up or shown without running the test, so that nothing is decided."""
    return any(item.config.getoption(name, False) for name in ("setuponly", "setupplan"))


def _refuse(test: GateTest, attempt: int, why: str) -> NoReturn:
    refused = f"swapgate: attempt {attempt} refused, {why}"
    stop(f"{test.first}\n{refused}" if test.first else refused)


def _decided_elsewhere(item: pytest.Item) -> str:
    """Say who else has begun this gate in this run, and what to do."""
    session = item.config.stash[SESSION]
    once = "a gate is decided once in a run, and"
    if sum(other.nodeid == item.nodeid for other in item.session.items) > 1:
        return f"{once} this test was collected more than once: name it once, without --keep-duplicates"
    if session.every_worker:
        return (
            f"{once} --dist each hands it to every worker: run gates without it, with -m swapgate, and the other tests "
            "with -m 'not swapgate'"
        )
    return (
        f"{once} another process of this run had begun it: did a worker end while it ran? Run the tests again"
    )


def ask(item: pytest.Item) -> None:
    """Let a test ask for a comparison, unless nobody would judge it any more.

    Raises
    ------
    GateError
        If nothing may be compared now.
    """
    from pytest_swapgate.gate.verdicts import GateError

    test = item.stash[TEST]
    if is_set_up_only(item):
        raise GateError(
            "a fixture has called paired_runner, and nothing is judged under --setup-only: run the test"
        )
    if test.over:
        test.late += 1
        raise GateError(f"{LATE}; nothing was played for it")
    if not test.asked:
        test.expected = expects_failure(item)
    test.asked += 1


@contextmanager
def ended(item: pytest.Item) -> Iterator[None]:
    """Take down a gate test: its verdict is taken, and a comparison that is asked for now breaks the gate."""
    test = item.stash[TEST]
    test.over = True
    try:
        yield
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException:
        if not test.late:
            raise
    if test.late:
        broken(item, f"{LATE}; nothing was played for it")


def judge(item: pytest.Item) -> None:
    """Take the verdict of a test whose body has passed; fail the test when it is not green."""
    from pytest_swapgate.gate.judge import judge as decide_gate
    from pytest_swapgate.gate.verdicts import GateError

    runner = _answered(item.stash[TEST])
    _keep_compared(item, runner)
    reports: list[GateReport] = []
    for tolerance in item.stash[TEST].tolerances:
        for result in runner.results:
            try:
                reports.append(decide_gate(tolerance, result, nodeid=item.nodeid))
            except GateError as error:
                raise GateError(f"{tolerance.marker}: {error}") from error
    announce(item, reports)


def _keep_compared(item: pytest.Item, runner: PairedRunner) -> None:
    """Keep which episodes the verdict rests on, for ``swapgate evidence export --gate``."""
    from pytest_swapgate.evidence import EvidenceError
    from pytest_swapgate.evidence.comparisons import keep
    from pytest_swapgate.gate.compared import comparison_of

    session = item.config.stash[SESSION]
    with suppress(EvidenceError):  # nothing is decided by it
        for number, result in enumerate(runner.results, 1):
            keep(session.store, session.run, comparison_of(result, gate=item.nodeid, number=number))


def _answered(test: GateTest) -> PairedRunner:
    """Return the runner of a gate that has an answer to every comparison it asked for."""
    from pytest_swapgate.gate.verdicts import GateError

    runner = test.runner
    names = " and ".join(tolerance.marker for tolerance in test.tolerances)
    if runner is None or not test.asked:
        raise GateError(f"{names} decided nothing: the test never called paired_runner(baseline, candidate)")
    if any(not run.awaited for run in runner.pending):
        raise GateError(f"{names}: a comparison was never awaited: write 'await paired_runner(...)'")
    if len(runner.results) < test.asked:
        raise GateError(
            f"{names}: a comparison was begun and never finished; do not catch its error, and await it to its end"
        )
    return runner


def announce(item: pytest.Item, reports: list[GateReport]) -> None:
    """Publish a gate's reports and let its test pass or fail by them."""
    from pytest_swapgate.report.terminal import headline, render
    from pytest_swapgate.stats import Verdict

    test = item.stash[TEST]
    record(item, reports)
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


def record(item: pytest.Item, reports: list[GateReport]) -> None:
    """Append a gate's reports to the ledger of the evidence file."""
    from pytest_swapgate.evidence import content_key

    if is_set_up_only(item):
        return
    session = item.config.stash[SESSION]
    for report in reports:
        told = report.model_dump(mode="json", include={"gate", "rows", "baseline", "candidate", "reason"})
        session.store.record_verdict(
            session.run, item.nodeid, str(report.verdict), content_key(report=told), report.model_dump_json()
        )


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
            text = shortened(str(error).strip().split("\n")[0])
            test.first = test.first or (f"{type(error).__name__}: {text}" if text else type(error).__name__)
            note_skip(item, error)
            raise
    else:
        return
    finally:
        test.over = True
    broken(item, reason)


def raise_kept(item: pytest.Item) -> None:
    """Raise what ended a body of unittest, which keeps it to itself and would report it over any verdict."""
    kept = getattr(item, "_excinfo", None)
    if kept:
        error = kept[0].value
        kept.clear()
        raise error


def _reason(test: GateTest, error: BaseException) -> str | None:
    """Return what to say of an error that is the gate's own, or of a way around its verdict; None for any other."""
    causes = _leaves(error)
    if all(map(is_ours, causes)):
        return str(causes[0])
    if test.asked and _is_skip(error):
        why = shortened(str(causes[0])) or "no reason given"
        return (
            f"skipped or xfailed after a comparison had begun ({why}): a gate that was asked must answer; skip "
            "before paired_runner(...), and return Episode(score=0, failure='infrastructure') for a trial that "
            "could not be played"
        )
    return None


def _is_skip(error: BaseException) -> bool:
    """Whether an error is nothing but skips and xfails."""
    skip_test = getattr(sys.modules.get("unittest"), "SkipTest", pytest.skip.Exception)
    ways_around = (pytest.skip.Exception, pytest.xfail.Exception, skip_test)
    return all(isinstance(cause, ways_around) for cause in _leaves(error))


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


def skipped_in_setup(item: pytest.Item, error: BaseException) -> None:
    """Keep that a gate's setup has skipped it; break the gate if a fixture had already asked for a comparison."""
    test = item.stash.get(TEST, None)
    reason = None if test is None else _reason(test, error)
    if test is not None:
        test.over = True
    if reason is not None:
        broken(item, reason)
    note_skip(item, error)


def note_skip(item: pytest.Item, error: BaseException) -> None:
    """Keep in the ledger that a gate was skipped, so that nobody takes it for broken, or an older verdict for its own.

    Where a mark skips and there is no evidence file, none is opened for it.
    """
    session = item.config.stash[SESSION]
    if not _is_skip(error) or is_set_up_only(item) or (TEST in item.stash and item.stash[TEST].verdicts):
        return
    if TEST not in item.stash and not (session.root / session.settings.evidence).exists():
        return
    from pytest_swapgate.evidence import EvidenceError
    from pytest_swapgate.evidence.skips import record_skip

    with suppress(EvidenceError):  # the skip itself must not fail on it
        record_skip(session.store, session.run, item.nodeid, str(_leaves(error)[0]))


def setup_failed(item: pytest.Item, error: Exception) -> NoReturn:
    """Say in one line why what a test needs could not be set up; a gate reports it."""
    if TEST not in item.stash:
        stop(f"swapgate: {error}")
    item.stash[TEST].over = True
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
    from pytest_swapgate.evidence import EvidenceError
    from pytest_swapgate.gate.verdicts import GateReport

    reason = shortened(reason, _LONGEST_REASON)
    test = item.stash[TEST]
    gate = test.tolerances[0].marker if test.tolerances else "swapgate"
    report = GateReport(gate=gate, nodeid=item.nodeid, verdict="error", reason=reason)
    with suppress(EvidenceError):  # it may be what broke
        record(item, [report])
    publish(item, [report.model_dump_json()], ["error"])
    test.first = reason
    stop(f"swapgate error: {reason}")
