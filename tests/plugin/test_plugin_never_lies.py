"""What a green gate could hide: each of these must be red, with a reason."""

from __future__ import annotations

import textwrap

import pytest

ARMS = """
import asyncio
import unittest
from functools import partial

from pytest_swapgate import Episode, Message

def ok(task, seed): return True
def fine(task, seed): return True
def three(level, task, seed): return True
def lost(task, seed): return Episode(score=1, failure="infrastructure") if task % 10 == 0 else True
def talks(task, seed, n=1): return Episode(score=1, messages=[Message(sender="a", text="!")] * n, subtasks=1)
def talks_twice(task, seed): return talks(task, seed, n=2)
async def later(task, seed): return True
async def slow(task, seed): return await asyncio.sleep(9, True)
async def forgets(task, seed): return later(task, seed)
async def skips(task, seed): pytest.skip("no kitchen")
"""

SILENT = {
    "never asked": ("pass", "swap_penalty decided nothing: the test never called paired_runner("),
    "one of two not awaited": (
        """
        await paired_runner(ok, fine, range(80))
        paired_runner(ok, fine, range(80))
        """,
        "swap_penalty: a comparison was never awaited: write 'await paired_runner(...)'",
    ),
    "not awaited": (
        "await asyncio.sleep(0); paired_runner(ok, fine, range(80))",
        "a comparison was never awaited",
    ),
    "cancelled": (
        """
        await paired_runner(ok, fine, range(80))
        task = asyncio.ensure_future(paired_runner(ok, slow, range(80)))
        await asyncio.sleep(0)
        task.cancel()
        """,
        "swap_penalty: a comparison was begun and never finished",
    ),
    "error swallowed": (
        """
        paired_runner(ok, fine, range(80))
        try:
            paired_runner(ok, lambda task, seed: 1 / 0, range(80))
        except Exception:
            pass
        """,
        "swap_penalty: a comparison was begun and never finished; do not catch its error",
    ),
    "coroutine returned": (
        "paired_runner(ok, forgets, range(80))",
        "returned a coroutine that was not awaited: write 'return await ...'",
    ),
    "coroutine behind a plain function": (
        "paired_runner(ok, lambda task, seed: forgets(task, seed), range(80))",
        "returned a coroutine that was not awaited: write 'return await ...'",
    ),
    "same function": (
        "paired_runner(ok, ok, range(80))",
        "the change did not bite: baseline and candidate are the same function",
    ),
    "same partial": (
        "paired_runner(partial(three, 1), partial(three, 1), range(80))",
        "the change did not bite: baseline and candidate are the same function",
    ),
    "skip in an arm": (
        "paired_runner(ok, lambda task, seed: pytest.skip('no kitchen'), range(80))",
        "skipped or xfailed after a comparison had begun (no kitchen): a gate that was asked must answer",
    ),
    "skip in an async arm": (
        "paired_runner(later, skips, range(80))",
        "skipped or xfailed after a comparison had begun (no kitchen)",
    ),
    "skip after the run": (
        "paired_runner(ok, lambda task, seed: False, range(80)); pytest.skip('not today')",
        "skipped or xfailed after a comparison had begun (not today)",
    ),
    "xfail after the run": (
        "paired_runner(ok, lambda task, seed: False, range(80)); pytest.xfail('known')",
        "skipped or xfailed after a comparison had begun (known)",
    ),
    "unittest's skip after the run": (
        "paired_runner(ok, fine, range(80)); raise unittest.SkipTest('old style')",
        "skipped or xfailed after a comparison had begun (old style)",
    ),
    "too many lost": (
        "paired_runner(ok, lost, range(80))",
        "only 288 of 320 planned pairs of episodes count (95 % are needed); lost to: 32 infrastructure; run again",
    ),
    "a score that never varies": (
        "paired_runner(lambda task, seed: 0.8, lambda task, seed: 0.8 + 0 * task, range(80))",
        "every episode of both arms scored 0.8: a score that never varies cannot show a loss",
    ),
    "a judge that is down": (
        "paired_runner(lambda task, seed: False, lambda task, seed: not True, range(80))",
        "the baseline scores 0.0 % on average: no candidate can lose the tolerance of 10 pp",
    ),
    "one task many times": (
        "paired_runner(ok, fine, list(range(40)) * 2)",
        "tasks 0 and 40 are the same: tasks are the independent units, so give each once",
    ),
    "an episode changed past its checks": (
        "paired_runner(ok, lambda task, seed: Episode(score=1).model_copy(update={'score': 1.7}), range(80))",
        "returned an Episode with score=1.7: accepted is a number in [0, 1]",
    ),
    "NaN past the checks of an episode": (
        "paired_runner(ok, lambda t, s: Episode(score=1).model_copy(update={'score': float('nan')}), range(80))",
        "returned an Episode with score=nan: accepted is a number in [0, 1]",
    ),
}


