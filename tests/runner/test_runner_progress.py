"""Progress: figures that the runner feeds, and the two ways they are written."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runner_samples import make_chain, make_stage, make_team

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.runner import CallableArm, play_callables, play_chains
from pytest_swapgate.runner.progress import PLAIN_EVERY, Progress, live_line, plain_line
from pytest_swapgate.teams import Episode, FailureClass, Usage

PLAYED = Episode(score=1.0, usage=Usage(calls=1, prompt_tokens=90, completion_tokens=10, usd=0.5))
LOST = Episode(score=0.0, failure=FailureClass.INFRASTRUCTURE)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def half_done():
    clock = Clock()
    progress = Progress(clock)
    progress.plan(1000)
    for _ in range(400):
        progress.finish(PLAYED)
    for _ in range(100):
        progress.finish(PLAYED, read=True)
    for _ in range(3):
        progress.lose(LOST)
    clock.now = 80.0
    return progress, clock


def test_lines_say_how_far_it_is():
    progress, _ = half_done()
    standing = progress.standing()
    text = "500/1,000 episodes  100 read  USD 200.00  3 infra errors  1 min 40 s left"
    assert live_line(standing, width=200) == f"swapgate {text}"
    assert plain_line(standing) == f"swapgate: {text.replace('  ', ', ')}, 1 min 20 s so far"
    progress.look("harm +0.8 pp,\n undecided")
    assert live_line(progress.standing(), width=200).endswith("left  harm +0.8 pp, undecided")


def test_a_finished_run_has_nothing_left():
    progress = Progress(Clock())
    progress.plan(1)
    progress.finish(Episode(score=1.0))
    assert live_line(progress.standing()) == "swapgate 1/1 episodes"


def test_nothing_is_claimed_before_there_is_a_pace():
    progress = Progress(Clock())
    progress.plan(10)
    assert live_line(progress.standing()) == "swapgate 0/10 episodes  time left unknown"
    progress.finish(PLAYED, read=True)
    assert "time left unknown" in live_line(progress.standing())


def test_unknown_price_is_not_shown_as_money():
    progress = Progress(Clock())
    progress.plan(2)
    progress.finish(Episode(score=1.0, usage=Usage(calls=1, prompt_tokens=1200, usd=None)))
    assert "1,200 tokens, price unknown" in plain_line(progress.standing())


@pytest.mark.parametrize(("seconds", "text"), [(59.4, "59 s"), (60, "1 min 00 s"), (3661, "1 h 01 min")])
def test_times_are_short(seconds, text):
    progress, clock = half_done()
    clock.now = seconds
    assert plain_line(progress.standing()).endswith(f"{text} so far")


def test_plain_line_is_due_every_30_seconds_while_there_is_something_to_do():
    clock = Clock()
    progress = Progress(clock)
    assert not progress.plain_due()
    progress.plan(1)
    due = []
    for clock.now in range(100):
        if progress.plain_due():
            due.append(clock.now)
    assert due == [PLAIN_EVERY, 2 * PLAIN_EVERY, 3 * PLAIN_EVERY]
    clock.now = 1000.0
    progress.finish(PLAYED)
    assert not progress.plain_due()


@given(width=st.integers(0, 200), forming=st.text(max_size=300))
@settings(deadline=None, max_examples=60)
def test_live_line_never_leaves_its_line(width, forming):
    progress, _ = half_done()
    progress.look(forming)
    line = live_line(progress.standing(), width=width)
    assert len(line) <= width
    assert len(line.splitlines()) <= 1


def test_runner_feeds_chains_and_reads(tmp_path):
    with EvidenceStore.open(tmp_path / "e.db") as store:
        for read in (0, 6):
            stage = make_stage(store=store)
            anyio.run(play_chains, stage, [[make_chain()], [make_chain(make_team("u"), first_seed=50)]])
            standing = stage.progress.standing()
            assert (standing.done, standing.planned, standing.read) == (6, 6, read)
            assert standing.usage == stage.purse.usage


def test_runner_takes_back_what_a_look_made_needless():
    async def arm(task, seed):
        return True

    stage = make_stage()
    arms = [CallableArm(role, "g", arm, None) for role in ("baseline", "candidate")]

    async def work():
        await play_callables(
            stage,
            *arms,
            list("abcdef"),
            trials=1,
            seed=0,
            looks=[2, 4, 6],
            stop=lambda pairs: len(pairs) == 4,
        )

    anyio.run(work)
    standing = stage.progress.standing()
    assert (standing.done, standing.planned) == (8, 8)
