"""How far a run is: figures that the runner feeds, and two ways to write them as text."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from pytest_swapgate.teams.episode import Episode, FailureClass, Usage

PLAIN_EVERY = 30.0
"""Seconds between two plain lines."""


@dataclass(frozen=True)
class Standing:
    """A moment of a run.

    Attributes
    ----------
    done, planned
        Episodes finished, those read from evidence included, and episodes that were asked for so far, at most.
    read
        Of the finished ones, those that were read.
    usage
        What the played ones consumed.
    lost
        Failure class -> times an episode was played and did not count.
    seconds
        Since the first episode was planned.
    left
        Seconds until the planned ones are done at the pace so far; None before there is a pace.
    forming
        What the latest look at the data said, empty before one.
    """

    done: int
    planned: int
    read: int
    usage: Usage
    lost: dict[str, int]
    seconds: float
    left: float | None
    forming: str

    @property
    def infrastructure(self) -> int:
        """Episodes that the infrastructure ate."""
        return self.lost.get(FailureClass.INFRASTRUCTURE.value, 0)


class Progress:
    """Counts of a run, fed by the runner from any thread, looked at by whoever shows them.

    Parameters
    ----------
    clock
        Seconds, ever growing.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began: float | None = None
        self._done = 0
        self._read = 0
        self._planned = 0
        self._usage = Usage()
        self._lost: Counter[str] = Counter()
        self._forming = ""
        self._written: float | None = None

    def plan(self, episodes: int) -> None:
        """Add episodes that are going to be played or read; fewer than 0 takes some back."""
        with self._lock:
            if self._began is None:
                self._began = self._written = self._clock()
            self._planned += episodes

    def finish(self, episode: Episode, *, read: bool = False) -> None:
        """Count a finished episode, lost for good or not."""
        with self._lock:
            self._done += 1
            self._read += read
            if not read and episode.counts:
                self._usage = self._usage + episode.usage

    def lose(self, episode: Episode) -> None:
        """Count one time that an episode was played and did not count; it may be played again."""
        with self._lock:
            self._usage = self._usage + episode.usage
            if episode.failure is not None:
                self._lost[episode.failure.value] += 1

    def look(self, forming: str) -> None:
        """Keep what a look at the data said, such as ``score harm +0.8 pp, undecided``."""
        with self._lock:
            self._forming = " ".join(forming.split())

    def standing(self) -> Standing:
        """Return the figures of this moment."""
        with self._lock:
            seconds = 0.0 if self._began is None else self._clock() - self._began
            played = self._done - self._read
            missing = max(0, self._planned - self._done)
            # What is read takes no time, so the pace is that of the played ones.
            left = seconds / played * missing if played else (0.0 if not missing else None)
            return Standing(
                done=self._done,
                planned=self._planned,
                read=self._read,
                usage=self._usage,
                lost=dict(self._lost),
                seconds=seconds,
                left=left,
                forming=self._forming,
            )

    def plain_due(self) -> bool:
        """Whether `PLAIN_EVERY` seconds are over since this was last true, while there is something to do."""
        with self._lock:
            if self._written is None or self._done >= self._planned:
                return False
            now = self._clock()
            if now - self._written < PLAIN_EVERY:
                return False
            self._written = now
            return True


def live_line(standing: Standing, *, width: int = 80) -> str:
    """Return one line for a terminal, to be written over the one before; never longer than ``width``."""
    return _cut("swapgate " + "  ".join(_parts(standing)), width)


def plain_line(standing: Standing) -> str:
    """Return one line for a log."""
    return f"swapgate: {', '.join(_parts(standing))}, {_time(standing.seconds)} so far"


def _parts(standing: Standing) -> list[str]:
    parts = [f"{standing.done:,}/{standing.planned:,} episodes"]
    if standing.read:
        parts.append(f"{standing.read:,} read")
    usage = standing.usage
    if usage.usd is None:
        parts.append(f"{usage.tokens:,} tokens, price unknown")
    elif usage.usd > 0:
        parts.append(f"USD {usage.usd:,.2f}")
    if standing.infrastructure:
        parts.append(f"{standing.infrastructure:,} infra errors")
    if standing.done < standing.planned:
        parts.append("time left unknown" if standing.left is None else f"{_time(standing.left)} left")
    if standing.forming:
        parts.append(standing.forming)
    return parts


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 3)] + "..."[: max(0, width)]
