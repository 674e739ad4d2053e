"""A comparison that is asked for after the verdict was taken is refused, and its run is red."""

from __future__ import annotations

import pytest

XDIST = "pytest_swapgate.plugin xdist.plugin"
SECOND = {
    "after yield": """
@pytest.fixture
def late(paired_runner):
    yield
    paired_runner(ok, bad, range(60))
""",
    "in a finalizer that swallows it": """
@pytest.fixture
def late(paired_runner, request):
    def again():
        try:
            paired_runner(ok, bad, range(60))
        except BaseException:
            pass
    request.addfinalizer(again)
""",
}
PASSES = """
def ok(task, seed): return True
def bad(task, seed): raise AssertionError("played")
{fixture}
@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner, late): paired_runner(ok, lambda task, seed: task % 40 != 0, range(60))
"""


@pytest.mark.parametrize("options", [(), ("-n1",)], ids=["alone", "worker"])
@pytest.mark.parametrize("where", SECOND)
def test_a_comparison_after_the_verdict_is_refused_and_red(written, run, where, options):
    example = written(PASSES.format(fixture=SECOND[where]))
    result = run(example, *options, plugins=XDIST).assert_ends(1, passed=1, errors=1)
    result.assert_no_traceback_of_ours().assert_silent_about("AssertionError: played")
    result.assert_says(
        "swapgate error: paired_runner was called after the verdict of this gate had been taken, in the teardown of a "
        "fixture or later: compare in the test, or in a fixture before it; nothing was played for it"
    )
    result.assert_line(
        r"swap_penalty +test_gate.py::test_gate +pass", r"swap_penalty +test_gate.py::test_gate +ERROR"
    )


def test_a_comparison_long_after_the_verdict_is_red_though_nobody_sees_its_error(written, run):
    example = written(
        PASSES.format(
            fixture="""
KEPT = []

@pytest.fixture(scope="module", autouse=True)
def at_the_end():
    yield
    try:
        KEPT[0](ok, bad, range(60))
    except BaseException:
        pass

@pytest.fixture
def late(paired_runner): KEPT.append(paired_runner)
"""
        )
        + "\ndef test_last(): pass\n"
    )
    result = run(example)
    assert result.exit_code == 1
    result.assert_says(
        "swapgate problem: test_gate.py::test_gate: paired_runner was called after the verdict of this gate had been"
    ).assert_silent_about("AssertionError: played")
