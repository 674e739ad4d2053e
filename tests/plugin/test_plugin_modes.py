"""Every mode of pytest: strict, quiet, collecting, planning, beside other plugins and other kinds of tests."""

from __future__ import annotations

import re
import textwrap
import time

import pytest

TWO = """
def ok(task, seed): return True

@pytest.mark.swap_penalty(score=0.10)
def test_green(paired_runner): paired_runner(ok, lambda t, s: t % 40 != 0, range(80))

@pytest.mark.swap_penalty(score=0.10)
def test_red(paired_runner): paired_runner(ok, lambda t, s: t % 2 == 0, range(80))

def test_ordinary(): pass
"""


@pytest.mark.parametrize(
    "args",
    [
        ("--strict-markers", "--strict-config", "-W", "error"),
        ("-ostrict=true", "-W", "error"),
        (
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-p",
            "no:rerunfailures",
            "-p",
            "no:asyncio",
            "-p",
            "no:anyio",
        ),
        ("-p", "no:terminal"),
        ("--timeout=60", "--import-mode=importlib"),
        ("--no-header", "--no-summary"),
        ("-qq",),
        ("-vv", "-rA", "--setup-show"),
        ("--tb=no", "--capture=no"),
    ],
    ids=" ".join,
)
def test_the_outcome_is_the_same_in_every_mode(written, run, args):
    result = run(written(TWO), *args)
    assert result.exit_code == 1
    result.assert_no_traceback_of_ours()
    if result.outcomes:
        result.assert_ends(1, passed=2, failed=1)


def test_a_quiet_run_says_one_line_a_gate_red_ones_last(written, run):
    result = run(written(TWO), "-q").assert_ends(1, passed=2, failed=1)
    start = next(i for i, line in enumerate(result.lines) if line.strip("= ") == "swapgate")
    assert result.lines[start + 1].startswith("test_gate.py::test_green  swap_penalty pass: score +2.5 pp")
    assert result.lines[start + 2].startswith("test_gate.py::test_red  swap_penalty FAIL: score +50.0 pp")


def test_no_summary_is_honoured_and_an_unused_run_shows_nothing_of_ours(written, run):
    result = run(written(TWO), "--no-summary")
    assert "= swapgate =" not in result.text
    run(written("def test_ordinary(): pass")).assert_ends(0, passed=1).assert_silent_about(
        "= swapgate =", "swap_penalty"
    )


def test_the_first_red_gate_stops_a_run_that_was_told_to_stop(written, run):
    result = run(written(TWO), "-x").assert_ends(1, passed=1, failed=1)
    result.assert_says("stopping after 1 failures").assert_line(r"swap_penalty +test_gate.py::test_red +FAIL")


@pytest.mark.parametrize("mode", ["--collect-only", "--setup-plan", "--help"])
def test_looking_plays_nothing(teams, run, mode):
    example = teams("swap()")
    result = run(example, mode)
    assert result.exit_code == 0
    assert not example.evidence.parent.exists()
    result.assert_no_traceback_of_ours()


def test_what_is_registered_explains_itself(written, run):
    example = written("def test_a(): pass")
    run(example, "--markers").assert_says(
        "@pytest.mark.swap_penalty(*, score=0.05, cost=0.20, seat=None, mde=None, alpha=0.05, power",
        "@pytest.mark.active_pass_k(*, k=2, drop=0.10, ...): fail when",
        "@pytest.mark.swapgate: put on every gate test, for -m swapgate",
    )
    run(example, "--fixtures").assert_says(
        "formed_teams [session scope]", "paired_runner --", "placebo_baseline [session scope]"
    )
    run(example, "--help").assert_says(
        "--swapgate-model=MODEL", "--swapgate-replace=SEAT=MODEL", "swapgate_teams (int | float | string)"
    )


def test_setting_up_alone_forms_teams_but_decides_nothing(teams, run):
    example = teams("swap()")
    run(example, "--setup-only").assert_silent_about("FAIL", "ERROR")
    run(example).assert_ends(1, failed=1)


OTHERS = """
import asyncio
import unittest


class TestOld(unittest.TestCase):
    def test_old(self):
        self.assertEqual(1, 1)

    @unittest.skip("old")
    def test_skipped(self):
        raise AssertionError


@pytest.mark.asyncio
async def test_asyncio_before():
    await asyncio.sleep(0)


@pytest.mark.anyio
async def test_anyio_before():
    await asyncio.sleep(0)


@pytest.mark.swap_penalty(score=0.20, cost=3.0)
def test_gate(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap())


@pytest.mark.swap_penalty(score=0.20, cost=3.0)
@pytest.mark.asyncio
async def test_gate_in_asyncio(placebo_baseline, formed_teams, paired_runner):
    result = await paired_runner(placebo_baseline, formed_teams.naive())
    assert result.unit_word == "team"


@pytest.mark.swap_penalty(score=0.20, cost=3.0)
@pytest.mark.anyio
async def test_gate_in_anyio(placebo_baseline, formed_teams, paired_runner):
    await paired_runner(placebo_baseline, formed_teams.amnesia())


@pytest.mark.asyncio
async def test_study_in_asyncio(swap_study):
    assert swap_study()["Pi_C"].interval.low > 0


@pytest.mark.asyncio
async def test_fixtures_asked_for_inside_a_loop(request):
    teams = request.getfixturevalue("formed_teams")
    assert len(teams.teams) == 8


@pytest.mark.asyncio
async def test_asyncio_after():
    await asyncio.sleep(0)


def test_subtests(subtests):
    with subtests.test("one"):
        assert True


@pytest.fixture
def anyio_backend():
    return "asyncio"
"""


