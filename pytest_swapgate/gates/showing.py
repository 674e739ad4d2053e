"""Showing, in xdist's controller, how far the workers are.

Workers are silent and the controller plays nothing, so each worker writes how far it is into a file, and a thread of
the controller looks there. Nothing is imported for it before a worker has begun to play.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pytest

from pytest_swapgate.gates.state import copy_of_stderr

if TYPE_CHECKING:
    from pytest_swapgate.runner.sharing import SharedProgress
    from pytest_swapgate.ticker import Ticker, TickerBelow

LOOK_EVERY = 0.5
"""Seconds between two looks at whether a worker has begun to play."""


class Showing:
    """Shows how far all workers are: on a terminal in a line below the controller's own, else every half minute.

    Parameters
    ----------
    stream
        Where to write.
    folder
        An empty one, where workers say how far they are.
    live
        Whether the stream is a terminal.
    """

    def __init__(self, stream: TextIO, folder: Path, *, live: bool) -> None:
        self._stream = stream
        self._live = live
        self._folder = folder
        self._progress: SharedProgress | None = None
        self._ticker: Ticker | None = None
        self._below: TickerBelow | None = None
        self._gone: set[str] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait, name="swapgate-workers", daemon=True)
        self._thread.start()

    def file(self, worker: str) -> Path:
        """Return where a worker has to say how far it is."""
        return self._folder / f"{worker}.json"

    def end(self, worker: str) -> None:
        """Wait no longer for what a worker had planned: it has ended."""
        self._gone.add(worker)
        if self._progress is not None:
            self._progress.end(worker)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take a live line away while the controller writes."""
        below = self._below
        if below is None:
            yield
        else:
            with below.aside():
                yield

    def stop(self) -> None:
        """Show nothing more; again is harmless."""
        self._ended.set()
        self._thread.join()
        if self._ticker is not None:
            self._ticker.stop()
        with suppress(OSError):
            self._stream.close()

    def _wait(self) -> None:
        with suppress(OSError):  # somebody has removed the folder: nothing is shown
            while not self._ended.wait(LOOK_EVERY):
                if os.listdir(self._folder):
                    self._begin()
                    return

    def _begin(self) -> None:
        from pytest_swapgate.runner.sharing import SharedProgress
        from pytest_swapgate.ticker import Ticker, TickerBelow

        self._progress = SharedProgress(self._folder)
        for worker in self._gone.copy():
            self._progress.end(worker)
        if self._live:
            self._ticker = self._below = TickerBelow(self._progress, self._stream, live=True)
        else:
            self._ticker = Ticker(self._progress, self._stream, live=False)


class _Aside:
    """Keeps a live line out of the way of what the controller writes about its tests."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logstart(self) -> Any:
        with self._showing.aside():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self) -> Any:
        with self._showing.aside():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logfinish(self) -> Any:
        with self._showing.aside():
            return (yield)


def show_workers(config: pytest.Config, folder: Path) -> Showing | None:
    """Show on standard error how far workers are, which they write into a folder; None if there is none."""
    stream = copy_of_stderr()
    if stream is None:
        return None
    live = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    showing = Showing(stream, folder, live=live)
    if live:
        config.pluginmanager.register(_Aside(showing), "swapgate-aside")
    return showing
