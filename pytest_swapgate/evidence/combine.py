"""Merge the evidence files of CI shards; what cannot be read is named and left alone."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pytest_swapgate.evidence import bookkeeping, conflicts, documents, episodes
from pytest_swapgate.evidence.database import Database
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.opening import evidence_path
from pytest_swapgate.evidence.store import EvidenceStore


@dataclass(frozen=True, slots=True)
class CombinedShard:
    """What one file added.

    Attributes
    ----------
    path
        The file.
    added, duplicates
        Episodes that were new, and that the target already had.
    conflicts
        Those of the duplicates with other content: breaches of determinism.
    """

    path: Path
    added: int
    duplicates: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class SkippedShard:
    """A file that was left alone, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class CombineReport:
    """What became of each file, in the order given."""

    target: Path
    combined: tuple[CombinedShard, ...]
    skipped: tuple[SkippedShard, ...]

    @property
    def added(self) -> int:
        """Episodes that the target did not have."""
        return sum(shard.added for shard in self.combined)

    @property
    def duplicates(self) -> int:
        """Episodes that the target already had."""
        return sum(shard.duplicates for shard in self.combined)

    @property
    def conflicts(self) -> int:
        """Duplicates with other content than the target has."""
        return sum(shard.conflicts for shard in self.combined)


def combine(target: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str]]) -> CombineReport:
    """Merge evidence files into one: episodes, documents, conflicts and the ledger of gates.

    Each source is checked whole first and taken whole or not at all; its bytes do not change.
    Combining the same source again adds nothing.

    Parameters
    ----------
    target
        The file that grows; created if missing.
    sources
        Evidence files; older schemas are understood.

    Returns
    -------
    CombineReport
        Sources that are missing, damaged, foreign or newer are named there as skipped.

    Raises
    ------
    ValueError
        If ``sources`` is a single path.
    EvidenceError
        If nothing could be combined (a target that did not exist is not created then), or the
        target cannot be used.
    """
    if isinstance(sources, str | os.PathLike):
        raise ValueError(f"sources must be a collection of paths, got {sources!r}")
    where = evidence_path(target)
    combined: list[CombinedShard] = []
    skipped: list[SkippedShard] = []
    with ExitStack() as stack:
        store: EvidenceStore | None = None
        for source in sources:
            with ExitStack() as reading:
                try:
                    shard = reading.enter_context(_sound_shard(source, where))
                except EvidenceError as error:
                    skipped.append(SkippedShard(Path(source), str(error)))
                    continue
                store = store or stack.enter_context(EvidenceStore.open(where))
                combined.append(_copy(shard.database, store.database))
    if not combined:
        why = "; ".join(shard.reason for shard in skipped) or "no file was named"
        raise EvidenceError(f"{where}: nothing was combined ({why}); name evidence files of swapgate")
    return CombineReport(where, tuple(combined), tuple(skipped))


def _sound_shard(source: str | os.PathLike[str], target: Path) -> EvidenceStore:
    path = evidence_path(source)
    if path == target:
        raise EvidenceError(f"{path}: the target itself; name the other files only")
    shard = EvidenceStore.read(path)
    try:
        # One snapshot for the check and the copy, whoever is writing meanwhile.
        shard.database.rows("BEGIN")
        if problems := shard.check():
            raise EvidenceError(problems[0])
    except BaseException:
        shard.close()
        raise
    return shard


def _copy(source: Database, target: Database) -> CombinedShard:
    added = duplicates = conflicting = 0
    with target.transaction():
        for row in episodes.rows(source):
            new, conflict = episodes.append(target, row)
            added += new
            duplicates += not new
            conflicting += conflict
        for kind, key in documents.names(source):
            text = documents.get(source, kind, key)
            if text is not None:
                documents.put(target, kind, key, text)
        for kind, key, digest in conflicts.rows(source):
            conflicts.append(target, kind, key, digest)
        bookkeeping.copy(source, target)
    return CombinedShard(source.path, added, duplicates, conflicting)