@pytest.mark.parametrize("what", SILENT)
def test_a_gate_that_measured_nothing_honest_is_red(written, run, what):
    body, line = SILENT[what]
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    head = "@pytest.mark.asyncio\nasync def" if "await " in body else "def"
    gate = f"@pytest.mark.swap_penalty(score=0.10)\n{head} test_gate(paired_runner):\n{body}\n"
    result = (
        run(written(f"{ARMS}\n{gate}"), "-W", "error").assert_ends(1, failed=1).assert_no_traceback_of_ours()
    )
    result.assert_says("swapgate error: ", line)
    result.assert_line(r"swap_penalty +test_gate.py::test_gate +ERROR")


def test_a_gate_without_the_fixture_is_red(written, run):
    result = run(written("@pytest.mark.swap_penalty\ndef test_gate(): pass")).assert_ends(1, failed=1)
    result.assert_says("swap_penalty decided nothing: the test never called paired_runner(")


VALUES = [
    ("float('nan')", "returned nan: accepted are an Episode, a score in [0, 1] or True/False"),
    ("float('inf')", "returned inf: accepted are an Episode, a score in [0, 1] or True/False"),
    ("1.2", "returned 1.2: accepted are an Episode, a score in [0, 1] or True/False"),
    ("-0.1", "returned -0.1: accepted are an Episode, a score in [0, 1] or True/False"),
    (
        "None",
        "returned NoneType (no return statement?): accepted are an Episode, a score in [0, 1] or True/False",
    ),
    ("'passed'", "returned str: accepted are an Episode, a score in [0, 1] or True/False"),
    ("(True, 1)", "returned tuple: accepted are an Episode, a score in [0, 1] or True/False"),
]


@pytest.mark.parametrize(("value", "line"), VALUES)
def test_an_outcome_that_is_no_outcome_is_red(written, run, value, line):
    gate = f"""
@pytest.mark.swap_penalty(score=0.1)
def test_gate(paired_runner):
    paired_runner(ok, lambda task, seed: {value}, range(80))
"""
    result = run(written(ARMS + gate)).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate error: the candidate arm on task 'task-", line)


def test_an_explicit_cost_is_not_dropped_because_no_messages_were_returned(written, run):
    body = "def test_gate(paired_runner): paired_runner(ok, fine, range(80))"
    result = run(written(f"{ARMS}\n@pytest.mark.swap_penalty(score=0.10, cost=0.20)\n{body}\n")).assert_ends(
        1, failed=1
    )
    result.assert_says("cost was declared but no messages were exchanged", "or declare cost=None")
    run(written(f"{ARMS}\n@pytest.mark.swap_penalty(score=0.10)\n{body}\n")).assert_ends(0, passed=1)


def test_an_async_gate_without_a_plugin_that_runs_it_is_red(written, run):
    gate = """
@pytest.mark.swap_penalty(score=0.1)
async def test_gate(paired_runner):
    await paired_runner(ok, fine, range(80))
"""
    result = run(written(ARMS + gate), "-p", "no:asyncio", "-p", "no:anyio").assert_ends(1, failed=1)
    result.assert_says("async def functions are not natively supported")