@pytest.mark.parametrize("first", ["", "-k study or fixtures or gate_in or after"])
def test_gates_and_other_plugins_and_kinds_of_tests_leave_each_other_alone(teams, run, first):
    example = teams().with_test(OTHERS)
    result = run(example, "-W", "error", *([first] if first else []))
    assert result.exit_code == 0, result.text
    assert set(result.outcomes) <= {"passed", "skipped", "deselected", "subtests"}, result.text


def test_a_gate_on_a_unittest_method_is_red_because_it_decides_nothing(written, run):
    result = run(
        written("""
import unittest

class TestOld(unittest.TestCase):
    @pytest.mark.swap_penalty(score=0.1)
    def test_old(self):
        pass
""")
    )
    result.assert_ends(1, failed=1).assert_says(
        "swap_penalty decided nothing: the test never called paired_runner("
    )


def test_a_study_that_cannot_be_formed_is_one_line(teams, run):
    body = "def test_study(swap_study):\n    swap_study('cellar')\n"
    result = run(teams().with_test(body)).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says("swap_study: seat must be one of front, back (or None to draw one), got 'cellar'")
    run(teams().with_test(body), "--swapgate-model=simulated:lazy").assert_ends(1, errors=1).assert_says(
        "swapgate: model 'simulated:lazy': accepted are"
    )


def test_a_study_prints_its_table(teams, run):
    body = "def test_study(swap_study):\n    assert swap_study()['Pi_C'].interval.low > 0\n"
    result = run(teams().with_test(body)).assert_ends(0, passed=1)
    result.assert_says("swap study", "condition", "messages per sub-task", "intervals by t over 4 swap pairs")


def test_the_report_of_a_gate_stands_in_the_junit_file(written, run):
    example = written(TWO)
    run(example, "--junitxml=out.xml")
    text = (example.folder / "out.xml").read_text()
    assert text.count('<property name="pytest-swapgate:reports"') == 2
    assert "harm above the tolerance of 10 pp" in text
    [message] = re.findall(r'<failure message="([^"]*)"', text)
    assert re.fullmatch(
        r"Failed: swap_penalty FAIL: score \S+ pp \[.*\]: harm above .* beyond the noise", message
    )


@pytest.mark.parametrize(("args", "env"), [((), {"CI": "true"}), (("-vv",), {})], ids=["in CI", "-vv"])
def test_where_pytest_shortens_nothing_its_summary_repeats_the_headline_alone(written, run, args, env):
    result = run(written(TWO), *args, **env).assert_ends(1, passed=2, failed=1)
    assert result.text.count("harm  +50.0 pp") == 2  # in the failure and in the summary
    result.assert_line(
        r"^FAILED .*test_red - Failed: swap_penalty FAIL: score \+50.0 pp .* beyond the noise$"
    )


MODEL = """

class Named(Clerk):
    def __init__(self):
        self.name = "house/brew"


@pytest.fixture(scope="session")
def swapgate_model():
    return Named()


Desk.close = lambda self: print("the desk is closed")
"""


def test_a_project_brings_its_own_model_and_its_environment_is_closed(teams, run):
    example = teams("swap()")
    example = example.with_files({"conftest.py": example.files["conftest.py"] + MODEL})
    result = run(example, "-s").assert_ends(1, failed=1)
    result.assert_says("the desk is closed", "model house/brew").assert_silent_about("stand-in")


def test_control_c_ends_a_comparison_of_functions_and_nothing_plays_on(written, folder):
    body = """
    import os, pathlib, signal, threading, time
    import pytest

    def base(task, seed):
        with open("played.txt", "a") as log:
            log.write("x")
        if os.path.getsize("played.txt") == 5:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(30)
        return True

    def candidate(task, seed):
        return True

    @pytest.mark.swap_penalty(score=0.2)
    def test_gate(paired_runner):
        paired_runner(base, candidate, range(80))
    """
    started = time.monotonic()
    result = written(textwrap.dedent(body)).run_pytest()
    assert result.exit_code == 2, result.text
    result.assert_says("KeyboardInterrupt")
    assert (folder / "played.txt").read_text() == "xxxxx"
    assert time.monotonic() - started < 25, "it waited for the function that was interrupted"
