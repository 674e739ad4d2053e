"""Models of a project's own: named wherever a model is named, refused where they are none, called what they are."""

from __future__ import annotations

import json

import pytest

from pytest_swapgate.cli import main

MINE = '''

import os
from pathlib import Path


class Mine:
    """A model of the project's own: says the word of its notebook, or one that nobody agreed on."""

    name = "mine"

    def __init__(self, rude=False):
        self.rude = rude

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        word = messages[-1]["content"].partition("The word is ")[2].partition(".")[0]
        text = "hm" if self.rude else word or f"word-{random.Random(seed).randrange(1000)}"
        return Completion(text, Usage(calls=1, prompt_tokens=20, completion_tokens=1, usd=0.0), self.name)


def made(name, **settings):
    """Make a model, and leave a trace of it."""
    if os.environ.get("GONE"):
        raise AssertionError(f"{name} was made")
    with Path("made.txt").open("a") as trace:
        trace.write(f"{name}\\n")
    return Mine(**settings)


@pytest.fixture(scope="session")
def swapgate_models():
    return OWN
'''
OWN = '{"mine": Mine(), "late": lambda: made("late"), "rude": lambda: made("rude", rude=True)}'


@pytest.fixture
def project(teams):
    """Return a project whose models are given, with one gate."""

    def project(arm="replace()", own=OWN):
        example = teams(arm)
        return example.with_files({"conftest.py": example.files["conftest.py"] + MINE.replace("OWN", own, 1)})

    return project


def made(example):
    """Return the models that were made late, in order."""
    trace = example.folder / "made.txt"
    return trace.read_text().split() if trace.exists() else []


def verdict(result):
    """Return the rows and counts of the gate, without what differs between two runs of the same."""
    start = next(i for i, line in enumerate(result.lines) if "= swapgate =" in line)
    return [
        line for line in result.lines[start:] if line.startswith(("score", "cost", "8 teams", "replace("))
    ]


@pytest.mark.parametrize("name", ["mine", "late"])
def test_a_test_names_a_model_of_its_own(project, run, name):
    example = project(f'replace("front", model="{name}")')
    result = run(example).assert_ends(0, passed=1)
    result.assert_says(f"replace(front, model={name}) against placebo(front)", f"model simulated, {name} (")
    assert made(example) == (["late"] if name == "late" else [])


def test_the_command_line_names_a_model_of_its_own(project, run):
    example = project()
    result = run(example, "--swapgate-replace", "front=rude").assert_ends(1, failed=1)
    result.assert_says("replace(front, model=rude) against placebo(front)")
    result.assert_line(r"score +harm .*tolerance 20 pp .*FAIL")
    assert made(example) == ["rude"]


def test_whole_teams_are_of_a_model_of_its_own_and_no_report_calls_it_simulated(project, run, capsys):
    example = project("naive('front')")
    options = ("--swapgate-model", "late")
    result = run(example, *options)
    result.assert_line(r".*episodes.*; model late").assert_silent_about("simulated", "stand-in")
    assert made(example) == ["late"]
    capsys.readouterr()
    main(["report", str(example.evidence)])
    text = capsys.readouterr().out
    assert "; model late" in text
    assert "simulated" not in text


def test_a_mixed_team_says_that_it_rests_on_a_stand_in(project, run, capsys):
    example = project('replace("front", model="mine")')
    run(example).assert_says(
        "model simulated, mine (simulated: a stand-in, not a language model)",
        "Verdicts marked simulated rest on a stand-in, not on a language model.",
    )
    capsys.readouterr()
    main(["report", str(example.evidence)])
    assert "Verdicts marked simulated rest on a stand-in" in capsys.readouterr().out


def test_a_stand_in_of_its_own_is_called_simulated(project, run):
    own = '{"simulated:ours": type("Ours", (Mine,), {"name": "simulated:ours"})}'
    example = project("naive('front')", own)
    run(example, "--swapgate-model", "simulated:ours").assert_says(
        "model simulated:ours (simulated: a stand-in, not a language model)"
    )


def test_a_fixture_may_return_one_of_them_and_it_keeps_its_name(project, run):
    example = project("naive('front')", '{"house model": Mine()}')
    model = "\n\n@pytest.fixture(scope='session')\ndef swapgate_model(swapgate_models):\n"
    model += "    return swapgate_models['house model']\n"
    example = example.with_files({"conftest.py": example.files["conftest.py"] + model})
    run(example).assert_line(r".*episodes.*; model house model")


def test_workers_name_the_same_models_and_agree(project, run):
    options = ("--swapgate-replace", "front=rude")
    alone = run(project(), *options).assert_ends(1, failed=1)
    plugins = "pytest_swapgate.plugin xdist.plugin"
    shared = run(project(), *options, "--swapgate-fresh", "-n2", plugins=plugins).assert_ends(1, failed=1)
    assert verdict(alone) == verdict(shared) != []


def test_a_cassette_replays_them_and_none_is_made(project, run):
    options = ("--swapgate-replace", "front=rude", "--swapgate-model", "late")
    recorded = run(project(), *options, "--swapgate-cassette", "once").assert_ends(1, failed=1)
    example = project()
    assert sorted(made(example)) == ["late", "rude"]
    cassette = json.loads((example.folder / "swapgate-cassette.json").read_text())
    assert {recording["model"] for recording in cassette["recordings"]} == {"late", "rude"}
    again = ("--swapgate-cassette", "none", "--swapgate-evidence", "other.db")
    replayed = run(example, *options, *again, GONE="1").assert_ends(1, failed=1)
    assert verdict(replayed) == verdict(recorded) != []


