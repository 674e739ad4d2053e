"""``--swapgate-plan``: what each gate would need, printed, exit 0; nothing is played, nothing is written."""

from __future__ import annotations

import textwrap

import pytest

GATES = """
@pytest.mark.swap_penalty(score=0.20, cost=0.60)
def test_swap(placebo_baseline, formed_teams, paired_runner): raise AssertionError("never run")

@pytest.mark.swap_penalty(score=0.01, cost=None)
def test_too_fine(formed_teams, paired_runner): raise AssertionError("never run")

@pytest.mark.swap_penalty(score=0.10)
def test_functions(paired_runner): raise AssertionError("never run")

@pytest.mark.active_pass_k(k=2, drop=0.10)
def test_pass_k(paired_runner): raise AssertionError("never run")

@pytest.mark.swap_penalty(score=None, cost=0.10)
def test_cost_of_functions(paired_runner): raise AssertionError("never run")

def test_study(swap_study): raise AssertionError("never run")

def test_ordinary(): raise AssertionError("never run")
"""


def planned(run, example, *args):
    result = run(example, "--swapgate-plan", *args)
    assert result.exit_code == 0, result.text
    assert not example.evidence.parent.exists()
    return result.assert_silent_about("never run").assert_no_traceback_of_ours()


def test_the_plan_says_what_each_gate_needs_and_refused_ones_are_visible(teams, run):
    result = planned(run, teams().with_test(GATES))
    result.assert_says(
        "swapgate plan: nothing is run, nothing is spent",
        "swap_penalty  test_gate.py::test_swap",
        "8 teams (4 swap pairs), 4 episodes a team and arm; 3 arms (baseline, candidate, baseline again for the noise "
        "floor) = 96 episodes",
        "if occupants are swapped: 4 swap pairs detect",
        "if an occupant is replaced: 8 teams detect",
        "REFUSED",
        "the gate asks for 1.0 pp: set --swapgate-teams",
        "two functions: 254 tasks, run once an arm, detect 10 pp at power 0.9, if 30 % of pairs are discordant = 508",
        "two functions: 254 tasks, run 2 times an arm, detect 10 pp",
        "REFUSED: a gate of the cost alone cannot size a sample of two functions",
        "swap_study  test_gate.py::test_study 6 conditions x 8 teams x 4 episodes = 192 episodes",
        "formation, once: 8 teams x 2 episodes = 16 episodes",
        "total of formed teams: at most 304 episodes",
        "total of functions: about 1,524 episodes, at the price of the project's own calls",
    )


def test_the_plan_knows_what_it_cannot_price(teams, run):
    planned(run, teams()).assert_says(
        "model simulated", "calls of the project's environment are unknown before a first run"
    )
    example = teams()
    model = (
        "\n\n@pytest.fixture(scope='session')\ndef swapgate_model():\n    raise AssertionError('never run')\n"
    )
    planned(run, example.with_files({"conftest.py": example.files["conftest.py"] + model})).assert_says(
        "model: from the project's swapgate_model fixture; calls and price unknown before a first run"
    )


def test_the_kitchen_is_priced(teams, run):
    example = teams().with_files({"conftest.py": ""})
    planned(run, example).assert_says(
        "expected:", "model calls", "M prompt", "model simulated: simulated, free"
    )


def test_a_run_without_gates_plans_nothing(written, run):
    planned(run, written("def test_ordinary(): raise AssertionError('never run')")).assert_says(
        "no gate was collected"
    )


def test_a_marker_that_is_wrong_is_still_an_error(written, run):
    result = run(written("@pytest.mark.swap_penalty(score=0)\ndef test_gate(): pass"), "--swapgate-plan")
    result.assert_says("swap_penalty: score=0: accepted is").assert_no_traceback_of_ours()
    assert result.exit_code == 2


def test_collecting_only_goes_before_planning(teams, run):
    planned(run, teams(), "--collect-only").assert_says("1 test collected").assert_silent_about(
        "swapgate plan"
    )


GATE = "\n@pytest.mark.swap_penalty(score=0.10)\n"
TEAMS_LINE = "8 teams (4 swap pairs), 4 episodes a team and arm"
FUNCTIONS_LINE = "two functions: 254 tasks"


def with_conftest(example, fixtures, test):
    files = {"conftest.py": example.files["conftest.py"] + textwrap.dedent(fixtures)}
    return example.with_files(files).with_test(textwrap.dedent(test).strip())


UNKNOWN = {
    "an autouse fixture": (
        "@pytest.fixture(autouse=True)\ndef stamp(formed_teams): pass",
        "def test_gate(paired_runner): pass",
        "the fixture stamp asks for formed_teams, not the test itself",
    ),
    "two fixtures away": (
        "@pytest.fixture\ndef inner(placebo_baseline): pass\n\n@pytest.fixture\ndef outer(inner): pass",
        "def test_gate(paired_runner, outer): pass",
        "the fixture outer asks for placebo_baseline, not the test itself",
    ),
    "a mark": (
        "",
        "@pytest.mark.usefixtures('formed_teams')\ndef test_gate(paired_runner): pass",
        "a mark asks for formed_teams, not the test itself",
    ),
    "by name in the body": (
        "",
        "def test_gate(paired_runner, request):\n    def inner(): return request.getfixturevalue('x')",
        "the test asks for fixtures by name while it runs",
    ),
    "by name in a fixture": (
        "@pytest.fixture\ndef league(request): return request.getfixturevalue(request.param)",
        "@pytest.mark.parametrize('league', ['formed_teams'], indirect=True)\n"
        "def test_gate(paired_runner, league): pass",
        "the fixture league asks for fixtures by name while it runs",
    ),
    "a fixture of the same name": (
        "@pytest.fixture\ndef formed_teams(): return 7",
        "def test_gate(paired_runner, formed_teams): pass",
        "the project has a fixture formed_teams of its own",
    ),
}


