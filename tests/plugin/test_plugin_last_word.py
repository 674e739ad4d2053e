"""A comparison that was played has an end that nothing takes back: no hook, no mark, no skip, no exit status."""

from __future__ import annotations

import pytest

XDIST = "pytest_swapgate.plugin xdist.plugin"
MAKES = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        CHANGE
    return report
"""
HOOKS = {
    "report made passed": (
        MAKES.replace("CHANGE", "report.outcome, report.longrepr = 'passed', None"),
        "swapgate: its verdict fail was made passed by a plugin, a conftest.py or the test itself",
    ),
    "report made skipped": (
        MAKES.replace(
            "CHANGE", "report.outcome, report.longrepr = 'skipped', ('test_gate.py', 1, 'Skipped: soft')"
        ),
        "swapgate: its verdict fail was made skipped",
    ),
    "report made xfailed": (
        MAKES.replace("CHANGE", "report.outcome, report.wasxfail = 'skipped', 'known'"),
        "swapgate: its verdict fail was made xfailed",
    ),
    "failure excused": (
        MAKES.replace("CHANGE", "report.wasxfail = 'known'"),
        "swapgate: its verdict fail was made xfailed",
    ),
    "error swallowed around the body": (
        """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except BaseException:
        return None
""",
        "swapgate: its verdict fail was made passed",
    ),
    "error made a skip around the body": (
        """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except BaseException:
        pytest.skip("soft")
""",
        "swapgate: its verdict fail was made skipped",
    ),
    "report changed on its way": (
        """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    if report.failed:
        report.outcome = "passed"
""",
        "swapgate problem: test_gate.py::test_gate: its verdict fail was reported as passed",
    ),
    "report never sent": (
        """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    runtestprotocol(item, log=False, nextitem=nextitem)
    return True
""",
        "swapgate problem: test_gate.py::test_gate: its verdict fail never arrived",
    ),
    "shown as passed": (
        "def pytest_report_teststatus(report):\n    return ('passed', '.', 'PASSED') if report.failed else None\n",
        "1 passed",
    ),
    "failures forgotten": (
        """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session):
    result = yield
    session.testsfailed = 0
    return result
""",
        "swapgate problem: test_gate.py::test_gate: its verdict fail was red, and a plugin, a conftest.py or a test "
        "had set the exit status to 0; it is 1 again",
    ),
    "exit status set": (
        "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
        "its verdict fail was red, and a plugin, a conftest.py or a test had set the exit status to 0",
    ),
    "exit status set last": (
        """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    yield
    session.exitstatus = 5
""",
        "had set the exit status to 5; it is 1 again",
    ),
    "left early": (
        "import pytest\n\ndef pytest_sessionfinish(session):\n    pytest.exit('fine', returncode=0)\n",
        "had set the exit status to 0; it is 1 again",
    ),
}
UNSEEN = ("report never sent", "left early")
"""Without the summary's block of the gate: there is no report, or no summary."""
ACROSS = ["report made xfailed", "report changed on its way", "report never sent", "exit status set"]


@pytest.mark.parametrize("what", HOOKS)
def test_no_hook_makes_a_red_gate_green(arms, run, what):
    hook, line = HOOKS[what]
    result = run(arms(0.3).with_files({"conftest.py": hook}))
    assert result.exit_code == 1, result.text
    result.assert_says(line).assert_silent_about("Traceback (most recent call last)", "INTERNALERROR")
    if what not in UNSEEN:
        result.assert_line(r"swap_penalty +test_gate.py::test_gate +FAIL")


@pytest.mark.parametrize("what", ACROSS)
def test_no_hook_makes_a_red_gate_of_a_worker_green(arms, run, what):
    hook, line = HOOKS[what]
    result = run(arms(0.3).with_files({"conftest.py": hook}), "-n1", plugins=XDIST)
    assert result.exit_code == 1, result.text
    result.assert_says(line).assert_silent_about("INTERNALERROR")
    if what not in UNSEEN:
        result.assert_line(r"swap_penalty +test_gate.py::test_gate +FAIL")


@pytest.mark.parametrize("plugin", ["swapgate-reports", "swapgate-workers", "terminal"])
def test_what_watches_cannot_be_left_out_by_name(arms, run, plugin):
    example = arms(0.3).with_files({"conftest.py": HOOKS["report changed on its way"][0]})
    result = run(example, "-p", f"no:{plugin}")
    assert result.exit_code == 1
    result.assert_says("swapgate problem: test_gate.py::test_gate: its verdict fail was reported as passed")


GATE = """
def ok(task, seed): return True
def bad(task, seed): return False

@pytest.fixture
def asked(paired_runner, request):
    BEFORE
    paired_runner(ok, bad, range(60))
    AFTER

@pytest.mark.swap_penalty(score=0.25)
def test_gate(FIXTURE, request):
    START
    END
"""


