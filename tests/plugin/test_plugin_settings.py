"""Every option is a command line option, an environment variable and an ini setting, and none is ignored."""

from __future__ import annotations

import pytest

from pytest_swapgate.settings import _OPTIONS

SHOW = """
def test_settings(pytestconfig):
    from pytest_swapgate.gates import SESSION
    settings = pytestconfig.stash[SESSION].settings
    print("SETTINGS", *[f"{name}={value}" for name, value in settings._asdict().items()], sep="|")
"""
VALUES = {
    "model": ("simulated:a", "simulated:b", "simulated:c"),
    "evidence": ("a.db", "b.db", "c.db"),
    "teams": ("4", "6", "8"),
    "formation": ("1", "2", "3"),
    "trials": ("1", "2", "3"),
    "seed": ("1", "2", "3"),
    "budget": ("1.0", "2.0", "3.0"),
    "max-tokens": ("1", "2", "3"),
    "price": ("(1.0, 2.0)", "(2.0, 3.0)", "(3.0, 4.0)"),
    "cassette": ("none", "once", "all"),
    "cassette-file": ("a.json", "b.json", "c.json"),
    "dask": ("tcp://a:1", "tcp://b:1", "tcp://c:1"),
    "max-episodes": ("1", "2", "3"),
    "concurrency": ("1", "2", "3"),
    "inconclusive": ("fail", "warn", "fail"),
    "replace": ("{'a': 'x', 'b': 'y'}", "{'a': 'y'}", "{'b': 'z'}"),
    "fresh": ("True", "False", "True"),
    "plan": ("True", "False", "True"),
}


def test_every_option_is_tried_here():
    assert {option.name for option in _OPTIONS} == set(VALUES)


def as_given(name, shown):
    """Return a setting as a user writes it."""
    if name == "replace":
        return shown.strip("{}").replace("'", "").replace(": ", "=")
    return shown.strip("()").replace(" ", "")


def settings(result):
    (line,) = (line for line in result.lines if "SETTINGS|" in line)
    return dict(pair.split("=", 1) for pair in line.partition("SETTINGS|")[2].split("|"))


@pytest.mark.parametrize("name", [name for name in VALUES if name != "plan"])
def test_the_command_line_goes_before_the_environment_and_that_before_the_ini_file(written, run, name):
    variable = f"SWAPGATE_{name.upper().replace('-', '_')}"
    key = {"replace": "replacements"}.get(name, name.replace("-", "_"))
    first, second, third = (as_given(name, shown) for shown in VALUES[name])
    args = ["--swapgate-fresh"] if name == "fresh" else [f"--swapgate-{name}={first}"]
    if name == "replace":
        args = [f"--swapgate-replace={one}" for one in first.split(",")]
    example = written(SHOW).with_ini(f"swapgate_{name.replace('-', '_')} = {third}")
    found = [
        settings(run(example, "-s", *more, **env))[key]
        for more, env in ((args, {variable: second}), ([], {variable: second}), ([], {variable: ""}))
    ]
    assert found == list(VALUES[name])


@pytest.mark.parametrize("yes", ["1", "true", "yes", "ON"])
def test_a_plan_asked_for_by_a_variable_runs_and_spends_nothing(teams, run, yes):
    example = teams()
    result = run(example, SWAPGATE_PLAN=yes)
    result.assert_says("swapgate plan: nothing is run, nothing is spent", "8 teams (4 swap pairs)")
    assert not example.evidence.exists()
    assert result.exit_code == 0


def test_a_plan_asked_for_in_the_ini_file_runs_nothing_until_a_variable_says_no(teams, run):
    example = teams().with_ini("swapgate_plan = true")
    run(example).assert_says("swapgate plan: nothing is run, nothing is spent")
    assert not example.evidence.exists()
    run(example, SWAPGATE_PLAN="0").assert_silent_about("nothing is run").assert_says("96 episodes")
    run(example, "--swapgate-plan", SWAPGATE_PLAN="0").assert_says("nothing is run")