def test_a_skip_before_the_comparison_is_a_skip_and_opens_no_evidence_file(written, run):
    example = written(f"""{ARMS}
@pytest.mark.skip(reason="no kitchen here")
@pytest.mark.swap_penalty(score=0.10)
def test_gate(paired_runner): paired_runner(ok, fine, range(80))
""")
    run(example).assert_ends(0, skipped=1)
    assert not example.evidence.exists()
    run(written(f"""{ARMS}
@pytest.mark.swap_penalty(score=0.10)
def test_gate(paired_runner):
    pytest.skip("no kitchen here")
    paired_runner(ok, fine, range(80))
""")).assert_ends(0, skipped=1)  # fmt: skip


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_body_that_fails_is_red_with_its_own_reason(written, run, place):
    call = "paired_runner(ok, fine, range(80))"
    lines = ["assert 2 + 2 == 5", call] if place == "before" else [call, "assert 2 + 2 == 5"]
    body = "\n    ".join(["def test_gate(paired_runner):", *lines])
    result = run(written(f"{ARMS}\n@pytest.mark.swap_penalty(score=0.10)\n{body}")).assert_ends(1, failed=1)
    result.assert_says("assert (2 + 2) == 5")


def test_an_expected_failure_is_visible_and_an_unexpected_pass_is_red_where_strict(written, run):
    example = written(f"""{ARMS}
@pytest.mark.xfail(strict=True, reason="rotation is harmful, known")
@pytest.mark.swap_penalty(score=0.10)
def test_known(paired_runner): paired_runner(ok, lambda t, s: False, range(80))

@pytest.mark.xfail(strict=True)
@pytest.mark.swap_penalty(score=0.10)
def test_unexpected(paired_runner): paired_runner(ok, fine, range(80))
""")
    result = run(example).assert_ends(1, failed=1, xfailed=1)
    result.assert_line(
        r"swap_penalty +test_gate.py::test_known +FAIL", r"FAILED test_gate.py::test_unexpected.*XPASS.*"
    )


BITES = [
    ("placebo()", "the change did not bite: under placebo(drawn seat) the same occupant is back in its seat"),
    ("intact()", "the change did not bite: under intact(drawn seat) the same occupant is back in its seat"),
    (
        "replace()",
        "the change did not bite: no model was named for any seat; run with --swapgate-replace SEAT=MODEL",
    ),
    ("replace('front')", "the change did not bite: no model was named for the front seat"),
    (
        "replace('front', model='simulated')",
        "names the model that already occupies the seat; give another one",
    ),
]


@pytest.mark.parametrize(("arm", "line"), BITES)
def test_a_change_that_did_not_bite_is_red(teams, run, arm, line):
    result = run(teams(arm)).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says("swapgate error:", line)


def test_the_same_arm_twice_is_no_comparison(teams, run):
    example = teams("swap()").edited(
        "test_gate.py", "paired_runner(placebo_baseline", "paired_runner(formed_teams.swap()"
    )
    result = run(example).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says("the change did not bite: both arms are swap(drawn seat)")


def test_an_environment_that_ignores_the_notebook_is_red(teams, run):
    example = teams("swap()").edited(
        "conftest.py",
        "known = {seat: team.notebook(seat) for seat in self.seats}",
        "known = {seat: Notebook() for seat in self.seats}",
    )
    result = run(example).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says(
        "swapgate error: the change did not bite: in team-00 the first request to the",
        "seat is the same, byte for byte, under placebo(drawn seat) and swap(drawn seat)",
        "does play() use the notebook and model of the team it is handed?",
    )


def test_an_environment_that_never_looks_at_its_team_is_red(teams, run):
    example = teams("swap()")
    play = """
    def play(self, team, task, seed):
        lot = random.Random(f"{task.id} {seed}")
        messages = [Message(sender="front", text="!")] * lot.randrange(3, 6)
        return Episode(score=lot.random(), messages=messages, subtasks=1, notebooks={
            seat: Notebook(partner_notes=f"note {lot.random()}") for seat in self.seats})


@pytest.fixture"""
    head, _, rest = example.files["conftest.py"].partition("    async def play")
    example = example.with_files(
        {"conftest.py": head + play.lstrip("\n") + rest.partition("@pytest.fixture")[2]}
    )
    result = run(example).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    result.assert_says(
        "swapgate error: nothing shows that the change bit: in team-00 the occupant of the", "was never used"
    )


