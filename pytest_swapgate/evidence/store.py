"""The evidence store: what is finished is kept, what is kept is found, many may write at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from pytest_swapgate.evidence import bookkeeping, conflicts, documents, episodes, spending
from pytest_swapgate.evidence.checks import check_json, check_size, check_text
from pytest_swapgate.evidence.database import Database
from pytest_swapgate.evidence.episodes import EvidenceCount, Labels, StoredEpisode
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.ledger import VerdictRecord
from pytest_swapgate.evidence.lock import file_lock
from pytest_swapgate.evidence.opening import connect, connect_to_read, evidence_path
from pytest_swapgate.evidence.outcome import Outcome
from pytest_swapgate.evidence.spending import Spending
from pytest_swapgate.teams import Episode, Usage


class EvidenceStore:
    """An evidence file: episodes, JSON documents and the ledger of gates.

    Many threads may share one store, and many processes may each open one on the same file.
    Every call that writes has committed when it returns: a process that is killed loses nothing
    that it had put (a machine that loses power may lose the last moments, never the file).

    Use `open` or `read`; a store is a context manager that closes itself. Every method raises
    `EvidenceError` if the file fails (full disk, read-only, damaged) or the store is closed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open an evidence file; create it and its folder if missing, migrate it if older.

        Raises
        ------
        EvidenceError
            If the path is a directory, cannot be written, holds something that is not an evidence
            file, or one of a newer schema; it is left as it is.
        """
        where = evidence_path(path)
        return cls(Database(where, connect(where)))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Open an existing evidence file for reading only; its bytes do not change.

        Raises
        ------
        EvidenceError
            As `open`, and if there is no such file.
        """
        where = evidence_path(path)
        return cls(Database(where, connect_to_read(where)))

    @property
    def path(self) -> Path:
        """The file, absolute."""
        return self._database.path

    @property
    def database(self) -> Database:
        """The connection, for the other modules of this package."""
        return self._database

    def close(self) -> None:
        """Close the file; again is harmless."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Episodes

    def put(self, key: str, episode: Episode, *, study: str, unit: str, arm: str, run: str) -> bool:
        """Keep a finished episode under its content key.

        The first episode of a key stays, with its labels. Another one with other content is a breach
        of determinism and is counted in `conflicts`.

        Parameters
        ----------
        key
            As `content_key` gives it.
        episode
            What was played.
        study, unit, arm, run
            Labels for reports, such as ``swap``, ``team-03``, ``placebo``.

        Returns
        -------
        bool
            Whether the episode was new.

        Raises
        ------
        ValueError
            If the key or a label is not a non-empty str, or the episode is no Episode.
        EvidenceError
            If the episode is over 4 MB, or the file cannot take it (read-only, full disk).
        """
        for name, value in (("study", study), ("unit", unit), ("arm", arm), ("run", run)):
            check_text(name, value)
        return episodes.put(self._database, key, episode, Labels(study, unit, arm, run))

    def get(self, key: str) -> Episode | None:
        """Return the episode of a key, or None.

        Raises
        ------
        EvidenceError
            If what is stored there does not parse, or is not what was written.
        """
        return episodes.get_many(self._database, [key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Episode]:
        """Return the episodes of those keys that are there, in the order asked.

        Raises
        ------
        EvidenceError
            If what is stored under one does not parse, or is not what was written.
        """
        return episodes.get_many(self._database, keys)

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return those keys that have an episode, without reading it (100,000 keys in well under 1 s)."""
        return episodes.known(self._database, keys)

    def outcomes(self, keys: Iterable[str]) -> dict[str, Outcome]:
        """Return what came of the episodes of those keys that are there, in the order asked.

        For figures over many episodes: the conversations stay on the disk.

        Raises
        ------
        EvidenceError
            If one is not what was written.
        """
        return episodes.outcomes(self._database, keys)

    def episodes(self, study: str | None = None, arm: str | None = None) -> Iterator[StoredEpisode]:
        """Iterate over the episodes, of one study or arm if given, by study, arm, unit and key.

        Raises
        ------
        EvidenceError
            If one does not parse, or is not what was written.
        """
        return episodes.iterate(self._database, study, arm)

    def summary(self) -> tuple[EvidenceCount, ...]:
        """Return what is there, by study and arm."""
        return episodes.summary(self._database)

    def played(self, run: str) -> int:
        """Return how many of the episodes that are there a run has played."""
        return episodes.of_run(self._database, check_text("run", run))

    @property
    def conflicts(self) -> int:
        """How many different contents came second under a key that was taken: breaches of determinism."""
        return conflicts.count(self._database)

    def check(self) -> tuple[str, ...]:
        """Check the whole file and every row; return what is wrong, one line each, nothing if intact."""
        found: list[str] = []
        for problems in (
            _damage,
            episodes.problems,
            documents.problems,
            conflicts.problems,
            bookkeeping.problems,
        ):
            try:
                found.extend(problems(self._database))
            except EvidenceError as error:
                found.append(str(error))
        return tuple(found)

    # JSON documents

    def put_json(self, kind: str, key: str, text: str) -> bool:
        """Keep a JSON document (a formed cohort, a plan, a result) under a kind and a content key.

        The first one stays and other content is counted, as with `put`.

        Returns
        -------
        bool
            Whether it was new.

        Raises
        ------
        ValueError
            If the kind or key is not a non-empty str, or the text is not JSON.
        EvidenceError
            If the document is over 64 MB, or the file cannot take it.
        """
        return documents.put(self._database, kind, key, text)

    def get_json(self, kind: str, key: str) -> str | None:
        """Return the JSON text of a document, or None.

        Raises
        ------
        EvidenceError
            If what is stored there is not JSON, or not what was written.
        """
        return documents.get(self._database, kind, key)

    # What runs consume

    def spending(self, run: str) -> Spending:
        """Return what a run has started and consumed so far, all its processes together."""
        return spending.read(self._database, check_text("run", run))

    def start_episode(self, run: str, *, most: int | None = None) -> bool:
        """Count one more episode of a run as started, unless ``most`` are already; atomic over processes.

        Returns
        -------
        bool
            Whether the episode may start.
        """
        return spending.start(self._database, check_text("run", run), most)

    def spend(self, run: str, usage: Usage) -> None:
        """Add what model calls of a run consumed."""
        spending.spend(self._database, check_text("run", run), usage)

    # Locks and the ledger of gates

    def lock(self, name: str, *, timeout: float | None = 60.0) -> AbstractContextManager[None]:
        """Hold a lock that every process on this file respects; the system frees it if its holder dies.

        Not re-entrant. ``timeout`` is in seconds; None waits for as long as the holder lives.

        Raises
        ------
        EvidenceError
            If the lock is still held after ``timeout``.
        """
        return file_lock(self.path, name, timeout=timeout)

    def open_attempt(self, run: str, gate: str) -> int:
        """Count one more attempt of a gate in a run, atomically over processes.

        Returns
        -------
        int
            1 for the first attempt; more means that something runs the gate again.
        """
        return bookkeeping.open_attempt(self._database, check_text("run", run), check_text("gate", gate))

    def record_verdict(
        self, run: str, gate: str, verdict: str, digest: str, summary_json: str
    ) -> VerdictRecord:
        """Append a verdict to the ledger, under the gate's latest attempt in this run.

        Parameters
        ----------
        run, gate, verdict
            Whose verdict, and what it says.
        digest
            Of the evidence that the verdict rests on.
        summary_json
            What to keep beside it; JSON text.

        Raises
        ------
        ValueError
            If a text is empty, or the summary is not JSON.
        """
        for name, value in (("run", run), ("gate", gate), ("verdict", verdict), ("digest", digest)):
            check_text(name, value)
        check_json("summary_json", summary_json)
        check_size(self.path, f"the verdict of {gate}", summary_json, documents.DOCUMENT_BYTES)
        return bookkeeping.record_verdict(
            self._database, run=run, gate=gate, verdict=verdict, digest=digest, summary=summary_json
        )

    def verdicts(self, run: str | None = None) -> tuple[VerdictRecord, ...]:
        """Return the verdicts of one run, or of all, oldest first.

        Raises
        ------
        EvidenceError
            If one is not what was written.
        """
        return bookkeeping.verdicts(self._database, run)

    def last_verdict(self, gate: str, digest: str) -> VerdictRecord | None:
        """Return the newest verdict of a gate on the same evidence, or None.

        Raises
        ------
        EvidenceError
            If it is not what was written.
        """
        return bookkeeping.last_verdict(self._database, gate, digest)


def _damage(database: Database) -> Iterator[str]:
    for (text,) in database.rows("PRAGMA integrity_check"):
        if text != "ok":
            yield f"{database.path}: damaged ({' '.join(str(text).split())})"
