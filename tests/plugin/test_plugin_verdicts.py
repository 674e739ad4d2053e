"""A gate's verdict becomes an outcome, an exit code and lines that a person understands."""

from __future__ import annotations

import pytest

TWIN = 'replace("front", model="simulated:twin")'
CARELESS = 'replace("front", model="simulated:careless")'


def test_a_harmless_replacement_passes(teams, run):
    result = run(teams(TWIN)).assert_ends(0, passed=1)
    result.assert_line(
        r"swap_penalty +test_gate.py::test_gate +pass", r"score +harm .*tolerance 20 pp +floor .* pp +pass"
    )
    result.assert_says(
        "replace(front, model=simulated:twin) against placebo(front)",
        "8 teams, 32 pairs of episodes, 0.0 % of trials infra errors, session drift not assessed",
        "model simulated, simulated:twin (simulated: a stand-in, not a language model)",
        "Verdicts marked simulated rest on a stand-in, not on a language model.",
    )


def test_a_harmful_replacement_fails_on_both_metrics(teams, run):
    result = run(teams(CARELESS)).assert_ends(1, failed=1)
    result.assert_line(r"score +harm .*tolerance 20 pp .*FAIL", r"cost +harm .*tolerance 60 % .*FAIL")
    result.assert_says("harm above the tolerance of 20 pp, beyond the noise", "who pays: incumbent")
    result.assert_no_traceback_of_ours()


def test_a_swap_fails_on_the_cost_alone_and_pairs_are_its_units(teams, run):
    result = run(teams("swap()")).assert_ends(1, failed=1)
    result.assert_line(r"score +harm .*pass", r"cost +harm .*FAIL")
    result.assert_says(
        "8 teams (4 swap pairs)",
        "of what is said more often corrects a failed hand-off",
        "swap(drawn seat) against placebo(drawn seat)",
    )


def test_the_reason_is_the_first_line_of_the_failure_and_is_read_without_scrolling(teams, run):
    result = run(teams("swap()"))
    under_heading = (
        next(i for i, line in enumerate(result.lines) if line.startswith("___") and "test_gate" in line) + 1
    )
    assert result.lines[under_heading].startswith("swap_penalty FAIL: cost +")
    last = "\n".join(result.lines[-14:])
    assert "swap_penalty  test_gate.py::test_gate" in last
    assert "tolerance 60 %" in last


def test_a_failure_below_the_tolerance_says_why_it_fails_all_the_same(written, run):
    result = run(
        written("""
@pytest.mark.swap_penalty(score=0.15, trials=1, discordance=0.15)
def test_gate(paired_runner):
    paired_runner(lambda task, seed: True, lambda task, seed: task % 10 != 0, range(80))
""")
    )
    result.assert_ends(1, failed=1)
    result.assert_says(
        "score +10.0 pp [+5.", "beyond the noise, and not shown to stay below the tolerance of 15 pp"
    )


@pytest.mark.parametrize(("share", "outcome"), [(0.9, "passed"), (0.3, "failed")])
def test_two_functions_are_gated_without_any_team(arms, run, share, outcome):
    run(arms(share)).assert_ends(0 if outcome == "passed" else 1, **{outcome: 1}).assert_says(
        "60 tasks, 60 pairs of episodes",
        "cost not measured: the arms exchange no messages",
        "noise floor not measured",
        "arm (candidate) against arm (baseline)",
    )


UNDECIDED = """
@pytest.mark.swap_penalty(score=0.12, trials=1, discordance=0.04)
def test_gate(paired_runner):
    paired_runner(lambda task, seed: task % 16 != 0, lambda task, seed: task % 16 not in (1, 2), range(80))
"""


def test_inconclusive_is_red_and_says_how_many_more_would_decide(written, run):
    result = run(written(UNDECIDED)).assert_ends(1, failed=1)
    result.assert_says(
        "swap_penalty INCONCLUSIVE: score", "undecided against 12 pp; about", "more pairs decide it"
    )
    result.assert_no_traceback_of_ours()


@pytest.mark.parametrize("strict", [(), ("-W", "error")])
def test_inconclusive_can_be_a_warning(written, run, strict):
    result = run(written(UNDECIDED), "--swapgate-inconclusive", "warn", *strict).assert_ends(0, passed=1)
    result.assert_says(
        "SwapgateWarning: test_gate.py::test_gate: swap_penalty INCONCLUSIVE", "1 passed, 1 warning"
    )


def test_warning_about_the_inconclusive_never_softens_a_failure(arms, run):
    run(arms(0.3), "--swapgate-inconclusive=warn").assert_ends(1, failed=1)


KINDS = """
from pytest_swapgate import Episode, Message


def lot(task, seed, share):
    import random
    return random.Random(f"{task} {seed} {share}")

def succeeds(task, seed): return lot(task, seed, 1).random() < 0.9
async def succeeds_too(task, seed): return lot(task, seed, 2).random() < 0.9
def scores(task, seed): return lot(task, seed, 3).uniform(0.8, 1.0)
async def scores_too(task, seed): return lot(task, seed, 4).uniform(0.8, 1.0)
def talks(task, seed, least=3):
    n = lot(task, seed, least).randrange(least, least + 3)
    return Episode(score=1.0, messages=[Message(sender="a", text="?")] * n, subtasks=2)
async def talks_more(task, seed): return talks(task, seed, 6)

TASKS = [f"task {n}" for n in range(80)]

@pytest.mark.swap_penalty(score=0.20)
def test_successes(paired_runner):
    result = paired_runner(succeeds, succeeds_too, TASKS)
    assert result.planned == 80

@pytest.mark.swap_penalty(score=0.20)
def test_scores(paired_runner):
    assert paired_runner(scores, scores_too, TASKS[:12]).mean_score("candidate") > 0.8

@pytest.mark.swap_penalty(score=0.20, cost=0.20)
def test_talk(paired_runner):
    paired_runner(talks, talks_more, TASKS[:12])

@pytest.mark.swap_penalty(score=0.20)
@pytest.mark.asyncio
async def test_in_an_asyncio_test(paired_runner):
    result = await paired_runner(succeeds_too, scores_too, TASKS)
    assert result.valid == 80

@pytest.mark.swap_penalty(score=0.20)
@pytest.mark.anyio
async def test_in_an_anyio_test(paired_runner):
    await paired_runner(succeeds, succeeds_too, tasks=TASKS)

@pytest.fixture
def anyio_backend():
    return "asyncio"
"""