ADAPTER = '''
import random

import pytest
from pytest_swapgate import AdaptedEnvironment, Agent, Episode, Message, Notebook, Task, Team

SWITCHES = True


class Live:
    """A live team of another framework."""

    def __init__(self):
        self.agents = {seat: Agent(seat=seat, model="theirs") for seat in ("a", "b")}

    def snapshot(self):
        return Team(id="live", agents=tuple(self.agents.values()))

    def restore(self, team):
        self.agents = {agent.seat: agent for agent in team.agents}

    def change_seat(self, seat, occupant):
        if SWITCHES:
            self.agents[seat] = occupant

    def play(self, task, seed):
        lot = random.Random(f"{task.id} {seed} {[agent.state for agent in self.agents.values()]}")
        for seat, agent in self.agents.items():
            self.agents[seat] = agent.model_copy(update={"state": f"{agent.state[-6:]}{lot.randrange(10)}"})
        return Episode(score=lot.uniform(0.7, 1.0), subtasks=2,
                       messages=[Message(sender="a", text="!")] * lot.randrange(3, 6))


TASKS = [Task(id=f"{split}-{n}", split=split) for split in ("formation", "held_out") for n in range(3)]


@pytest.fixture(scope="session")
def swapgate_environment():
    return AdaptedEnvironment(Live, TASKS, digest="live 1")
'''


def test_a_team_of_another_framework_is_gated_and_one_that_does_not_switch_is_red(teams, run):
    example = teams("swap()").with_files({"conftest.py": ADAPTER})
    result = run(example)
    result.assert_says(
        "8 teams (4 swap pairs)", "swap(drawn seat) against placebo(drawn seat)"
    ).assert_silent_about("ERROR")
    result = run(example.edited("conftest.py", "SWITCHES = True", "SWITCHES = False"), "--swapgate-fresh")
    result.assert_ends(1, errors=1).assert_no_traceback_of_ours()
    result.assert_says(
        "swapgate error: the change did not bite: after change_seat(",
        "make snapshot() and change_seat() agree",
    )


def test_a_replacement_that_no_gate_tries_is_red(teams, arms, run):
    option = "--swapgate-replace=front=simulated:twin"
    run(teams("replace()"), option).assert_ends(0, passed=1)
    harmless = teams("swap()").edited("test_gate.py", "cost=0.60", "cost=3.0")
    result = run(harmless, option)
    assert result.exit_code == 1
    result.assert_says(
        "swapgate problem: --swapgate-replace front=simulated:twin: no gate of this run tried it; compare with "
        "formed_teams.replace() in one"
    )
    assert run(harmless, option, "--collect-only").exit_code == 0
    assert run(harmless, option, "--swapgate-plan").exit_code == 0


def test_a_cap_on_episodes_makes_a_gate_inconclusive_wherever_it_is_met(teams, arms, run):
    example = teams("swap()")
    while_forming = run(example, "--swapgate-max-episodes=5")
    while_forming.assert_ends(1, errors=1).assert_no_traceback_of_ours()
    while_forming.assert_says(
        "swap_penalty INCONCLUSIVE: the cap of 5 episodes is reached: raise --swapgate-max-episodes"
    )
    while_forming.assert_line(r"swap_penalty +test_gate.py::test_gate +INCONCLUSIVE")
    while_playing = (
        run(example, "--swapgate-max-episodes=30").assert_ends(1, failed=1).assert_no_traceback_of_ours()
    )
    while_playing.assert_says("swap_penalty INCONCLUSIVE: the cap of 30 episodes is reached")
    run(example).assert_ends(1, failed=1).assert_says("(19 read from evidence)")


def test_a_cap_reached_while_forming_can_be_a_warning_and_is_never_a_pass(teams, run):
    result = run(teams("swap()"), "--swapgate-max-episodes=5", "--swapgate-inconclusive=warn")
    result.assert_ends(0, skipped=1).assert_says(
        "SwapgateWarning", "INCONCLUSIVE: the cap of 5 episodes is reached"
    )
