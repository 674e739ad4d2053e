"""JSON documents by kind and content key: formed cohorts, plans, results."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_swapgate.evidence import conflicts
from pytest_swapgate.evidence.checks import check_json, check_size, check_text, is_json
from pytest_swapgate.evidence.database import Database
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.seals import changed, seal

DOCUMENT_BYTES = 64_000_000


def put(database: Database, kind: str, key: str, text: str) -> bool:
    """Keep a document if there is none; return whether it was new."""
    check_text("kind", kind)
    check_text("key", key)
    check_size(database.path, f"{kind} {key}", check_json("text", text), DOCUMENT_BYTES)
    added = database.change(
        "INSERT OR IGNORE INTO documents (kind, key, text, seal) VALUES (?, ?, ?, ?)",
        (kind, key, text, seal(kind, key, text)),
    )
    if added != 1:
        ((first, _),) = _select(database, kind, key)
        conflicts.note(database, kind, key, first, text)
    return added == 1


def get(database: Database, kind: str, key: str) -> str | None:
    """Return a document, or None; an EvidenceError if it is not JSON, or not what was written."""
    rows = _select(database, kind, key)
    if not rows:
        return None
    text, sealed = rows[0]
    if not isinstance(text, str) or not is_json(text):
        raise EvidenceError(
            f"{database.path}: {kind} {key} is not JSON; restore the file or name another path"
        )
    if sealed != seal(kind, key, text):
        raise changed(database.path, f"{kind} {key!r}")
    return text


def names(database: Database) -> list[tuple[str, str]]:
    """Return the kind and key of every document, sorted."""
    return [(kind, key) for kind, key in database.rows("SELECT kind, key FROM documents ORDER BY kind, key")]


def problems(database: Database) -> Iterator[str]:
    """Iterate over the documents that are not JSON, or not what was written."""
    for kind, key in names(database):
        if not all(isinstance(word, str) for word in (kind, key)):
            yield f"{database.path}: the document {kind!r} {key!r} has a damaged name"
            continue
        try:
            get(database, kind, key)
        except EvidenceError as error:
            yield str(error)


def _select(database: Database, kind: str, key: str) -> list[tuple[object, object]]:
    return database.rows("SELECT text, seal FROM documents WHERE kind = ? AND key = ?", (kind, key))