@pytest.mark.parametrize(("fixtures", "test", "why"), UNKNOWN.values(), ids=UNKNOWN)
def test_arms_that_nobody_can_know_yet_are_not_guessed(teams, run, fixtures, test, why):
    result = planned(run, with_conftest(teams(), fixtures, GATE + test))
    result.assert_says(
        f"what it compares is not known before it runs: {why}",
        f"if it compares formed teams: {TEAMS_LINE}",
        f"if it compares functions: {FUNCTIONS_LINE}",
        "total of functions: about 0 episodes, up to 508 with those not known",
    )
    result.assert_line("total of formed teams: at most (80|112) episodes")


KNOWN = {
    "a parameter": ("", "def test_gate(paired_runner, formed_teams): pass", TEAMS_LINE),
    "a parameter of a method": (
        "",
        "class TestGate:\n    @pytest.mark.swap_penalty(score=0.10)\n"
        "    def test_gate(self, formed_teams, paired_runner): pass",
        TEAMS_LINE,
    ),
    "an override that passes it on": (
        "@pytest.fixture(scope='session')\ndef formed_teams(formed_teams): return formed_teams",
        "def test_gate(paired_runner, formed_teams): pass",
        TEAMS_LINE,
    ),
    "a parameter and an autouse fixture": (
        "@pytest.fixture(autouse=True)\ndef stamp(formed_teams): pass",
        "def test_gate(paired_runner, formed_teams): pass",
        TEAMS_LINE,
    ),
    "nothing but the runner": ("", "def test_gate(paired_runner): pass", FUNCTIONS_LINE),
    "a parametrized argument of that name": (
        "",
        "@pytest.mark.parametrize('formed_teams', [7])\ndef test_gate(paired_runner, formed_teams): pass",
        FUNCTIONS_LINE,
    ),
    "a fixture of the project": (
        "@pytest.fixture\ndef desks(request, tmp_path): return 7",
        "def test_gate(paired_runner, desks): pass",
        FUNCTIONS_LINE,
    ),
}


@pytest.mark.parametrize(("fixtures", "test", "line"), KNOWN.values(), ids=KNOWN)
def test_arms_that_can_be_known_are_said_plainly(teams, run, fixtures, test, line):
    gate = "" if test.startswith("class") else GATE
    result = planned(run, with_conftest(teams(), fixtures, gate + test)).assert_says(line)
    other = FUNCTIONS_LINE if line == TEAMS_LINE else TEAMS_LINE
    result.assert_silent_about(other, "not known")


def test_a_study_beside_a_gate_and_one_that_a_fixture_asks_for_are_counted(teams, run):
    beside = planned(run, teams().with_test(GATE + "def test_gate(paired_runner, swap_study): pass"))
    beside.assert_says(
        "swap_study  test_gate.py::test_gate 6 conditions x 8 teams x 4 episodes = 192 episodes",
        FUNCTIONS_LINE,
        "total of formed teams: at most 208 episodes",
    )
    fixture = "\n\n@pytest.fixture\ndef figures(swap_study): return swap_study()\n"
    planned(run, with_conftest(teams(), fixture, "def test_it(figures): pass")).assert_says(
        "swap_study  test_gate.py::test_it the fixture figures asks for it, not the test itself; if it is called: 6",
        "total of formed teams: at most 208 episodes",
    )


def test_teams_that_are_formed_without_a_gate_are_counted(teams, run):
    planned(run, teams().with_test("def test_it(formed_teams): pass")).assert_says(
        "no gate was collected", "formation, once: 8 teams x 2 episodes = 16 episodes"
    )


def test_teams_that_only_refused_gates_want_are_not_formed(teams, run):
    fine = "@pytest.mark.swap_penalty(score=0.001)\ndef test_gate(paired_runner, formed_teams): pass"
    planned(run, teams().with_test(fine)).assert_says("REFUSED").assert_silent_about("formation")


@pytest.mark.parametrize("mark", ["skip(reason='x')", "skipif(True, reason='x')"])
def test_a_gate_that_its_mark_skips_needs_nothing(teams, run, mark):
    test = f"@pytest.mark.{mark}{GATE}def test_gate(paired_runner, formed_teams): pass"
    planned(run, teams().with_test(test)).assert_says(
        "skipped by its mark  test_gate.py::test_gate"
    ).assert_silent_about("episodes", "no gate was collected")


def test_teams_are_formed_for_functions_whatever_their_tolerance(teams, run):
    # No gate over teams could be this fine; this one compares functions.
    fine = with_conftest(
        teams(),
        "@pytest.fixture(autouse=True)\ndef stamp(formed_teams): pass",
        "@pytest.mark.swap_penalty(score=0.03, cost=None, sequential=True)\n"
        "def test_gate(paired_runner): paired_runner(lambda t, s: True, lambda t, s: t > -1, range(5000))",
    )
    run(fine).assert_ends(0, passed=1)
