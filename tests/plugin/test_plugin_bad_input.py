"""Bad input: one clear line that names what is accepted, the exit code of pytest's users, nothing half-written."""

from __future__ import annotations

import sqlite3

import pytest

MARKERS = [
    (
        "swap_penalty(tolerance=0.1)",
        "swap_penalty: tolerance=0.1 is unknown: accepted are score, cost, seat, mde,",
    ),
    (
        "swap_penalty(0.1)",
        "swap_penalty(0.1): arguments are named, for example swap_penalty(score=0.05, cost=0.20)",
    ),
    ("swap_penalty(score=0)", "swap_penalty: score=0: accepted is a drop of score in [0.0001, 1], or None"),
    (
        "swap_penalty(score=-0.1)",
        "swap_penalty: score=-0.1: accepted is a drop of score in [0.0001, 1], or None",
    ),
    (
        "swap_penalty(score=float('nan'))",
        "swap_penalty: score=nan: accepted is a drop of score in [0.0001, 1], or None",
    ),
    (
        "swap_penalty(score='5 %')",
        "swap_penalty: score='5 %': accepted is a drop of score in [0.0001, 1], or None",
    ),
    (
        "swap_penalty(score=True)",
        "swap_penalty: score=True: accepted is a drop of score in [0.0001, 1], or None",
    ),
    (
        "swap_penalty(cost=-0.2)",
        "swap_penalty: cost=-0.2: accepted is a relative rise in [0.0001, 100], or None",
    ),
    (
        "swap_penalty(cost=float('inf'))",
        "swap_penalty: cost=inf: accepted is a relative rise in [0.0001, 100], or None",
    ),
    (
        "swap_penalty(score=None, cost=None)",
        "swap_penalty: score=None, cost=None: accepted is a tolerance for at least one of them",
    ),
    (
        "swap_penalty(score=0.05, mde=0.1)",
        "swap_penalty: mde=0.1: accepted is a number in [0.0001, 0.05]: what must be",
    ),
    ("swap_penalty(alpha=0.7)", "swap_penalty: alpha=0.7: accepted is a number in [0.0001, 0.25]"),
    (
        "swap_penalty(power=1.0)",
        "swap_penalty: power=1.0: accepted is a number in [0.5, 0.95), the upper end being 1 - alpha",
    ),
    ("swap_penalty(seat=0)", "swap_penalty: seat=0: accepted is the name of a seat, or None to draw one"),
    ("active_pass_k(k=0)", "active_pass_k: k=0: accepted is a whole number from 1 to 1,000"),
    ("active_pass_k(k=2.0)", "active_pass_k: k=2.0: accepted is a whole number from 1 to 1,000"),
    ("active_pass_k(drop=0)", "active_pass_k: drop=0: accepted is a drop of pass^k in [0.0001, 1]"),
    ("active_pass_k(drop=0.1, mde=0.2)", "active_pass_k: mde=0.2: accepted is a number in [0.0001, 0.1]"),
    ("active_pass_k(k=3, trials=2)", "active_pass_k: trials=2: accepted is a whole number >= k=3"),
]


@pytest.mark.parametrize(("marker", "line"), MARKERS)
def test_a_wrong_marker_fails_at_collection_with_one_line(written, run, marker, line):
    result = run(written(f"@pytest.mark.{marker}\ndef test_gate(paired_runner): pass")).assert_ends(
        2, errors=1
    )
    result.assert_says(f"test_gate.py::test_gate: {line}").assert_no_traceback_of_ours()


def test_a_wrong_marker_of_one_parameter_fails_its_test_before_anything_is_played(written, run):
    result = run(
        written("""
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.swap_penalty(score=-1))])
def test_gate(paired_runner, n): raise AssertionError("never reached")
""")
    )
    result.assert_ends(1, errors=1).assert_says("test_gate[1]: swap_penalty: score=-1: accepted is a drop")
    result.assert_no_traceback_of_ours()


