"""What a marker may ask for: one marker a level, numbers that can be meant, no run of very many calls unasked."""

from __future__ import annotations

import pytest

from pytest_swapgate.gate.task_planning import plan_tasks, plan_unseen_tasks
from pytest_swapgate.gate.tolerances import GATES, ToleranceError
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.shortening import shortened
from pytest_swapgate.shortening import written as shown

STACKED = {
    "function": """
@pytest.mark.swap_penalty(score=0.25)
@pytest.mark.swap_penalty(score=0.9)
def test_gate(paired_runner): pass
""",
    "class": """
@pytest.mark.swap_penalty(score=0.25)
@pytest.mark.swap_penalty(score=0.9)
class TestAll:
    def test_gate(self, paired_runner): pass
""",
    "module": """
pytestmark = [pytest.mark.swap_penalty(score=0.9), pytest.mark.swap_penalty(score=0.25)]
def test_gate(paired_runner): pass
""",
}


@pytest.mark.parametrize("level", STACKED)
def test_two_marks_on_one_level_are_an_error_that_names_both(written, run, level):
    result = run(written(STACKED[level])).assert_ends(2, errors=1).assert_no_traceback_of_ours()
    first, second = ("0.25", "0.9") if level == "module" else ("0.9", "0.25")
    if level == "module":
        first, second = second, first
    result.assert_says(
        f"test_gate: swap_penalty(score={first}) and swap_penalty(score={second}) are declared on the same level: keep "
        "one of them"
    )


def test_two_marks_of_one_parameter_set_are_an_error_before_anything_is_played(written, run):
    result = run(
        written("""
TWO = [pytest.mark.swap_penalty(score=0.25), pytest.mark.swap_penalty(cost=0.9)]

@pytest.mark.parametrize("n", [pytest.param(1, marks=TWO)])
def test_gate(paired_runner, n): raise AssertionError("reached")
""")
    )
    result.assert_ends(1, errors=1).assert_no_traceback_of_ours().assert_says(
        "swap_penalty(score=0.25) and swap_penalty(cost=0.9) are declared on the same level"
    )


LEVELS = """
from pytest_swapgate.markers import tolerances_of

pytestmark = pytest.mark.swap_penalty(alpha=0.01, score=0.5, power=0.8)

def declared(request):
    [tolerance] = tolerances_of(request.node)
    return tolerance.score, tolerance.cost, tolerance.alpha, tolerance.power

@pytest.fixture(autouse=True)
def compared(paired_runner):
    paired_runner(lambda task, seed: True, lambda task, seed: task % 400 != 0, range(800))

@pytest.mark.swap_penalty(score=0.2, power=0.7)
class TestBase:
    @pytest.mark.swap_penalty(cost=None)
    def test_inherited(self, request):
        score = 0.1 if type(self) is TestDerived else 0.2
        assert declared(request) == (score, None, 0.01, 0.7)

@pytest.mark.swap_penalty(score=0.1)
class TestDerived(TestBase): pass

@pytest.mark.swap_penalty(score=0.3, cost=None)
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.swap_penalty(score=0.25)), 2])
def test_parameters(request, n):
    assert declared(request) == (0.25 if n == 1 else 0.3, None, 0.01, 0.8)

@pytest.mark.swap_penalty(score=0.3, cost=None)
@pytest.mark.active_pass_k(drop=0.3)
@pytest.mark.skip
def test_one_of_each(): pass

@pytest.mark.swap_penalty(score=0.3, cost=None)
def test_added(request):
    assert declared(request) == (0.15, None, 0.01, 0.9)
"""
ADDS = """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if item.name == "test_added":
            item.add_marker(pytest.mark.swap_penalty(score=0.15), append=False)
            item.add_marker(pytest.mark.swap_penalty(score=0.4, power=0.9))
"""


def test_the_closest_mark_wins_over_bases_parameters_and_what_hooks_add(written, run):
    run(written(LEVELS).with_files({"conftest.py": ADDS})).assert_ends(0, passed=5, skipped=1)


