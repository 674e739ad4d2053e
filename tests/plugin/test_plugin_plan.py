"""``--swapgate-plan``: what each gate would need, printed, exit 0; nothing is played, nothing is written."""

from __future__ import annotations

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
