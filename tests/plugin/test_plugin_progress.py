"""Progress: a live line for a terminal, a plain line now and then for a log, nothing with -q."""

from __future__ import annotations

import io
import os
import pty
import threading
from collections.abc import Callable

import pytest
from support.example import Example

from pytest_swapgate.runner.progress import Progress
from pytest_swapgate.teams import Episode
from pytest_swapgate.ticker import Ticker


class Log(io.StringIO):
    """A stream whose text can be read after it was closed."""

    def close(self) -> None:
        if not self.closed:
            self.text = self.getvalue()
        super().close()


def _ticker(progress: Progress, log: Log, *, live: bool) -> Ticker:
    return Ticker(progress, log, live=live)


def test_a_terminal_sees_one_line_that_goes_away() -> None:
    progress, log = Progress(), Log()
    ticker = _ticker(progress, log, live=True)
    progress.plan(4)
    progress.finish(Episode(score=1.0))
    ticker.tick()
    ticker.stop()
    assert "\nswapgate 1/4 episodes" in log.text
    assert log.text.endswith("\r\x1b[K")


def test_a_log_gets_a_line_each_half_minute_only() -> None:
    now = [0.0]
    progress, log = Progress(clock=lambda: now[0]), Log()
    ticker = _ticker(progress, log, live=False)
    progress.plan(4)
    ticker.tick()
    now[0] = 31.0
    ticker.tick()
    ticker.tick()
    ticker.stop()
    assert log.text.count("swapgate: 0/4 episodes") == 1
    assert log.text.endswith("so far\n")


def test_a_reader_that_went_away_does_not_end_the_run() -> None:
    progress, log = Progress(), Log()
    ticker = _ticker(progress, log, live=True)
    progress.plan(2)
    log.close()
    ticker.tick()
    ticker.stop()
    assert not any(thread.name == "swapgate-progress" for thread in threading.enumerate())


@pytest.mark.parametrize(("options", "shown"), [((), True), (("-q",), False)])
def test_a_run_on_a_terminal_shows_how_far_it_is(teams: Callable[..., Example], options, shown) -> None:
    # A slow desk, so that the line has time to be written.
    slow = "    async def play(self, team, task, seed):\n        import asyncio; await asyncio.sleep(0.15)\n"
    example = teams("swap()")
    example = example.edited("conftest.py", "    async def play(self, team, task, seed):\n", slow)
    master, terminal = pty.openpty()
    try:
        example.run_on(terminal, *options)
        os.set_blocking(master, False)
        try:
            written = os.read(master, 100_000).decode()
        except BlockingIOError:
            written = ""
    finally:
        os.close(master)
        os.close(terminal)
    assert ("episodes" in written) is shown, written


def test_each_look_of_a_sequential_gate_is_told() -> None:
    from pytest_swapgate.gate.sequential import Looks
    from pytest_swapgate.runner.callables import PairOutcome
    from pytest_swapgate.stats import plan_looks

    told: list[str] = []
    looks = Looks(plan_looks(0.2, discordance=0.3), told.append)
    same = Episode(score=1.0)
    pairs = [PairOutcome(f"t{n}", 0, same, same) for n in range(looks.plan.sizes[-1])]
    number = next(k for k, size in enumerate(looks.plan.sizes) if looks(pairs[:size]))
    assert told[0].startswith("look 1 of 5: harm [")
    assert told[number].endswith("pp, pass")
    assert all(line.endswith("undecided") for line in told[:number])