BAD = [
    ("[Mine()]", "mine", "swapgate_models gave list: accepted is a mapping of names to a ChatModel (an object with"),
    ("{7: Mine()}", "mine", "swapgate_models has the name 7: accepted is a text that is not empty, without spaces"),
    ('{"mine": "openai/x"}', "mine",
     "swapgate_models['mine'] is an object of type str: accepted is a ChatModel (an object with name and async"),
    ('{"mine": lambda: 7}', "mine", "swapgate_models['mine'] returned an object of type int: accepted is a ChatModel"),
    ('{"mine": lambda: {}["port"]}', "mine", "swapgate_models['mine'] raised KeyError: 'port' (conftest.py:"),
    ('{"kind": Clerk("simulated:careless")}', "kind",
     "swapgate_models['kind'] is the model 'simulated:careless': a stand-in, and nothing else, has a name that begins"),
    ('{"mine": Mine(), "rude": Mine(True)}', "mien",
     "model 'mien' is not one that litellm knows: write provider/model, for example openai/gpt-5-mini, or simulated; "
     "swapgate_models has mine, rude"),
    ('{"mine": Mine()}', "openai/gpt-5-mini",
     "model 'openai/gpt-5-mini' (openai) needs OPENAI_API_KEY in the environment; swapgate_models has mine"),
    ('{"mine": Mine()}', "simulated:lazy",
     "model 'simulated:lazy': accepted are simulated, simulated:twin and simulated:careless; swapgate_models has mine"),
    ('{"mine": type("Text", (Mine,), {"complete": lambda self, messages, **_: "yes"})}', "mine",
     "model 'mine': Text.complete() must be async, it gave str at once"),
]  # fmt: skip


@pytest.fixture(scope="module")
def litellm():
    """Have litellm loaded: an inner run of pytest that is the first to import it spoils the ones after it."""
    from pytest_swapgate.models.litellm_model import load_litellm

    return load_litellm()


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize(("own", "name", "line"), BAD)
def test_what_is_no_model_is_one_line_that_names_it(project, run, own, name, line):
    result = run(project(own=own), "--swapgate-replace", f"front={name}")
    assert result.exit_code == 1
    result.assert_says(f"swapgate error: {line}").assert_no_traceback_of_ours()
    result.assert_line(r"swap_penalty +test_gate.py::test_gate +ERROR")


def test_a_model_that_cannot_be_had_here_skips_the_gate_with_its_reason(project, run):
    example = project(own='{"mine": lambda: pytest.skip("no weights for mine")}')
    run(example, "--swapgate-replace", "front=mine", "-rs").assert_says("no weights for mine", "1 skipped")


# Options of a call.

TUNED = """

class Tuned(Mine):
    name = "tuned"

    async def complete(self, messages, *, options=None, **more):
        assert options["extra_body"] == {"grammar": "root ::= word"}, options
        return await super().complete(messages, **more)


class Counter(Desk):
    async def play(self, team, task, seed):
        ask = team.ask
        options = {"extra_body": {"grammar": "root ::= word"}, "temperature": 0.2}
        team.ask = lambda seat, messages, **more: ask(seat, messages, options=options, **more)
        return await super().play(team, task, seed)


@pytest.fixture(scope="session")
def swapgate_environment():
    return Counter()
"""


@pytest.fixture
def tuned(project):
    def tuned(model="Tuned"):
        example = project("naive('front')", f'{{"tuned": {model}()}}')
        return example.with_files({"conftest.py": example.files["conftest.py"] + TUNED})

    return tuned


ASKED = ("--swapgate-model", "tuned")


def test_another_option_of_a_call_reads_no_old_evidence(tuned, run):
    first = run(tuned(), *ASKED)
    first.assert_line(r"96 episodes, .*; model tuned")
    run(tuned(), *ASKED).assert_line(r"96 episodes \(96 read from evidence\).*; model tuned")
    run(tuned().edited("conftest.py", '"temperature": 0.2', '"temperature": 0.9'), *ASKED).assert_line(
        r"96 episodes, .*; model tuned"
    )


def test_another_setting_of_a_model_of_its_own_reads_no_old_evidence(project, run):
    def example(model):
        own = project("naive('front')", f'{{"mine": {model}}}')
        # The environment says that its rules are the same; about models it says nothing.
        return own.edited("conftest.py", "class Desk:", "class Desk:\n    digest = 'v1'\n")

    asked = ("--swapgate-model", "mine")
    run(example("Mine()"), *asked).assert_line(r"96 episodes, .*; model mine")
    run(example("Mine()"), *asked).assert_line(r"96 episodes \(96 read from evidence\).*; model mine")
    run(example("Mine(rude=True)"), *asked).assert_line(r"96 episodes, .*; model mine")


def test_a_model_that_takes_no_options_is_one_line(tuned, run):
    result = run(tuned("Mine"), *ASKED).assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says(
        "swapgate error: model 'tuned' takes no options, and is asked with extra_body: let its complete() have a "
        "parameter options=None, or ask without"
    )
