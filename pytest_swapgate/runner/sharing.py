"""How far a run of many processes is: each writes its standing into a folder, whoever shows it adds them up.

Files, and not messages of the processes' own channel: what happens to one cannot harm the run. Only JSON text crosses.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from pytest_swapgate.evidence.replacing import replacing
from pytest_swapgate.runner.progress import PLAIN_EVERY, Progress, Standing
from pytest_swapgate.teams.episode import Usage

WRITE_EVERY = 0.5
"""Seconds between two looks at whether there is something new to write."""
_JSON = TypeAdapter(Standing)


class Sharer:
    """Writes how far this process is into a file, now and then, until it is stopped.

    Parameters
    ----------
    progress
        What to write.
    file
        Where; its name without ``.json`` is that of the process.
    """

    def __init__(self, progress: Progress, file: Path) -> None:
        self._progress = progress
        self._file = file
        self._written: Standing | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="swapgate-sharer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write the last state and end."""
        self._ended.set()
        self._thread.join()
        self.write()

    def _run(self) -> None:
        while not self._ended.wait(WRITE_EVERY):
            self.write()

    def write(self) -> None:
        """Write the state of this moment, unless it is written; where nothing is going on, time alone is no news."""
        standing = self._progress.standing()
        counts = replace(standing, seconds=0.0, left=None)
        idle = standing.done >= standing.planned
        if not standing.planned or (idle and counts == self._written):
            return
        with suppress(OSError), replacing(self._file) as new:  # nobody may look at it any more
            new.write_bytes(_JSON.dump_json(standing))
            self._written = counts


class SharedProgress:
    """Adds up what the processes of a run have written; shown like a `Progress`.

    Parameters
    ----------
    folder
        Where they write.
    clock
        Seconds, ever growing.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._clock = clock
        self._ended: set[str] = set()
        self._busy = False
        self._written: float | None = None

    def end(self, name: str) -> None:
        """Wait no longer for what a process had planned: it has ended."""
        self._ended.add(name)

    def standing(self) -> Standing:
        """Return the figures of all processes together."""
        found = []
        for file in sorted(self._folder.glob("*.json")):
            # Gone or damaged: as if it had not been written yet.
            with suppress(OSError, ValueError):
                standing = _JSON.validate_json(file.read_bytes())
                ended = file.stem in self._ended
                found.append(replace(standing, planned=standing.done) if ended else standing)
        whole = together(found)
        self._busy = whole.done < whole.planned
        return whole

    def plain_due(self) -> bool:
        """Whether `PLAIN_EVERY` seconds are over since this was last true, if there was something to do lately."""
        if not self._busy:
            return False
        now = self._clock()
        if self._written is None:
            self._written = now
        if now - self._written < PLAIN_EVERY:
            return False
        self._written = now
        return True


def together(standings: Iterable[Standing]) -> Standing:
    """Add up standings; the time left is that of the slowest, and what is forming is said if it is one thing."""
    every = list(standings)
    busy = [standing for standing in every if standing.done < standing.planned]
    waits = [standing.left for standing in busy if standing.left is not None]
    forming = {standing.forming for standing in busy if standing.forming}
    lost: Counter[str] = Counter()
    for standing in every:
        lost.update(standing.lost)
    return Standing(
        done=sum(standing.done for standing in every),
        planned=sum(standing.planned for standing in every),
        read=sum(standing.read for standing in every),
        usage=sum((standing.usage for standing in every), Usage()),
        lost=dict(lost),
        seconds=max((standing.seconds for standing in every), default=0.0),
        left=None if len(waits) < len(busy) else max(waits, default=0.0),
        forming=forming.pop() if len(forming) == 1 else "",
    )