HUGE = 10**400
BOUNDS = [
    ("swap_penalty", "trials", 10**9, "trials=1000000000: accepted is a whole number from 1 to 100,000"),
    ("swap_penalty", "trials", 0, "trials=0: accepted is a whole number from 1 to 100,000"),
    ("swap_penalty", "family", HUGE, "accepted is a whole number from 1 to 1,000"),
    (
        "swap_penalty",
        "family",
        10**5000,
        "family=a int that cannot be shown: accepted is a whole number from",
    ),
    ("swap_penalty", "score", HUGE, "accepted is a drop of score in [0.0001, 1], or None"),
    ("swap_penalty", "score", 1e-300, "score=1e-300: accepted is a drop of score in [0.0001, 1], or None"),
    ("swap_penalty", "cost", 1e9, "cost=1000000000.0: accepted is a relative rise in [0.0001, 100], or None"),
    ("swap_penalty", "alpha", 1e-12, "alpha=1e-12: accepted is a number in [0.0001, 0.25]"),
    ("swap_penalty", "power", 0.1, "power=0.1: accepted is a number in [0.5, 0.95), the upper end being"),
    ("swap_penalty", "power", 0.94999999999, "power=0.94999999999: accepted is a number in [0.5, 0.95)"),
    ("swap_penalty", "mde", 1e-9, "mde=1e-09: accepted is a number in [0.0001, 0.05]"),
    ("swap_penalty", "cost_mde", -1, "cost_mde=-1: accepted is a number in [0.0001, 0.2]"),
    ("swap_penalty", "discordance", 1e-9, "discordance=1e-09: accepted is a share in [0.0001, 1]"),
    (
        "swap_penalty",
        "score_sd",
        float("inf"),
        "score_sd=inf: accepted is a standard deviation in [0.0001, 1]",
    ),
    ("swap_penalty", "cost_sd", HUGE, "accepted is a standard deviation in [0.0001, 10], or None"),
    ("swap_penalty", "sequential", "yes", "sequential='yes': accepted is True or False"),
    (
        "swap_penalty",
        "seat",
        ["a"] * 10**5,
        "'a', 'a', 'a'] (500,000 characters): accepted is the name of a seat",
    ),
    ("active_pass_k", "k", 10**6, "k=1000000: accepted is a whole number from 1 to 1,000"),
    ("active_pass_k", "drop", 1e-9, "drop=1e-09: accepted is a drop of pass^k in [0.0001, 1]"),
    ("active_pass_k", "mde", HUGE, "accepted is a number in [0.0001, 0.1]"),
    ("active_pass_k", "discordance", 0, "discordance=0: accepted is a share in [0.0001, 1]"),
]


