"""One connection that many threads share: rows, changes, transactions, in one process."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.opening import BUSY_SECONDS, sqlite_errors

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class Database:
    """An open evidence file; every call is whole, and may come from any thread.

    Parameters
    ----------
    path, connection
        The file and its connection in autocommit mode.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = connection
        self._mutex = threading.RLock()
        self._process = os.getpid()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query."""
        with self._mutex, sqlite_errors(self.path):
            return self._run(sql, values).fetchall()

    def change(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement, committed when this returns (unless in a transaction); return its row count."""
        with self._mutex, sqlite_errors(self.path):
            return self._run(sql, values).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make the changes inside one: all are kept, or none; one inside another belongs to it."""
        with self._mutex, sqlite_errors(self.path):
            if self._connection is not None and self._connection.in_transaction:
                yield
                return
            self._run("BEGIN IMMEDIATE", ())
            try:
                yield
                self._run("COMMIT", ())
            except BaseException:
                connection = self._connection
                if connection is not None and connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connection; again is harmless."""
        with self._mutex, sqlite_errors(self.path):
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _run(self, sql: str, values: Sequence[Any]) -> sqlite3.Cursor:
        if self._connection is None:
            raise EvidenceError(f"{self.path}: this store is closed; open it again")
        if self._process != os.getpid():
            # An SQLite connection does not survive a fork.
            raise EvidenceError(f"{self.path}: opened by another process; open it again after a fork")
        deadline = None
        while True:
            try:
                return self._connection.execute(sql, values)
            except sqlite3.OperationalError as error:
                # SQLite does not wait by itself where waiting could deadlock.
                if error.sqlite_errorcode & 0xFF not in _BUSY:
                    raise
                deadline = deadline or time.monotonic() + BUSY_SECONDS
                if self._connection.in_transaction or time.monotonic() >= deadline:
                    raise
                time.sleep(0.01)