def test_arms_may_be_plain_or_async_in_plain_asyncio_and_anyio_tests(written, run):
    result = run(written(KINDS), "-W", "error").assert_ends(1, passed=4, failed=1)
    result.assert_line(r"FAILED test_gate.py::test_talk.*")
    result.assert_says(
        "swap_penalty FAIL: cost +", "harm above the tolerance of 20 %", "talks_more against talks"
    )


THREADS = """
import asyncio, sqlite3

async def thinks(task):
    await asyncio.sleep(0)
    return task % 10 != 0

@pytest.mark.swap_penalty(score=0.30)
def test_gate(paired_runner):
    memory = sqlite3.connect(":memory:")

    def today(task, seed):
        memory.execute("select 1")
        return asyncio.run(thinks(task))

    paired_runner(today, lambda task, seed: thinks(task + 1), range(50))
    memory.close()
"""


def test_plain_arms_may_run_event_loops_and_use_what_belongs_to_the_thread_of_the_test(written, run):
    run(written(THREADS), "-W", "error").assert_ends(0, passed=1)


def test_a_body_may_assert_on_the_result_and_a_red_gate_stays_red(written, run):
    run(
        written("""
@pytest.mark.swap_penalty(score=0.10)
def test_gate(paired_runner):
    result = paired_runner(lambda t, s: True, lambda t, s: t % 2 == 0, range(80))
    assert result.mean_score("candidate") == 0.5
""")
    ).assert_ends(1, failed=1).assert_says("score +50.0 pp", "harm above the tolerance of 10 pp")


def test_a_candidate_that_fails_everything_is_harm_not_an_error(written, run):
    result = run(
        written("""
@pytest.mark.swap_penalty(score=0.10)
def test_few_tasks(paired_runner):
    paired_runner(lambda t, s: True, lambda t, s: False, range(8))

@pytest.mark.swap_penalty(score=0.10)
def test_scores(paired_runner):
    paired_runner(lambda t, s: 1.0, lambda t, s: 0.0, range(8))
""")
    )
    result.assert_ends(1, failed=2).assert_says("swap_penalty FAIL: score +100.0 pp")


SEQUENTIAL = """
import random

def lot(share):
    return lambda task, seed: random.Random(f"{task} {seed} {share}").random() < share

@pytest.mark.swap_penalty(score=0.20, sequential=True)
def test_stops_early(paired_runner):
    result = paired_runner(lot(0.90), lot(0.20), range(200))
    assert result.valid < 60

@pytest.mark.swap_penalty(score=0.20, sequential=True)
def test_passes(paired_runner):
    paired_runner(lot(0.90), lot(0.91), range(200))

@pytest.mark.swap_penalty(score=0.20, sequential=True)
def test_scores_are_no_successes(paired_runner):
    paired_runner(lot(0.90), lambda task, seed: 0.5, range(200))
"""


def test_a_sequential_gate_stops_as_soon_as_it_is_decided(written, run):
    result = run(written(SEQUENTIAL)).assert_ends(1, passed=1, failed=2)
    result.assert_says(
        "stopped at look",
        "swapgate error: sequential=True needs successes, got the score 0.5 on task 'task-",
        "swap_penalty FAIL: score +",
    ).assert_no_traceback_of_ours()


MERGED = """
pytestmark = pytest.mark.swap_penalty(score=0.30, power=0.8)

def arm(task, seed): return task % 5 != 0
def worse(task, seed): return task % 5 not in (0, 1)

class TestOfAClass:
    pytestmark = pytest.mark.swap_penalty(score=0.15, cost=None)

    def test_of_the_class(self, paired_runner):
        assert [(t.score, t.cost, t.power, t.alpha) for t in paired_runner.tolerances] == [(0.15, None, 0.8, 0.05)]
        paired_runner(arm, worse, range(80))

    @pytest.mark.swap_penalty(score=0.70, alpha=0.01)
    def test_of_its_own(self, paired_runner):
        assert [(t.score, t.cost, t.power, t.alpha) for t in paired_runner.tolerances] == [(0.70, None, 0.8, 0.01)]
        paired_runner(arm, worse, range(80))

def test_of_the_module(paired_runner):
    assert [(t.score, t.cost, t.power, t.alpha) for t in paired_runner.tolerances] == [(0.30, 0.2, 0.8, 0.05)]
    paired_runner(arm, worse, range(80))
"""


def test_the_closest_marker_wins_and_outer_ones_fill_in(written, run):
    result = run(written(MERGED)).assert_ends(1, passed=2, failed=1)
    result.assert_line(r"FAILED test_gate.py::TestOfAClass::test_of_the_class.*")


def test_the_swapgate_marker_selects_every_gate_and_nothing_else(written, run):
    example = written(MERGED + "\n").with_files({"test_other.py": "def test_other():\n    pass\n"})
    run(example, "-m", "swapgate", "--collect-only", "-q").assert_says("3/4 tests collected (1 deselected)")
    run(example, "-m", "not swapgate").assert_ends(0, passed=1, deselected=3)
