"""A skip is no verdict: reported as what it is where nothing was asked, and no way around a comparison that was."""

from __future__ import annotations

import pytest

from pytest_swapgate.cli import main

SKIPS = """
import unittest

@pytest.fixture
def key(): pytest.skip("no key for the fixture")

@pytest.mark.swap_penalty(score=0.25)
def test_body(paired_runner): pytest.skip("no key for the body")

@pytest.mark.swap_penalty(score=0.25)
def test_fixture(paired_runner, key): pass

@pytest.mark.swap_penalty(score=0.25)
def test_import(paired_runner): pytest.importorskip("no_such_module")

@pytest.mark.swap_penalty(score=0.25)
def test_xfail(paired_runner): pytest.xfail("known")

@pytest.mark.swap_penalty(score=0.25)
def test_old_style(paired_runner): raise unittest.SkipTest("old style")

@pytest.mark.skipif(True, reason="no key for the mark")
@pytest.mark.swap_penalty(score=0.25)
def test_mark(paired_runner): pass

class TestCase(unittest.TestCase):
    @pytest.mark.swap_penalty(score=0.25)
    @pytest.mark.usefixtures("paired_runner")
    def test_unittest(self): self.skipTest("no key for unittest")
"""


def reported(example, capsys):
    """Return the exit code of ``swapgate report`` and node name -> last word of its block and the line below."""
    capsys.readouterr()
    code = main(["report", str(example.evidence)])
    blocks = [block.split("\n") for block in capsys.readouterr().out.split("\n\n")]
    heads = [block for block in blocks if "test_gate.py::" in block[0]]
    return code, {
        block[0].split()[1].rpartition("::")[2]: (block[0].split()[-1], block[1].strip()) for block in heads
    }


@pytest.mark.parametrize("options", [(), ("-n1",)], ids=["alone", "worker"])
def test_the_report_calls_a_skipped_gate_skipped_wherever_it_was(written, run, capsys, options):
    plugins = "pytest_swapgate.plugin xdist.plugin"
    result = run(written(SKIPS), *options, plugins=plugins).assert_ends(0, skipped=6, xfailed=1)
    result.assert_says("7 gates were skipped and decided nothing (-rsx says why)")
    code, found = reported(written(SKIPS), capsys)
    assert code == 2
    told = "skipped before any comparison was asked for: "
    assert found == {
        "test_body": ("SKIPPED", f"{told}no key for the body"),
        "test_fixture": ("SKIPPED", f"{told}no key for the fixture"),
        "test_import": (
            "SKIPPED",
            f"{told}could not import 'no_such_module': No module named 'no_such_module'",
        ),
        "test_xfail": ("SKIPPED", f"{told}known"),
        "test_old_style": ("SKIPPED", f"{told}old style"),
        "test_mark": ("SKIPPED", f"{told}no key for the mark"),
        "test_unittest": ("SKIPPED", f"{told}no key for unittest"),
    }


def test_a_gate_that_a_mark_skips_does_not_hide_behind_its_older_pass(arms, run, capsys):
    run(arms(0.9)).assert_ends(0, passed=1)
    assert reported(arms(0.9), capsys)[0] == 0
    mark = "@pytest.mark.swap_penalty(score=0.25)"
    skipped = arms(0.9).edited("test_gate.py", mark, f'@pytest.mark.skip(reason="not today")\n{mark}')
    run(skipped, "--setup-plan").assert_ends(0, skipped=1)
    assert reported(arms(0.9), capsys)[0] == 0
    run(skipped).assert_ends(0, skipped=1)
    code, found = reported(skipped, capsys)
    assert code == 2
    assert found["test_gate"][0] == "SKIPPED"


UNITTEST = """
import unittest

class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _give(self, paired_runner): self.runner = paired_runner

    @pytest.mark.swap_penalty(score=0.25)
    def test_case(self):
        self.runner(lambda task, seed: True, lambda task, seed: task % WORSE != 0, range(60))
        THEN
"""


@pytest.mark.parametrize(
    ("worse", "then", "said"),
    [
        (1, "self.skipTest('not today')", "skipped or xfailed after a comparison had begun (not today)"),
        (40, "self.skipTest('not today')", "skipped or xfailed after a comparison had begun (not today)"),
        (40, "self.assertEqual(2 + 2, 5)", "AssertionError: 4 != 5"),
        (1, "pass", "swap_penalty FAIL: score +100.0 pp"),
    ],
)
def test_unittest_cannot_keep_the_end_of_a_body_from_its_gate(written, run, worse, then, said):
    result = run(written(UNITTEST.replace("WORSE", str(worse)).replace("THEN", then)))
    result.assert_ends(1, failed=1).assert_says(said)
    result.assert_silent_about("swap_penalty pass", " pass ")


def test_a_fixture_cannot_skip_a_gate_whose_comparison_it_asked_for(written, run, capsys):
    example = written("""
@pytest.fixture
def asked(paired_runner):
    paired_runner(lambda task, seed: True, lambda task, seed: False, range(60))
    pytest.skip("not today")

@pytest.mark.swap_penalty(score=0.25)
def test_gate(asked): pass
""")
    result = run(example).assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate error: skipped or xfailed after a comparison had begun (not today)")
    assert reported(example, capsys)[0] == 3


def test_a_red_verdict_that_was_turned_into_a_skip_is_red(arms, run):
    softens = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed:
        report.outcome, report.longrepr = "skipped", ("test_gate.py", 1, "Skipped: soft")
    return report
"""
    result = run(arms(0.3).with_files({"conftest.py": softens}))
    assert result.exit_code == 1
    result.assert_says(
        "swapgate: its verdict fail was made skipped by a plugin, a conftest.py or the test itself"
    )
    marked = arms(0.3).edited(
        "test_gate.py", "@pytest.mark", "@pytest.mark.xfail(reason='known')\n@pytest.mark"
    )
    run(marked.with_files({})).assert_ends(0, xfailed=1).assert_silent_about("swapgate problem")
