"""A cassette in use: which answer comes next for a request, and what may be asked and recorded."""

from __future__ import annotations

import heapq
import os
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pytest_swapgate.models.cassette_file import FILE_BYTES, Answer, CassetteError
from pytest_swapgate.models.cassette_parts import WRITER, Part, fold, load, parts_of
from pytest_swapgate.models.cassette_request import Request

MODES = ("none", "once", "new_episodes", "all")
"""VCR's record modes, with VCR's meaning."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request's turn on the tape.

    Attributes
    ----------
    request
        What is asked.
    n
        How often this run has made the request before.
    answer
        What was recorded; None if the model must be asked.
    """

    request: Request
    n: int
    answer: Answer | None


class Tape:
    """A cassette in one of VCR's modes, shared by all models of a session; safe from any thread.

    ======================  ============================================  =======================
    mode                    a request that is recorded                    one that is not
    ======================  ============================================  =======================
    ``none``                is replayed                                   is an error
    ``once``, no file yet   (nothing is)                                  is asked and recorded
    ``once``, a file        is replayed                                   is an error
    ``new_episodes``        is replayed                                   is asked and recorded
    ``all``                 is asked again; all its recordings replaced   is asked and recorded
    ======================  ============================================  =======================

    The n-th time that a run makes a request, the n-th recording of it answers. A recording that was interrupted,
    by kill -9 for example, has left parts and no file: ``once`` replays what is there and goes on recording.

    Parameters
    ----------
    path
        The cassette, a JSON file.
    mode
        One of `MODES`.
    writer
        Names this process among those that record into the cassette at the same time: the id of a pytest-xdist
        worker. A named writer leaves its part beside the file, for the controller to `fold`; without a name
        the process is the only one, and folds when it closes.

    Attributes
    ----------
    replayed, recorded
        Answers that came from the cassette, and that went into it.

    Raises
    ------
    ValueError
        For a bad mode or writer.
    CassetteError
        If the cassette cannot be used; it is left as it is.
    """

    def __init__(self, path: str | os.PathLike[str], mode: str, *, writer: str = "") -> None:
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        if writer and not WRITER.fullmatch(writer):
            raise ValueError(f"writer must be letters, digits, _ and -, at most 64, got {writer!r}")
        self.path = Path(path).resolve()
        self.mode = mode
        self.replayed = 0
        self.recorded = 0
        self._folds = not writer
        # In mode all too: a file that cannot be used is named before anything is spent.
        recordings = load(self.path)
        # VCR takes an empty file for none.
        exists = self.path.exists() and self.path.stat().st_size > 0
        self.may_ask = mode in ("new_episodes", "all") or (mode == "once" and not exists)
        self._answers = {recording.key: dict(enumerate(recording.answers)) for recording in recordings}
        self._had = {key: len(answers) for key, answers in self._answers.items()}
        if mode == "all":
            self._answers = {}
        self._part = Part(self.path, writer or "main")
        self._bytes = sum(file.stat().st_size for file in [self.path, *parts_of(self.path)] if file.is_file())
        self._next: Counter[str] = Counter()
        self._free: dict[str, list[int]] = {}
        self._lock = threading.Lock()

    @property
    def will_ask(self) -> bool:
        """Whether the first request is sure to be asked, so that the model had better be there."""
        return self.may_ask and (self.mode == "all" or not self._had)

    def turn(self, request: Request, *, can_ask: bool = True) -> Turn:
        """Give a request its turn.

        Parameters
        ----------
        can_ask
            Whether there is a model to ask.

        Raises
        ------
        CassetteError
            If it is not recorded and may not be asked, or could not be recorded.
        """
        key = request.key
        with self._lock:
            free = self._free.get(key)
            n = free[0] if free else self._next[key]
            answer = self._answers.get(key, {}).get(n)
            if answer is None:
                self._prepare(request, n, can_ask)
            if free:
                heapq.heappop(free)
            else:
                self._next[key] += 1
            self.replayed += answer is not None
            return Turn(request, n, answer)

    def record(self, turn: Turn, answer: Answer) -> None:
        """Keep the answer of a turn; it is in the file when this returns."""
        with self._lock:
            try:
                self._part.take(turn.request, turn.n, answer, replace=self.mode == "all")
            except CassetteError as error:
                error.usage = answer.usage
                raise
            self._answers.setdefault(turn.request.key, {})[turn.n] = answer
            self.recorded += 1

    def take_back(self, turn: Turn) -> None:
        """Make a turn as if it had not been: its number is free again, what was recorded for it is withdrawn."""
        key = turn.request.key
        with self._lock:
            if turn.answer is not None:
                self.replayed -= 1
            elif self._answers.get(key, {}).pop(turn.n, None) is not None:
                self.recorded -= 1
                self._part.withdraw(key, turn.n)
            heapq.heappush(self._free.setdefault(key, []), turn.n)

    def close(self) -> None:
        """Let the part go; the process without workers moves all parts into the file. Again is harmless.

        Raises
        ------
        CassetteError
            If the folder cannot take the file; what was recorded is kept beside it and will be read.
        """
        with self._lock:
            wrote = self._part.is_open
            self._part.close()
        if wrote and self._folds:
            fold(self.path)

    def _prepare(self, request: Request, n: int, can_ask: bool) -> None:
        """Make sure that an answer can be recorded before anything is spent on it."""
        if not (self.may_ask and can_ask):
            raise CassetteError(self._missing(request, n))
        self._part.open()
        if self._bytes + self._part.size > FILE_BYTES:
            raise CassetteError(
                f"{self.path}: the cassette is full ({FILE_BYTES:,} bytes); record fewer gates into one cassette"
            )

    def _missing(self, request: Request, n: int) -> str:
        had = self._had.get(request.key, 0)
        which = f"repetition {n + 1} ({had} recorded)" if had else f"repetition {n + 1} (never recorded)"
        advice = (
            "there is no model to ask"
            if self.may_ask
            else f"mode {self.mode} asks no model; record with mode new_episodes, or all"
        )
        return f"{self.path}: no recording for {request}, {which}; {advice}"