def test_paired_runner_without_a_marker_says_what_is_missing(written, run):
    result = run(written("def test_gate(paired_runner): pass")).assert_ends(1, errors=1)
    result.assert_says(
        "paired_runner needs a marker that decides: @pytest.mark.swap_penalty or @pytest.mark.active_pass_k"
    )
    result.assert_no_traceback_of_ours()


OPTIONS = [
    (["--swapgate-teams=1"], {}, "--swapgate-teams=1: accepted is a whole number >= 2 (even, for swaps)"),
    (
        ["--swapgate-teams=many"],
        {},
        "--swapgate-teams=many: accepted is a whole number >= 2 (even, for swaps)",
    ),
    (["--swapgate-budget=nan"], {}, "--swapgate-budget=nan: accepted is a number of US dollars > 0"),
    (["--swapgate-max-episodes=0"], {}, "--swapgate-max-episodes=0: accepted is a whole number >= 1"),
    (["--swapgate-inconclusive=ignore"], {}, "--swapgate-inconclusive=ignore: accepted is fail or warn"),
    (["--swapgate-model="], {}, "--swapgate-model=: accepted is provider/model as litellm names it"),
    (["--swapgate-replace=chef"], {}, "--swapgate-replace=chef: accepted is SEAT=MODEL, for example"),
    (
        ["--swapgate-replace=a=x", "--swapgate-replace=a=y"],
        {},
        "--swapgate-replace=a=x;a=y: the seat a is given twice",
    ),
    ([], {"SWAPGATE_TRIALS": "0"}, "environment variable SWAPGATE_TRIALS=0: accepted is a whole number >= 1"),
    (["-oswapgate_seed=x"], {}, "ini option swapgate_seed=x: accepted is a whole number >= 0"),
]


@pytest.mark.parametrize(("args", "env", "line"), OPTIONS)
def test_a_wrong_setting_is_a_usage_error_that_names_its_source(written, run, args, env, line):
    result = run(written("def test_a(): pass"), *args, **env)
    assert result.exit_code == 4
    result.assert_says(line).assert_no_traceback_of_ours()


def test_the_command_line_goes_before_the_environment_and_that_before_the_ini_file(teams, run):
    body = """
def test_settings(pytestconfig):
    from pytest_swapgate.gates import SESSION
    settings = pytestconfig.stash[SESSION].settings
    assert (settings.teams, settings.trials, settings.formation) == (10, 7, 2)
"""
    run(teams().with_test(body), "--swapgate-teams=10", SWAPGATE_TEAMS="6", SWAPGATE_TRIALS="7").assert_ends(
        0, passed=1
    )


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="native TOML came with pytest 9")
def test_settings_may_be_native_toml(folder, run):
    from support.example import Example

    example = Example(
        folder, {"pyproject.toml": '[tool.pytest]\nswapgate_teams = "8"\nswapgate_inconclusive = "warn"\n'}
    )
    body = """
def test_settings(pytestconfig):
    from pytest_swapgate.gates import SESSION
    assert pytestconfig.stash[SESSION].settings.teams == 8
"""
    run(example.with_test(body)).assert_ends(0, passed=1)
    wrong = example.edited("pyproject.toml", '"8"', '"one"').with_test(body)
    result = run(wrong)
    assert result.exit_code == 4
    result.assert_says("ini option swapgate_teams=one: accepted is a whole number >= 2")
    if pytest.version_tuple >= (9, 2):
        run(example.edited("pyproject.toml", '"8"', "8").with_test(body)).assert_ends(0, passed=1)