def gate(written, **parts):
    """Return a red gate: what is named is put in its place, FIXTURE is ``asked`` or ``paired_runner``."""
    text = GATE
    for name in ("BEFORE", "AFTER", "FIXTURE", "START", "END"):
        text = text.replace(name, parts.get(name, "pass"))
    return written(text)


XFAIL = "request.applymarker(pytest.mark.xfail(reason='known'))"
LOOKS = "if paired_runner(ok, bad, range(60)).mean_score('candidate') < 0.5: "
LATE = {
    "in the body": {"FIXTURE": "paired_runner", "START": LOOKS + XFAIL},
    "on the node": {
        "FIXTURE": "paired_runner",
        "START": f"{LOOKS}request.node.add_marker(pytest.mark.xfail)",
    },
    "on the class or module": {
        "FIXTURE": "paired_runner",
        "START": f"{LOOKS}request.node.parent.add_marker(pytest.mark.xfail)",
    },
    "before a failure": {"FIXTURE": "paired_runner", "START": LOOKS + XFAIL, "END": "assert 1 == 2"},
    "in a fixture": {"FIXTURE": "asked", "AFTER": XFAIL},
    "in a fixture, not to be run": {
        "FIXTURE": "asked",
        "AFTER": "request.applymarker(pytest.mark.xfail(run=False))",
    },
}


@pytest.mark.parametrize("where", LATE)
def test_an_xfail_that_comes_after_the_comparison_does_not_count(written, run, where):
    result = run(gate(written, **LATE[where])).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says(
        "was made xfailed by a plugin, a conftest.py or the test itself; only an xfail that is declared before the "
        "first comparison of a gate may do that"
    )
    result.assert_says("assert 1 == 2" if where == "before a failure" else "test_gate.py::test_gate")


def test_an_xfail_in_a_worker_that_comes_after_the_comparison_does_not_count(written, run):
    result = run(gate(written, **LATE["in a fixture, not to be run"]), "-n1", plugins=XDIST)
    result.assert_ends(1, failed=1).assert_says("was made xfailed")


EARLY = {
    "in the body": {"FIXTURE": "paired_runner", "START": XFAIL, "END": "paired_runner(ok, bad, range(60))"},
    "in a fixture": {"FIXTURE": "asked", "BEFORE": XFAIL},
}


@pytest.mark.parametrize("options", [(), ("-n1",)], ids=["alone", "worker"])
@pytest.mark.parametrize("where", EARLY)
def test_an_xfail_that_was_declared_before_is_one_and_the_summary_says_so(written, run, where, options):
    result = run(gate(written, **EARLY[where]), *options, plugins=XDIST).assert_ends(0, xfailed=1)
    result.assert_line(r"swap_penalty +test_gate.py::test_gate +FAIL")
    result.assert_says("test_gate.py::test_gate is red, and does not fail the run: an xfail had announced it")
    result.assert_silent_about("swapgate problem")


def test_an_xfail_whose_condition_is_false_announces_nothing(written, run):
    marked = gate(written, FIXTURE="paired_runner", START="paired_runner(ok, bad, range(60))").edited(
        "test_gate.py",
        "@pytest.mark.swap",
        "@pytest.mark.xfail(False, reason='not here')\n@pytest.mark.swap",
    )
    result = run(marked.with_files({"conftest.py": HOOKS["report made xfailed"][0]}))
    result.assert_ends(1, failed=1).assert_says("swapgate: its verdict fail was made xfailed")
    again = run(marked.edited("test_gate.py", "(False, ", "("), "--runxfail")
    again.assert_ends(1, failed=1)


@pytest.mark.parametrize("way", ["pytest.skip('not today')", "pytest.xfail('known')"])
@pytest.mark.parametrize("options", [(), ("-n1",)], ids=["alone", "worker"])
def test_a_fixture_cannot_end_what_it_has_asked_for(written, run, way, options):
    result = run(gate(written, FIXTURE="asked", AFTER=way), *options, plugins=XDIST)
    result.assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate error: skipped or xfailed after a comparison had begun")


UNITTEST = """
import unittest

class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _give(self, paired_runner): self.runner = paired_runner

    @unittest.expectedFailure
    @pytest.mark.swap_penalty(score=0.25)
    def test_case(self):
        self.runner(lambda task, seed: True, lambda task, seed: False, range(60))
        END
"""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("self.fail('known')", "swapgate error: skipped or xfailed after a comparison had begun"),
        ("pass", "Unexpected success"),
    ],
)
def test_unittest_cannot_expect_a_gate_to_fail(written, run, end, said):
    run(written(UNITTEST.replace("END", end))).assert_ends(1, failed=1).assert_says(said)


