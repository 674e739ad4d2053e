"""Breaches of determinism: other content under a key that is taken. The first stays, the second is counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from pytest_swapgate.evidence.database import Database


def note(database: Database, kind: str, key: str, first: object, second: str) -> bool:
    """Record other content than the first, once each; return whether it was other."""
    if first == second:
        return False
    append(database, kind, key, hashlib.sha256(second.encode()).hexdigest())
    return True


def append(database: Database, kind: str, key: str, digest: str) -> None:
    """Record the digest of what came second under a key."""
    database.change(
        "INSERT OR IGNORE INTO conflicts (kind, key, digest) VALUES (?, ?, ?)", (kind, key, digest)
    )


def count(database: Database) -> int:
    """Return how many different contents came second."""
    return int(database.rows("SELECT count(*) FROM conflicts")[0][0])


def rows(database: Database) -> list[tuple[str, str, str]]:
    """Return kind, key and digest of every other content that came second."""
    found = database.rows("SELECT kind, key, digest FROM conflicts ORDER BY kind, key, digest")
    return [(kind, key, digest) for kind, key, digest in found]


def problems(database: Database) -> Iterator[str]:
    """Iterate over rows that are not text."""
    for row in rows(database):
        if not all(isinstance(text, str) for text in row):
            yield f"{database.path}: the conflict of {row[0]!r} {row[1]!r} is damaged"
