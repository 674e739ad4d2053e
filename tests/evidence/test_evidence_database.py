"""The shared connection: all or nothing, and patience."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from evidence_samples import episode, put

from pytest_swapgate.evidence import EvidenceError, EvidenceStore, database
from pytest_swapgate.evidence.database import Database


class Busy:
    """A connection that is busy for a number of calls."""

    in_transaction = False

    def __init__(self, calls: float, code: int = sqlite3.SQLITE_BUSY) -> None:
        self.left = calls
        self.code = code

    def execute(self, sql: str, values: Any = ()) -> Busy:
        if self.left > 0:
            self.left -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = self.code
            raise error
        return self

    def fetchall(self) -> list[Any]:
        return [(1,)]


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with EvidenceStore.open(tmp_path / "evidence.db") as store:
        with pytest.raises(ValueError, match="key must be"), store.database.transaction():
            _ = [put(store, key, episode()) for key in ("k", "")]
        assert store.get("k") is None
        with store.database.transaction():
            put(store, "k", episode())
        assert store.get("k") == episode()


def test_a_busy_file_is_tried_again() -> None:
    shared = Database(Path("evidence.db"), Busy(3, sqlite3.SQLITE_BUSY | 5 << 8))  # type: ignore[arg-type]
    assert shared.rows("SELECT 1") == [(1,)]


def test_a_file_that_stays_busy_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.03)
    shared = Database(Path("evidence.db"), Busy(float("inf")))  # type: ignore[arg-type]
    with pytest.raises(EvidenceError, match=r"evidence\.db: held by another process"):
        shared.rows("SELECT 1")


def test_other_failures_are_not_tried_again() -> None:
    connection = Busy(1, sqlite3.SQLITE_IOERR)
    with pytest.raises(EvidenceError, match="the disk failed"):
        Database(Path("evidence.db"), connection).rows("SELECT 1")  # type: ignore[arg-type]