def test_a_plan_asked_for_by_a_variable_starts_no_workers(teams, run):
    result = run(teams(), "-n", "2", plugins="pytest_swapgate.plugin xdist.plugin", SWAPGATE_PLAN="1")
    result.assert_says("swapgate plan: nothing is run, nothing is spent").assert_silent_about("2 workers")


def test_fresh_asked_for_by_a_variable_plays_again_and_is_no_other_system(arms, run):
    run(arms()).assert_ends(0, passed=1)
    run(arms(), SWAPGATE_FRESH="1").assert_ends(0, passed=1).assert_silent_about("read from evidence")
    run(arms(), SWAPGATE_FRESH="no").assert_says("120 read from evidence")


def test_a_replacement_named_by_a_variable_is_tried(teams, run):
    example = teams("replace()")
    result = run(example, SWAPGATE_REPLACE="front=simulated:careless").assert_ends(1, failed=1)
    result.assert_line(r"replace\(front, model=simulated:careless\) against placebo\(front\)")
    run(example, SWAPGATE_REPLACE="front=simulated:twin").assert_ends(0, passed=1)


WRONG = [
    ({"SWAPGATE_PLAN": "perhaps"}, [], "environment variable SWAPGATE_PLAN=perhaps: accepted is 1, true, yes or on;"),
    ({"SWAPGATE_FRESH": "2"}, [], "environment variable SWAPGATE_FRESH=2: accepted is 1, true, yes or on;"),
    ({"SWAPGATE_REPLACE": "chef"}, [], "environment variable SWAPGATE_REPLACE=chef: accepted is SEAT=MODEL,"),
    ({"SWAPGATE_REPLACE": "a=x;a=y"}, [], "environment variable SWAPGATE_REPLACE=a=x;a=y: the seat a is given twice"),
    ({}, ["-oswapgate_plan=perhaps"], "ini option swapgate_plan=perhaps: accepted is 1, true, yes or on;"),
    ({}, ["-oswapgate_replace=chef"], "ini option swapgate_replace=chef: accepted is SEAT=MODEL,"),
    ({}, ["--swapgate-replace="], "--swapgate-replace=: accepted is SEAT=MODEL,"),
    ({"SWAPGATE_BUGDET": "5"}, [],
     "environment variable SWAPGATE_BUGDET: there is no such option; the nearest is SWAPGATE_BUDGET"),
    ({"swapgate_teams": "8"}, [],
     "environment variable swapgate_teams: there is no such option; the nearest is SWAPGATE_TEAMS"),
    ({"SWAPGATE_REPLACEMENTS": "a=b"}, [],
     "environment variable SWAPGATE_REPLACEMENTS: there is no such option; the nearest is SWAPGATE_REPLACE"),
]  # fmt: skip


@pytest.mark.parametrize(("env", "args", "line"), WRONG)
def test_what_is_not_accepted_is_a_usage_error_that_names_its_source(written, run, env, args, line):
    result = run(written("def test_a(): pass"), *args, **env)
    assert result.exit_code == 4
    result.assert_says(line).assert_no_traceback_of_ours()


@pytest.mark.skipif(pytest.version_tuple < (9, 2), reason="native TOML takes other types since pytest 9.2")
def test_flags_may_be_native_toml(folder, run):
    from support.example import Example

    example = Example(folder, {"pyproject.toml": "[tool.pytest]\nswapgate_fresh = true\n"}).with_test(SHOW)
    assert settings(run(example, "-s"))["fresh"] == "True"


def test_a_model_may_have_commas_in_its_name(written, run):
    gate = """
@pytest.mark.swap_penalty
def test_gate(request, formed_teams, paired_runner):
    pytest.skip(str(request.config.stash[__import__("pytest_swapgate").gates.SESSION].settings.replacements))
"""
    for way in (
        {"SWAPGATE_REPLACE": "chef=simulated:noise=20,skill=0;assistant=simulated"},
        {},
    ):
        given = (
            []
            if way
            else [
                "--swapgate-replace=chef=simulated:noise=20,skill=0",
                "--swapgate-replace=assistant=simulated",
            ]
        )
        result = run(written(gate), "-rs", *given, **way)
        result.assert_says("{'chef': 'simulated:noise=20,skill=0', 'assistant': 'simulated'}")
