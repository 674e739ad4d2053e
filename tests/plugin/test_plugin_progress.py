"""Progress: a live line for a terminal, a plain line now and then for a log, nothing with -q."""

from __future__ import annotations

import io
import os
import pty
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.example import Example

from pytest_swapgate.gates.showing import Showing
from pytest_swapgate.runner.progress import Progress
from pytest_swapgate.teams import Episode
from pytest_swapgate.ticker import Ticker, TickerBelow


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


# A slow desk, so that the line has time to be written.
PLAY = "    async def play(self, team, task, seed):\n"
SLOW = PLAY + "        import asyncio; await asyncio.sleep(0.15)\n"
STUDY = "def test_study(swap_study): swap_study()"


def on_terminal(example: Example, *options: str) -> str:
    """Return what a run writes to a terminal through standard error."""
    master, terminal = pty.openpty()
    try:
        example.edited("conftest.py", PLAY, SLOW).run_on(terminal, *options)
        os.set_blocking(master, False)
        try:
            return os.read(master, 100_000).decode()
        except BlockingIOError:
            return ""
    finally:
        os.close(master)
        os.close(terminal)


@pytest.mark.parametrize(
    ("options", "shown"),
    [((), True), (("-q",), False), (("-pxdist.plugin", "-n1"), True)],
    ids=["loud", "quiet", "worker"],
)
def test_a_run_on_a_terminal_shows_how_far_it_is(
    teams: Callable[..., Example], monkeypatch: pytest.MonkeyPatch, options, shown
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    written = on_terminal(teams("swap()"), *options)
    assert (re.search(r"swapgate \d+/\d+ episodes", written) is not None) is shown, written


def test_a_study_without_a_gate_shows_how_far_it_is(teams: Callable[..., Example]) -> None:
    assert "episodes" in on_terminal(teams().with_test(STUDY))


@pytest.mark.parametrize("options", [(), ("-q",)], ids=["loud", "quiet"])
def test_a_log_of_a_run_with_workers_gets_plain_lines_of_all_of_them(
    teams: Callable[..., Example], tmp_path: Path, options
) -> None:
    example = teams("swap()").edited("conftest.py", PLAY, SLOW)
    often = "\n\nimport pytest_swapgate.runner.sharing as sharing\nsharing.PLAIN_EVERY = 0.0\n"
    example = example.with_files({"conftest.py": example.files["conftest.py"] + often})
    example = example.with_files(
        {"test_other.py": example.files["test_gate.py"].replace("swap()", "naive()")}
    )
    (tmp_path / "tmp").mkdir()
    plugins = "pytest_swapgate.plugin xdist.plugin"
    result = example.run_pytest("-n2", *options, plugins=plugins, TMPDIR=str(tmp_path / "tmp"), TERM="xterm")
    assert result.exit_code == 1
    lines = [line for line in result.lines if line.startswith("swapgate: ")]
    assert "\x1b" not in result.text
    assert [*(tmp_path / "tmp").glob("swapgate-*")] == []
    if options:
        assert lines == []
    else:
        # Both arms of both gates, and formation once: more than one worker has planned.
        assert max(int(re.findall(r"/(\d+) episodes", line)[0]) for line in lines) > 96 + 16
        assert all(line.endswith("so far") for line in lines)


def test_a_run_whose_workers_cannot_be_shown_is_the_same_run(arms: Callable[..., Example]) -> None:
    nowhere = "import tempfile\n\ndef no_room(**_): raise OSError('no room')\n\ntempfile.mkdtemp = no_room\n"
    example = arms(0.9).with_files({"conftest.py": nowhere})
    result = example.run_pytest("-n1", plugins="pytest_swapgate.plugin xdist.plugin")
    result.assert_ends(0, passed=1).assert_no_traceback_of_ours()


def test_files_that_vanish_while_workers_are_awaited_end_the_showing_quietly(tmp_path: Path) -> None:
    showing = Showing(Log(), tmp_path / "gone", live=False)
    showing._thread.join(timeout=60)
    assert not showing._thread.is_alive()
    showing.stop()


class Screen:
    """A terminal that knows the few sequences that are written to it."""

    def __init__(self, rows: int, columns: int = 60) -> None:
        self.cells = [[" "] * columns for _ in range(rows)]
        self.gone: list[str] = []
        self.row = self.column = 0
        self.kept = (0, 0)

    @property
    def lines(self) -> list[str]:
        return [*self.gone, *("".join(row).rstrip() for row in self.cells)]

    def write(self, text: str) -> None:
        for part in re.findall(r"\x1b\[[0-9]*[A-Z]|\x1b.|[\r\n]|[^\x1b\r\n]", text):
            self._obey(part)

    def _obey(self, part: str) -> None:
        if part in ("\n", "\x1bD"):  # a terminal's driver makes \r\n of \n
            self.column = 0 if part == "\n" else self.column
            self.row += 1
            if self.row == len(self.cells):
                self.row -= 1
                self.gone.append("".join(self.cells.pop(0)).rstrip())
                self.cells.append([" "] * len(self.cells[0]))
        elif part == "\r":
            self.column = 0
        elif part == "\x1b[A":
            self.row = max(0, self.row - 1)
        elif part == "\x1b[B":
            self.row = min(len(self.cells) - 1, self.row + 1)
        elif part == "\x1b7":
            self.kept = (self.row, self.column)
        elif part == "\x1b8":
            self.row, self.column = self.kept
        elif part in ("\x1b[J", "\x1b[K"):
            for row in range(self.row, len(self.cells) if part == "\x1b[J" else self.row + 1):
                for column in range(self.column if row == self.row else 0, len(self.cells[0])):
                    self.cells[row][column] = " "
        else:
            assert not part.startswith("\x1b"), f"unknown: {part!r}"
            self.cells[self.row][self.column] = part
            self.column += 1


class Terminal(io.TextIOBase):
    """A stream that writes to a screen."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen

    def write(self, text: str) -> int:
        self.screen.write(text)
        return len(text)


class Still(TickerBelow):
    """Draws when it is told to."""

    def _run(self) -> None:
        pass


@pytest.mark.parametrize("rows", [3, 4, 12])
def test_a_line_below_never_touches_what_others_write(rows: int) -> None:
    """Dots, lines and names as a controller writes them, at the foot of the screen too."""
    alone, shared = Screen(rows), Screen(rows)
    progress = Progress(clock=lambda: 1.0)
    ticker = Still(progress, Terminal(shared), live=True)  # type: ignore[arg-type]
    progress.plan(100)
    for text in (
        ".",
        "F",
        ".",
        "\n",
        "test_a.py::test_b \n",
        "[gw0] PASSED test_a.py\n",
        ".",
        "s",
        "\n",
        ".",
    ):
        ticker.tick()
        assert shared.lines.count("swapgate 0/100 episodes  time left unknown") == 1
        if text == ".":
            shared.write(text)  # what stays on its line needs nobody's leave
        else:
            with ticker.aside():
                shared.write(text)
        alone.write(text)
        assert shared.column == alone.column
    ticker.stop()
    assert [line for line in shared.lines if line] == [line for line in alone.lines if line]


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
