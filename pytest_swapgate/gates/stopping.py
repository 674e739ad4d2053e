"""Stopping the gates that play in xdist's workers, when the run that they are part of is stopped.

xdist lets a worker finish the test that it is in; for a gate, that may be an hour of paid calls. So the controller
leaves a word in a file, and a thread of every worker that plays looks there.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_swapgate.runner import Purse

LOOK_EVERY = 0.1
"""Seconds between two looks of a worker."""


class StopSign:
    """Controller side.

    Parameters
    ----------
    file
        Where to leave the word; in a folder that ends with the run.
    maxfail
        Failures after which the run is stopped (``-x``, ``--maxfail``); 0 for never.
    """

    def __init__(self, file: Path, maxfail: int) -> None:
        self.file = file
        self._maxfail = maxfail
        self._failures = 0

    def count(self, failed: bool) -> None:
        """Count a report as xdist does, and raise the sign when it is one failure too many."""
        self._failures += failed
        if failed and self._failures == self._maxfail:
            failures = "a failure (-x)" if self._maxfail == 1 else f"{self._maxfail} failures (--maxfail)"
            self.show(f"the run was stopped after {failures}")

    def show(self, why: str) -> None:
        """Stop all workers; the first reason stays."""
        if not self.file.exists():
            with suppress(OSError):  # they finish then what they are in
                new = self.file.with_suffix(".new")
                new.write_text(why, encoding="utf-8")
                new.replace(self.file)


class StopWatch:
    """Worker side: closes the purse when the sign is there, until it is ended.

    Parameters
    ----------
    file
        Where the controller leaves its word.
    purse
        Of whatever this process plays.

    Attributes
    ----------
    saw
        Whether the sign was there.
    """

    def __init__(self, file: Path, purse: Purse) -> None:
        self._file = file
        self._purse = purse
        self.saw = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="swapgate-stopwatch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(LOOK_EVERY):
            with suppress(OSError):
                self._purse.close(self._file.read_text(encoding="utf-8"))
                self.saw = True
                return
