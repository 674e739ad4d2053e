"""From a path to a connection: create, recognise, migrate; what is not ours is left as it is."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from pytest_swapgate.evidence import schema
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.lock import file_lock
from pytest_swapgate.evidence.replacing import replacing

BUSY_SECONDS = 60.0
ROW_BYTES = 65_000_000
CACHE_KB = 8_000
"""Holds the index of 100,000 keys, so that finding them does not read it from the disk again and again."""
_SIDECARS = ("-wal", "-journal")


def evidence_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of an evidence file, links resolved.

    Raises
    ------
    ValueError
        If ``path`` is not a path or empty.
    EvidenceError
        If something that is not a file is there.
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path) or not isinstance(os.fspath(path), str):
        raise ValueError(f"path must be a non-empty str or path, got {path!r}")
    try:
        resolved = Path(path).resolve()
        if resolved.is_dir():
            raise EvidenceError(f"{resolved}: a directory; name a file, such as {resolved / 'evidence.db'}")
        if resolved.exists() and not resolved.is_file():
            raise EvidenceError(f"{resolved}: not a regular file; name an evidence file or a new path")
    except (OSError, ValueError, RuntimeError) as error:
        raise EvidenceError(f"{str(path)!r}: not a usable path ({_reason(error)}); name a file") from None
    return resolved


def connect(path: Path) -> sqlite3.Connection:
    """Open an evidence file for reading and writing; create it, or migrate it, if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _absent(path):
            with file_lock(path, "create"):
                if _absent(path):
                    _create(path)
    except OSError as error:
        raise EvidenceError(
            f"{path}: cannot be created ({_reason(error)}); name a path in a writable folder"
        ) from None
    with sqlite_errors(path):
        _recognise(path)
        if not os.access(path, os.W_OK):
            raise EvidenceError(f"{path}: read-only; make it writable or name another path")
        connection = _connect(f"{path.as_uri()}?mode=rw")
        try:
            # Again, for what only the write-ahead log says.
            if schema.read_version(connection, path) < len(schema.STEPS):
                with file_lock(path, "create"):
                    schema.migrate(connection)
                    # Into the file's header, where an older program looks first.
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            schema.quick_check(connection, path)
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB:d}")
            connection.execute("PRAGMA synchronous = NORMAL")
            # 16 MB of log: fewer stops to move it into the file.
            connection.execute("PRAGMA wal_autocheckpoint = 4000").fetchall()
        except BaseException:
            connection.close()
            raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open an evidence file for reading; it stays byte for byte as it is.

    An older schema is migrated in memory only.
    """
    if not path.exists():
        raise EvidenceError(f"{path}: no such evidence file; name one that a run has written")
    if _absent(path):
        raise EvidenceError(f"{path}: empty; name an evidence file that a run has written")
    with sqlite_errors(path):
        _recognise(path)
        connection = _connect(_uri_to_read(path))
        try:
            if schema.read_version(connection, path) < len(schema.STEPS):
                connection = _migrated_copy(connection)
            schema.quick_check(connection, path)
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB:d}")
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
    return connection


class sqlite_errors:  # noqa: N801 - reads as a context
    """Turn SQLite's errors into one line that names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise EvidenceError(f"{self._path}: {_explain(error)}") from None


def _connect(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    # A file from elsewhere may claim rows of a gigabyte.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, ROW_BYTES)
    return connection


def _migrated_copy(source: sqlite3.Connection) -> sqlite3.Connection:
    copy = _connect(":memory:")
    try:
        with closing(source):
            source.backup(copy)
        schema.migrate(copy)
    except BaseException:
        copy.close()
        raise
    return copy


def _absent(path: Path) -> bool:
    return not path.exists() or path.stat().st_size == 0


def _create(path: Path) -> None:
    """Build a whole file aside and move it into place, so that nobody ever sees half of one."""
    for suffix in _SIDECARS:
        left = path.with_name(path.name + suffix)
        if left.exists() and left.stat().st_size:
            # SQLite would replay it into the new file.
            raise EvidenceError(
                f"{left}: left over from an evidence file that is gone; move that back or delete this"
            )
    with replacing(path) as new, sqlite_errors(path), closing(_connect(f"{new.as_uri()}?mode=rw")) as made:
        schema.migrate(made)
        made.execute("PRAGMA journal_mode = WAL")


def _recognise(path: Path) -> None:
    """Read the file's header without a lock, a log or a change.

    Through SQLite, because closing a plain handle would drop the locks of our other connections.
    """
    try:
        with closing(_connect(f"{path.as_uri()}?mode=ro&immutable=1")) as connection:
            schema.read_version(connection, path)
    except sqlite3.DatabaseError as error:
        log = path.with_name(f"{path.name}-wal")
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT or not log.exists():
            raise
        # The log was, or is being, moved into the file: a kill or a full disk in the middle of that
        # leaves a file that is whole only together with its log.
        with closing(_connect(f"{path.as_uri()}?mode=ro")) as connection:
            schema.read_version(connection, path)


def _uri_to_read(path: Path) -> str:
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        if not os.access(path.parent, os.W_OK) and not log.stat().st_size:
            return f"{path.as_uri()}?mode=ro&immutable=1"
        return f"{path.as_uri()}?mode=ro"
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        # Read only by query_only: a connection in mode=ro would leave its log behind.
        return f"{path.as_uri()}?mode=rw"
    return f"{path.as_uri()}?mode=ro&immutable=1"


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)


def _explain(error: sqlite3.Error) -> str:
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if primary == sqlite3.SQLITE_NOTADB:
        return "not an SQLite file; name an evidence file of swapgate or a new path"
    if primary == sqlite3.SQLITE_CORRUPT:
        return f"damaged ({error}); restore it or name another path"
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"held by another process for {BUSY_SECONDS:g} s; wait for it to end"
    if primary == sqlite3.SQLITE_FULL:
        return "the disk is full; what was finished is kept, make room and run again"
    if primary == sqlite3.SQLITE_TOOBIG:
        return f"holds a row of more than {ROW_BYTES:,} bytes, the most that is accepted"
    if primary == sqlite3.SQLITE_READONLY:
        return "read-only; make it writable or name another path"
    if primary == sqlite3.SQLITE_CANTOPEN:
        return f"cannot be opened ({error}); name a readable file in a writable folder"
    if primary == sqlite3.SQLITE_IOERR:
        return f"the disk failed or is full ({error}); what was finished is kept"
    return f"SQLite says: {error}; name an intact evidence file of swapgate"
