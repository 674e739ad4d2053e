"""Showing how far a long run is, while a test is still in its body."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pytest_swapgate.runner.progress import Progress

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

    def __init__(self, progress: Progress, stream: TextIO, *, live: bool) -> None:
        self._progress = progress
        self._stream = stream
        self._live = live
        self._shown = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="swapgate-progress", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take the live line away and end."""
        self._ended.set()
        self._thread.join()
        if self._shown:
            self._write("\r\x1b[K")
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
            line = live_line(standing, width=shutil.get_terminal_size().columns - 1)
            self._write(("\r" if self._shown else "\n") + line + "\x1b[K")
            self._shown = True
        elif self._live and self._shown:
            self._write("\r\x1b[K")
            self._shown = False
        elif not self._live and self._progress.plain_due():
            self._write(plain_line(standing) + "\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._ended.set()  # nobody reads any more; the run itself goes on


def copy_of_stderr() -> TextIO | None:
    """Return a stream that reaches standard error whatever pytest captures, or None if there is none."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="replace")
    except (AttributeError, OSError, ValueError):
        return None