@pytest.mark.parametrize("status", [0, 7])
def test_a_run_that_is_left_after_a_comparison_is_not_green(written, run, status):
    example = gate(
        written,
        FIXTURE="paired_runner",
        START="paired_runner(ok, bad, range(60))",
        END=f"pytest.exit('done', returncode={status})",
    )
    result = run(example)
    assert result.exit_code == (status or 1)
    result.assert_says(
        "swapgate problem: test_gate.py::test_gate: a comparison was begun and never judged: its test was stopped"
    )
    across = run(example, "-n1", plugins=XDIST)
    assert across.exit_code not in (0, 5)
    across.assert_says("test_gate.py::test_gate")


def test_a_gate_that_a_plugin_runs_by_itself_is_not_green_without_a_verdict(written, run):
    own = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    from _pytest.runner import call_and_report
    setup = call_and_report(item, "setup", log=True)
    item.runtest()
    report = setup
    report.when = "call"
    item.ihook.pytest_runtest_logreport(report=report)
    call_and_report(item, "teardown", log=True, nextitem=nextitem)
    return True
"""
    asks = gate(written, FIXTURE="paired_runner", START="paired_runner(ok, bad, range(60))")
    result = run(asks.with_files({"conftest.py": own}))
    assert result.exit_code == 1
    result.assert_says("its comparison, begun and never judged, was reported as passed")
    silent = run(gate(written, FIXTURE="paired_runner").with_files({"conftest.py": own}))
    assert silent.exit_code == 1
    silent.assert_says(
        "swapgate problem: test_gate.py::test_gate: a gate without a verdict was reported as passed"
    )


def test_results_that_were_taken_away_leave_a_gate_without_an_answer(written, run):
    body = "first = paired_runner(ok, bad, range(60)); paired_runner.results.clear(); paired_runner.asked = 0"
    again = "paired_runner(ok, lambda task, seed: task % 40 != 0, range(60))"
    result = run(gate(written, FIXTURE="paired_runner", START=body, END=again)).assert_ends(1, failed=1)
    result.assert_says("swap_penalty: a comparison was begun and never finished")


DESELECTS = """
def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=items[:])
    items.clear()
"""


def test_what_is_green_stays_green(arms, run):
    run(arms(0.9), "--swapgate-evidence=other.db").assert_ends(0, passed=1).assert_silent_about("problem")
    undecided = run(arms(0.9), "--swapgate-max-episodes=60", "--swapgate-inconclusive=warn").assert_ends(
        0, passed=1
    )
    undecided.assert_line(r"swap_penalty +test_gate.py::test_gate +INCONCLUSIVE")
    left_out = run(arms(0.3).with_files({"conftest.py": DESELECTS})).assert_ends(5, deselected=1)
    left_out.assert_silent_about("swapgate problem")


def test_the_exit_status_of_a_run_without_a_red_gate_is_nobody_elses_business(arms, run):
    sets = {"conftest.py": HOOKS["exit status set"][0], "test_other.py": "def test_other(): assert False\n"}
    run(arms(0.9).with_files(sets)).assert_ends(0, passed=1, failed=1).assert_silent_about("swapgate problem")


FOREIGN = """
def test_ordinary(record_property):
    record_property("swapgate", "on")
    record_property("swapgate_study", "a")
    record_property("pytest-swapgate:reports", "on")
    record_property("pytest-swapgate:reports", '["{}"]')
"""


@pytest.mark.parametrize("options", [(), ("-n1",)], ids=["alone", "worker"])
def test_a_property_of_an_ordinary_test_is_its_own(written, run, options):
    result = run(
        written(FOREIGN), "--junitxml=out.xml", "-ojunit_family=legacy", *options, plugins=XDIST
    ).assert_ends(0, passed=1)
    result.assert_silent_about("INTERNALERROR", "= swapgate =")


def test_a_test_in_a_folder_named_like_a_marker_is_no_gate(written, run):
    example = written("def test_first(): pass").with_files(
        {
            "swap_penalty/test_inside.py": "import pytest\n"
            + FOREIGN
            + "\ndef test_b(): pytest.skip('later')\n"
        }
    )
    run(example).assert_ends(0, passed=2, skipped=1).assert_silent_about("swapgate problem", "= swapgate =")


CHANGED = {
    "'on'": "its verdict fail never arrived",
    "'[1]'": "its verdict fail never arrived",
    "json.dumps([REPORT.replace('\"fail\"', '\"pass\"', 1)])": "its verdict fail arrived as pass",
}


@pytest.mark.parametrize("value", CHANGED)
def test_a_report_of_a_gate_that_was_changed_on_its_way_is_red(arms, run, value):
    changes = f"""
import json
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    for index, (name, text) in enumerate(report.user_properties):
        if name.startswith("pytest-swapgate"):
            REPORT = json.loads(text)[0]
            report.user_properties[index] = (name, {value})
"""
    result = run(arms(0.3).with_files({"conftest.py": changes})).assert_ends(1, failed=1)
    result.assert_says(f"swapgate problem: test_gate.py::test_gate: {CHANGED[value]}")
