"""The pytest face: hooks that delegate. Nothing heavy is imported before a gate needs it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_swapgate import gates, markers, settings
from pytest_swapgate.fixtures import (
    formed_teams,
    paired_runner,
    placebo_baseline,
    swap_study,
    swapgate_environment,
    swapgate_executor,
    swapgate_model,
    swapgate_models,
    swapgate_stage,
)

__all__ = [
    "formed_teams",
    "paired_runner",
    "placebo_baseline",
    "swap_study",
    "swapgate_environment",
    "swapgate_executor",
    "swapgate_model",
    "swapgate_models",
    "swapgate_stage",
]


class Reports:
    """Keeps what gates reported, and words what fails before a test.

    A plugin of its own: a module can hold each hook once, and the hook of reports is not given the configuration.
    """

    def __init__(self, session: gates.GateSession) -> None:
        self._session = session
        self._guard = gates.Guard(session)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Any:
        """Turn an error of this package into one line; a traceback of ours would help nobody."""
        __tracebackhide__ = True
        try:
            return (yield)
        except BaseException as error:
            if not (isinstance(error, Exception) and gates.is_ours(error)):
                if markers.is_gate(item):
                    from pytest_swapgate.gates.judging import skipped_in_setup

                    skipped_in_setup(item, error)
                raise
            failure = error
        from pytest_swapgate.gates.judging import setup_failed

        return setup_failed(item, failure)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Any:
        """Take no comparison any more, and say so in one line."""
        __tracebackhide__ = True
        if gates.TEST not in item.stash:
            return (yield)
        from pytest_swapgate.gates.judging import ended

        with ended(item):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the gates out of every report that arrives."""
        gates.collect(self._session, report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Any:
        """Never end green with a problem: count it as a failed test."""
        # Only now every conftest.py is there, and the last plugin to be registered is the outermost.
        if not session.config.pluginmanager.is_registered(self._guard):
            session.config.pluginmanager.register(self._guard)
        try:
            result = yield
        except (KeyboardInterrupt, pytest.exit.Exception) as error:
            # Any other KeyboardInterrupt is a runner's own, such as that of -x: what it stops says so itself.
            self._session.stopped = type(error) in (KeyboardInterrupt, pytest.exit.Exception)
            if self._session.stopped:
                from pytest_swapgate.gates.hurry import hurry

                hurry(worker=bool(self._session.worker))
            raise
        if self._session.worker:
            return result
        self._guard.settle()
        if _is_a_run(session.config) and not session.testsfailed:
            gates.check_replacements(self._session)
        session.testsfailed += len(self._session.problems)
        return result


def _is_a_run(config: pytest.Config) -> bool:
    """Whether tests are really run, and seen from here: not in a worker, not to collect, set up or plan only."""
    off = ("collectonly", "setuponly", "setupplan")
    if hasattr(config, "workerinput") or config.stash[gates.SESSION].settings.plan:
        return False
    return not any(config.getoption(name, False) for name in off)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register options and ini settings."""
    settings.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register markers, resolve options, watch workers."""
    markers.register(config)
    resolved = settings.resolve(config)
    session = gates.new_session(config, resolved)
    config.stash[gates.SESSION] = session
    if resolved.plan and hasattr(config.option, "dist"):
        config.option.dist = "no"  # a plan runs nothing, so it needs no workers
    config.pluginmanager.register(Reports(session))  # without a name, by which it could be blocked
    if hasattr(config.hook, "pytest_testnodedown"):  # xdist, under whatever name it was loaded
        from pytest_swapgate.workers import Workers

        config.pluginmanager.register(Workers(session))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what is open."""
    session = config.stash.get(gates.SESSION, None)
    if session is not None:
        session.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Check a gate's markers at collection, with one line for the reader."""
    if any(metafunc.definition.get_closest_marker(name) for name in markers.GATE_MARKERS):
        from pytest_swapgate.gates.judging import check_markers

        check_markers(metafunc.definition)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let ``-m swapgate`` select every gate."""
    if markers.is_gate(item):
        item.add_marker("swapgate")


def pytest_runtestloop(session: pytest.Session) -> Any:
    """Under ``--swapgate-plan``, print plans instead of running tests."""
    state = session.config.stash[gates.SESSION]
    if _is_a_run(session.config) and any(map(markers.plays, session.items)):
        state.prepare_progress()
    if not state.settings.plan or session.config.option.collectonly:
        return None
    if session.testsfailed and not session.config.option.continue_on_collection_errors:
        return None  # pytest says what could not be collected
    from pytest_swapgate.plans import print_plans

    print_plans(session)
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start a gate, after skip marks were read and before its fixtures spend anything."""
    if markers.is_gate(item):
        from pytest_swapgate.gates.judging import start

        start(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Judge a gate after its body has passed."""
    __tracebackhide__ = True
    if gates.TEST not in item.stash:
        return (yield)
    from pytest_swapgate.gates.judging import explained, judge, raise_kept

    with explained(item):
        result = yield
        raise_kept(item)
        judge(item)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Look back at what surrounded the gates, and hand a worker's ledger over."""
    state = session.config.stash[gates.SESSION]
    state.look_back()
    if hasattr(session.config, "workeroutput"):
        from pytest_swapgate.workers import hand_over

        hand_over(session.config, state)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print every gate, the decisive part last."""
    session = config.stash[gates.SESSION]
    said = session.reports or session.studies or session.skipped or session.problems or session.remarks
    if said or session.stopped:
        from pytest_swapgate.summary import write_summary

        write_summary(terminalreporter, session)
