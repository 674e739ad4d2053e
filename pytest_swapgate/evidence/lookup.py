"""What a person looks up in an evidence file: an episode by the beginning of its key, gates as they were started."""

from __future__ import annotations

from pytest_swapgate.evidence import bookkeeping, episodes, ledger
from pytest_swapgate.evidence.checks import check_text
from pytest_swapgate.evidence.episodes import StoredEpisode
from pytest_swapgate.evidence.store import EvidenceStore


def keys_beginning(store: EvidenceStore, beginning: str, *, most: int) -> list[str]:
    """Return the keys of episodes that begin so, the shortest first, at most that many.

    Raises
    ------
    ValueError
        If the beginning is not a non-empty str.
    """
    check_text("beginning", beginning)
    rows = store.database.rows(
        "SELECT key FROM episodes WHERE substr(key, 1, ?) = ? ORDER BY length(key), key LIMIT ?",
        (len(beginning), beginning, most),
    )
    return [str(key) for (key,) in rows]


def stored_episode(store: EvidenceStore, key: str) -> StoredEpisode | None:
    """Return the episode of a key with its labels, or None.

    Raises
    ------
    EvidenceError
        If what is stored there does not parse.
    """
    return episodes.stored(store.database, check_text("key", key))


def started_gates(store: EvidenceStore) -> list[tuple[str, str]]:
    """Return run and gate of everything that was started, in the order in which it first was."""
    return [(run, gate) for run, gate, _ in ledger.all_attempts(store.database)]


def ledger_problems(store: EvidenceStore) -> list[str]:
    """Return what is wrong with the ledger of gates, one line each, nothing if it is sound."""
    return list(bookkeeping.problems(store.database))
