"""Showing how far a long run is, while a test is still in its body."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pytest_swapgate.runner.progress import Progress
    from pytest_swapgate.runner.sharing import SharedProgress

LIVE_EVERY = 0.5
"""Seconds between two states of the live line."""


class Ticker:
    """Writes a live line on a terminal, or a plain line now and then into a log, until it is stopped.

    pytest captures what tests print, so this writes to a copy of standard error made before any test runs.

    Parameters
    ----------
    progress
        What to show.
    stream
        Where to write.
    live
        Whether to write one line over itself; else a new line every half minute.
    """

    _ERASE = "\r\x1b[K"

    def __init__(self, progress: Progress | SharedProgress, stream: TextIO, *, live: bool) -> None:
        self._progress = progress
        self._stream = stream
        self._live = live
        self._shown = False
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="swapgate-progress", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take the live line away and end."""
        self._ended.set()
        self._thread.join()
        self._hide()
        with suppress(OSError):
            self._stream.close()

    def _run(self) -> None:
        while not self._ended.wait(LIVE_EVERY):
            self.tick()

    def tick(self) -> None:
        """Write the state of this moment, if there is something to do."""
        from pytest_swapgate.runner.progress import live_line, plain_line

        standing = self._progress.standing()
        if self._live and standing.done < standing.planned:
            self._show(live_line(standing, width=shutil.get_terminal_size().columns - 1))
        elif self._live:
            self._hide()
        elif self._progress.plain_due():
            self._write(plain_line(standing) + "\n")

    def _show(self, line: str) -> None:
        with self._lock:
            self._write(self._drawn(line))
            self._shown = True

    def _hide(self) -> None:
        with self._lock:
            if self._shown:
                self._write(self._ERASE)
                self._shown = False

    def _drawn(self, line: str) -> str:
        """Return what draws the line, over itself or on a line of its own."""
        return ("\r" if self._shown else "\n") + line + "\x1b[K"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._ended.set()  # nobody reads any more; the run itself goes on


class TickerBelow(Ticker):
    """Keeps its live line below the line that others are writing at any time, such as a controller's row of dots.

    The cursor is always left where they had it, so that nothing of theirs moves, is lost or is written over.
    """

    _ERASE = "\x1b[J"

    def _drawn(self, line: str) -> str:
        # One line down and up again makes room at the foot of the screen; then the place is kept while the old line
        # goes and the new one comes below.
        return f"\x1bD\x1b[A\x1b7\x1b[J\x1b[B\r{line}\x1b8"

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the line away while others write more than goes on their line."""
        with self._lock:
            self._hide()
            yield