ENVIRONMENTS = [
    ('return [Task(id=f"{split}-{n}", split=split) for n in range(3)]',
     "return [] if split == 'held_out' else [Task(id='a', split=split)]",
     "Desk.tasks('held_out') is empty: teams are measured on at least one held-out task"),
    ('return [Task(id=f"{split}-{n}", split=split) for n in range(3)]',
     "return [] if split == 'formation' else [Task(id='a', split=split)]",
     "Desk.tasks('formation') is empty: give formation tasks, or form with --swapgate-formation 0"),
    ('return [Task(id=f"{split}-{n}", split=split) for n in range(3)]',
     "return ['a', 'b']", "Desk.tasks('formation') must return Task objects, got str"),
    ('seats = ("front", "back")', 'seats = ("front",)', "Desk.seats must be at least two distinct names, got ('fro"),
    ('return Desk()', 'return object()',
     "swapgate_environment gave object without seats, tasks, play: an environment has seats, tasks(split) and play("),
    ('known = {seat', 'raise RuntimeError("oven on fire"); known = {seat',
     "Desk.play raised RuntimeError: oven on fire (conftest.py:"),
    ('return Episode(', 'return dict(', "Desk.play must return an Episode, got dict on task 'formation-"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line"), ENVIRONMENTS)
def test_an_environment_that_cannot_be_played_is_one_line(teams, run, old, new, line):
    result = run(teams().edited("conftest.py", old, new)).assert_ends(1, errors=1)
    result.assert_says(f"swapgate error: {line}").assert_no_traceback_of_ours()
    result.assert_line(r"swap_penalty +test_gate.py::test_gate +ERROR")


GATES = [
    ("swap()", ["--swapgate-teams=7"], "swap pairs need an even number of teams, got 7: set --swapgate-teams 8"),
    ("swap()", ["--swapgate-teams=2"], "swap_penalty: 2 teams are too few; at least 3 are needed for any interval"),
    ("swap()", ["--swapgate-teams=4"], "4 teams give 2 swap pairs; at least 3 are needed for any interval"),
    ("swap('cellar')", [], "seat must be one of front, back (or None to draw one), got 'cellar'"),
    ("replace()", ["--swapgate-replace=cellar=simulated:twin"], "seat must be one of front, back"),
    ("replace()", ["--swapgate-replace=front=simulated:lazy"],
     "model 'simulated:lazy': accepted are simulated, simulated:twin and simulated:careless"),
    ("replace()", ["--swapgate-replace=front=nobody-knows-this"],
     "model 'nobody-knows-this' is not one that litellm knows: write provider/model, for example openai/"),
    ("replace()", ["--swapgate-replace=front=openai/gpt-4o-mini"],
     "model 'openai/gpt-4o-mini' (openai) needs OPENAI_API_KEY in the environment"),
    ("swap()", ["--swapgate-model=nobody-knows-this"], "model 'nobody-knows-this' is not one that litellm knows"),
]  # fmt: skip


@pytest.fixture(scope="module")
def litellm():
    """Have litellm loaded: an inner run of pytest that is the first to import it spoils the ones after it."""
    from pytest_swapgate.models.litellm_model import load_litellm

    return load_litellm()


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize(("arm", "args", "line"), GATES)
def test_teams_that_cannot_be_gated_are_one_line(teams, run, arm, args, line):
    result = run(teams(arm), *args)
    assert result.exit_code == 1
    result.assert_says(f"swapgate error: {line}").assert_no_traceback_of_ours()
    result.assert_line(r"swap_penalty +test_gate.py::test_gate +ERROR")


def test_a_marker_that_names_no_seat_of_the_team_is_refused_before_anything_is_played(teams, run):
    example = teams().edited("test_gate.py", "cost=0.60", "cost=0.60, seat='cellar'")
    result = run(example).assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says(
        "swapgate error: swap_penalty: seat='cellar': accepted is one of front, back, or None to draw one"
    )
    assert _episodes(example) == 0


def test_a_gate_that_cannot_detect_its_tolerance_is_refused_before_anything_is_played(teams, run):
    example = teams().edited("test_gate.py", "score=0.20", "score=0.01")
    result = run(example).assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says(
        "8 teams can detect", "the gate asks for 1.0 pp: set --swapgate-teams", "or declare score_sd"
    )
    assert _episodes(example) == 0


def test_a_refused_gate_does_not_keep_another_from_being_decided(teams, run):
    body = """
@pytest.mark.swap_penalty(score=0.01)
def test_refused(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap())

@pytest.mark.swap_penalty(score=0.20, cost=3.0)
def test_decided(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap())
"""
    result = run(teams().with_test(body)).assert_ends(1, passed=1, failed=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate error: 4 swap pairs can detect", "the gate asks for 1.0 pp")


def test_one_gate_is_one_seat(teams, run):
    result = run(teams("swap('back')").edited("test_gate.py", "cost=0.60", "cost=0.60, seat='front'"))
    result.assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says(
        "one gate decides on one seat, but the marker swap_penalty names 'front', the candidate names 'back': "
        "name the same seat, or name it once"
    )


FUNCTIONS = [
    ("ok, None", "the candidate must be an arm of formed_teams or a function arm(task, seed), got NoneType"),
    (
        "ok, lambda task: True",
        "the candidate arm <lambda>(task) is called with (task, seed): too many",
    ),
    (
        "ok, fine",
        "no tasks: pass a sequence of at least 3 tasks to paired_runner(baseline, candidate, tasks)",
    ),
    ("ok, fine, []", "no tasks: pass a sequence of at least 3 tasks"),
    ("ok, fine, [1, 2]", "2 task(s): tasks are the independent units, at least 3 are needed"),
    ("ok, fine, 'abc'", "tasks='abc': accepted is a sequence of tasks, such as a list"),
    ("ok, fine, 80", "tasks=80: accepted is a sequence of tasks, such as a list"),
    ("ok, raises, range(80)", "the candidate arm raised KeyError: 'kitchen' (test_gate.py:"),
    ("ok, araises, range(80)", "the candidate arm raised KeyError: 'kitchen' (test_gate.py:"),
    ("ok, unittest_skips, range(80)", "the candidate arm raised SkipTest: later (test_gate.py:"),
    (
        "ok, stops, range(80)",
        "the candidate arm raised RuntimeError: StopIteration, from a next() with nothing left (test_gate.py:",
    ),
    (
        "ok, bad_episode, range(80)",
        "the candidate arm raised ValidationError: Episode.score: Input should be less than",
    ),
]


@pytest.mark.parametrize(("call", "line"), FUNCTIONS)
def test_functions_that_cannot_be_gated_are_one_line(written, run, call, line):
    result = run(
        written(f"""
import unittest
from pytest_swapgate import Episode

def ok(task, seed): return True
def fine(task, seed): return True
def raises(task, seed): return {{}}["kitchen"]
async def araises(task, seed): return {{}}["kitchen"]
def unittest_skips(task, seed): raise unittest.SkipTest("later")
def stops(task, seed): return next(iter([]))
def bad_episode(task, seed): return Episode(score=1.2)

@pytest.mark.swap_penalty(score=0.10)
def test_gate(paired_runner):
    paired_runner({call})
""")
    )
    result.assert_ends(1, failed=1).assert_says(f"swapgate error: {line}").assert_no_traceback_of_ours()


SIZES = [
    (
        "score=0.10, trials=1",
        "5 tasks, run 1 time(s) each, show no harm at all at power 0.9, the gate asks for 10 pp",
    ),
    ("score=0.10, trials=2", "5 tasks, run 2 time(s) each, can detect"),
    (
        "score=None, cost=0.10",
        "a gate of the cost alone cannot size a sample of two functions: declare score=... too",
    ),
    (
        "score=None, cost=0.10, trials=9, cost_sd=0.5",
        "of cost at power 0.9, the gate asks for 10.0 %: give more tasks",
    ),
    ("score=0.10, sequential=True", "tasks, one trial each, got 5: give more tasks"),
]


@pytest.mark.parametrize(("arguments", "line"), SIZES)
def test_functions_that_cannot_show_the_tolerance_are_refused_before_they_are_called(
    written, run, arguments, line
):
    result = run(
        written(f"""
def never(task, seed): raise AssertionError("called")

@pytest.mark.swap_penalty({arguments})
def test_gate(paired_runner):
    paired_runner(never, lambda task, seed: never(task, seed), range(5))
""")
    )
    result.assert_ends(1, failed=1).assert_says("swapgate error: ", line).assert_no_traceback_of_ours()


def test_a_gate_of_the_cost_alone_takes_declared_trials(written, run):
    talk = """
from pytest_swapgate import Episode
import random

def talk(task, seed, more=0):
    n = random.Random(f"{task} {seed} {more}").randrange(8, 12) + more
    return Episode(score=0.5, messages=[dict(sender="a", text="!")] * n, subtasks=2)

@pytest.mark.swap_penalty(score=None, cost=0.30, trials=4)
def test_gate(paired_runner):
    paired_runner(talk, lambda task, seed: talk(task, seed, more=9), range(12))
"""
    run(written(talk)).assert_ends(1, failed=1).assert_says(
        "swap_penalty FAIL: cost +", "12 tasks, 48 pairs of episodes"
    )


def test_teams_and_functions_are_not_mixed(teams, run):
    for candidate, line in (
        (
            "lambda task, seed: True",
            "both arms must come from formed_teams, or both must be functions arm(task, seed)",
        ),
        ("formed_teams.swap", "the candidate is a method: call it, formed_teams.swap(...)"),
        (
            "formed_teams",
            "the candidate is formed_teams itself: name a condition, such as formed_teams.swap()",
        ),
    ):
        example = teams().edited("test_gate.py", "formed_teams.swap())", f"{candidate})")
        run(example).assert_ends(1, failed=1).assert_says(
            f"swapgate error: {line}"
        ).assert_no_traceback_of_ours()


def test_a_model_that_cannot_be_asked_is_one_line(teams, run):
    example = teams()
    models = "\n\n@pytest.fixture(scope='session')\ndef swapgate_model():\n    return 7\n"
    example = example.with_files({"conftest.py": example.files["conftest.py"] + models})
    result = run(example).assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate_model gave int: accepted is the name of a model, or a ChatModel")


@pytest.mark.parametrize("kind", ["text", "sqlite", "folder"])
def test_an_evidence_file_that_is_not_ours_is_left_alone(arms, run, kind):
    example = arms()
    example.write()
    place = example.folder / "mine.db"
    if kind == "folder":
        place.mkdir()
    elif kind == "text":
        place.write_bytes(b"my thesis")
    else:
        database = sqlite3.connect(place)
        database.execute("create table thesis (chapter)")
        database.commit()
        database.close()
    before = None if kind == "folder" else place.read_bytes()
    result = (
        run(example, "--swapgate-evidence=mine.db").assert_ends(1, errors=1).assert_no_traceback_of_ours()
    )
    result.assert_line(
        r"E? *swapgate error: .*mine\.db: .+; name an? .+|E? *swapgate error: .*mine\.db: a directory; .*"
    )
    assert before == (None if kind == "folder" else place.read_bytes())
    assert sorted(path.name for path in example.folder.iterdir() if path.name.startswith("mine")) == [
        "mine.db"
    ]


def test_an_evidence_file_that_cannot_be_is_one_line(arms, run):
    result = run(arms(), "--swapgate-evidence=pytest.ini/evidence.db").assert_ends(1, errors=1)
    result.assert_says(
        "evidence.db: cannot be created", "name a path in a writable folder"
    ).assert_no_traceback_of_ours()


def _episodes(example):
    if not example.evidence.exists():
        return 0
    database = sqlite3.connect(example.evidence)
    try:
        return database.execute("select count(*) from episodes").fetchone()[0]
    finally:
        database.close()