@pytest.mark.parametrize(
    ("gate", "name", "value", "line"), BOUNDS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_argument_is_bounded_and_its_error_is_one_short_line(gate, name, value, line):
    with pytest.raises(ToleranceError) as caught:
        GATES[gate].from_arguments({name: value})
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_number_that_is_no_number_is_one_line_for_whoever_plans(written, run):
    gate = "@pytest.mark.swap_penalty(family=10**400)\ndef test_gate(paired_runner): pass"
    result = run(written(gate), "--swapgate-plan").assert_no_traceback_of_ours()
    assert result.exit_code != 0
    result.assert_says(
        "test_gate.py::test_gate: swap_penalty: family=1000", "accepted is a whole number from"
    )
    assert len(result.text) < 3_000


def planned(gate="swap_penalty", *, tasks, **arguments):
    return plan_tasks(GATES[gate].from_arguments(arguments), tasks=tasks)


def test_a_plan_of_very_many_calls_is_refused_and_says_how_to_get_it():
    with pytest.raises(GateError) as caught:
        planned(tasks=300, score=0.005)
    told = str(caught.value)
    assert told.startswith("300 tasks, run ")
    assert "to detect 0.5 pp at power 0.9, are " in told
    assert "more than 100,000 are played only where trials are declared: declare a larger tolerance" in told
    trials = int(told.rpartition("or declare trials=")[2].partition(" ")[0])
    assert planned(tasks=300, score=0.005, trials=trials).pairs == 300 * trials
    assert planned(tasks=300, score=0.05).pairs * 2 <= 100_000


def test_more_tasks_than_anybody_would_play_unasked_are_refused_as_well():
    with pytest.raises(
        GateError, match="give fewer tasks or declare a larger tolerance, or declare trials=1 if"
    ):
        planned(tasks=60_000, score=0.05)
    assert planned(tasks=60_000, score=0.05, trials=1).trials == 1
    assert planned(tasks=50_000, score=0.05).trials == 1


def test_what_no_process_can_hold_is_refused_though_it_is_declared():
    with pytest.raises(GateError) as caught:
        planned(tasks=300, score=0.05, trials=100_000)
    assert "are 60,000,000 episodes; one comparison plays at most 10,000,000" in str(caught.value)
    with pytest.raises(GateError) as caught:
        planned(tasks=300, score=0.0001)
    assert "or declare trials" not in str(caught.value)


@pytest.mark.parametrize("arguments", [{"score": 0.001}, {"score": 0.001, "sequential": True}])
def test_a_plan_that_no_tasks_can_save_is_refused_before_any_is_seen(arguments):
    with pytest.raises(
        GateError, match=r"are [\d,]+ episodes; more than 100,000 are played only where trials"
    ):
        plan_unseen_tasks(GATES["swap_penalty"].from_arguments(arguments))


@pytest.mark.parametrize("tolerance", ["score=0.001", "score=0.001, sequential=True, power=0.8"])
def test_nothing_is_called_for_a_gate_that_is_refused(written, run, tolerance):
    gate = f"""
def never(task, seed): raise AssertionError("called")

@pytest.mark.swap_penalty({tolerance})
def test_gate(paired_runner):
    paired_runner(never, lambda task, seed: never(task, seed), range(300))
"""
    result = run(written(gate)).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate error:").assert_silent_about("AssertionError: called")
    plan = run(written(gate), "--swapgate-plan")
    assert plan.exit_code == 0
    plan.assert_says("REFUSED:", "more than 100,000 are played only where trials are declared")


def test_teams_that_no_number_of_teams_can_save_are_one_line(teams, run):
    example = teams().edited("test_gate.py", "score=0.20", "score=0.0001, score_sd=1.0")
    result = run(example).assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says(
        "cannot be detected at power 0.9 with any number of teams that can be formed: declare a"
    )


LONG = {
    "an arm raises": ("lambda task, seed: 1 / 0", "raised ZeroDivisionError: division by zero"),
    "an arm raises it": ("lambda task, seed: {}[task]", "raised KeyError: "),
    "an arm returns nothing": ("lambda task, seed: None", "returned NoneType (no return statement?)"),
    "an arm misses a key": (
        "lambda task, seed: Episode(score=0, failure='configuration', error=task)",
        "the candidate arm: aaaa",
    ),
}


@pytest.mark.parametrize("what", LONG)
def test_a_long_text_of_a_user_is_shortened_in_what_we_say(written, run, what):
    arm, said = LONG[what]
    example = written(f"""
from pytest_swapgate import Episode

@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner):
    paired_runner(lambda task, seed: True, {arm}, ["a" * 200_000 + str(n) for n in range(60)])
""")
    result = run(example).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate error: ", said, "aaaa ... aaaa", " characters)")
    assert len(result.text) < 5_000


def test_tasks_that_are_no_sequence_are_shown_shortened(written, run):
    example = written("""
@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner):
    paired_runner(lambda task, seed: True, lambda task, seed: False, "a" * 200_000)
""")
    result = run(example).assert_ends(1, failed=1)
    result.assert_says("swapgate error: tasks='aaaa", "(200,002 characters): accepted is a sequence of tasks")
    assert len(result.text) < 3_000


def test_a_short_text_is_left_alone_and_a_long_one_keeps_its_ends():
    assert shortened("a" * 200) == "a" * 200
    text = shortened("b" + "a" * 300 + "c")
    assert text == f"b{'a' * 159} ... {'a' * 39}c (302 characters)"
    assert shown("it's") == '"it\'s"'


class Shy:
    def __repr__(self):
        raise RuntimeError("no")


def test_a_value_that_cannot_be_shown_is_named_by_its_type():
    assert shown(Shy()) == "a Shy that cannot be shown"
