"""What an evidence file is: its mark, its tables, and the steps from older versions to today's.

A new file takes all the steps, an older one those it lacks; so there is one description only.
Append a step to change the tables; never edit one that was released.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.seals import seal, text_digest

APPLICATION_ID = 0x53574750  # "SWGP", in the header of every evidence file

Step = tuple[str, ...]

STEPS: tuple[Step, ...] = (
    (
        "CREATE TABLE episodes (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, study TEXT NOT NULL, "
        "unit TEXT NOT NULL, arm TEXT NOT NULL, run TEXT NOT NULL, score REAL NOT NULL, "
        "success INTEGER NOT NULL, messages INTEGER NOT NULL, subtasks REAL NOT NULL, active INTEGER, "
        "calls INTEGER NOT NULL, tokens INTEGER NOT NULL, usd REAL, failure TEXT, episode TEXT NOT NULL)",
        "CREATE TABLE documents (kind TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, "
        "PRIMARY KEY (kind, key))",
        # What came second under a key that already held something else.
        "CREATE TABLE conflicts (kind TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, "
        "PRIMARY KEY (kind, key, digest))",
        "CREATE TABLE attempts (run TEXT NOT NULL, gate TEXT NOT NULL, count INTEGER NOT NULL, "
        "PRIMARY KEY (run, gate))",
        "CREATE TABLE verdicts (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run TEXT NOT NULL, "
        "gate TEXT NOT NULL, attempt INTEGER NOT NULL, verdict TEXT NOT NULL, digest TEXT NOT NULL, "
        "summary TEXT NOT NULL, at TEXT NOT NULL)",
        "CREATE INDEX verdicts_evidence ON verdicts (gate, digest)",
        # What a run has consumed so far, all its processes together; an unknown price stays unknown.
        "CREATE TABLE spending (run TEXT PRIMARY KEY, started INTEGER NOT NULL, calls INTEGER NOT NULL, "
        "tokens INTEGER NOT NULL, usd REAL NOT NULL, unpriced INTEGER NOT NULL)",
    ),
    (
        # Checksums; before the episode's text, so that an outcome is read without walking through it.
        "ALTER TABLE episodes RENAME TO unsealed",
        "CREATE TABLE episodes (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, study TEXT NOT NULL, "
        "unit TEXT NOT NULL, arm TEXT NOT NULL, run TEXT NOT NULL, score REAL NOT NULL, "
        "success INTEGER NOT NULL, messages INTEGER NOT NULL, subtasks REAL NOT NULL, active INTEGER, "
        "calls INTEGER NOT NULL, tokens INTEGER NOT NULL, usd REAL, failure TEXT, digest TEXT NOT NULL, "
        "seal TEXT NOT NULL, episode TEXT NOT NULL)",
        "INSERT INTO episodes SELECT id, key, study, unit, arm, run, score, success, messages, subtasks, active, "
        "calls, tokens, usd, failure, swapgate_digest(episode), swapgate_seal(key, study, unit, arm, run, score, "
        "success, messages, subtasks, active, calls, tokens, usd, failure, swapgate_digest(episode)), episode "
        "FROM unsealed",
        "DROP TABLE unsealed",
        "ALTER TABLE documents ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
        "UPDATE documents SET seal = swapgate_seal(kind, key, text)",
        "ALTER TABLE verdicts ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
        "UPDATE verdicts SET seal = swapgate_seal(id, run, gate, attempt, verdict, digest, summary, at)",
        # Which run of a gate found which earlier run of it in its file.
        "CREATE TABLE follows (gate TEXT NOT NULL, run TEXT NOT NULL, earlier TEXT NOT NULL, "
        "PRIMARY KEY (gate, run, earlier))",
        "CREATE INDEX attempts_gate ON attempts (gate)",
        "INSERT INTO follows SELECT gate, run, earlier FROM (SELECT gate, run, lag(run) OVER "
        "(PARTITION BY gate ORDER BY rowid) AS earlier FROM attempts) WHERE earlier IS NOT NULL",
    ),
)

TABLES = ("attempts", "conflicts", "documents", "episodes", "follows", "spending", "verdicts")


def read_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of an evidence file.

    Raises
    ------
    EvidenceError
        If the file is another program's, or of a newer schema.
    """
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if mark != APPLICATION_ID or version < 1:
        raise EvidenceError(
            f"{path}: an SQLite file of another program; name an evidence file of swapgate or a new path"
        )
    if version > len(STEPS):
        raise EvidenceError(
            f"{path}: written by a newer pytest-swapgate (schema {version}, this one reads up to "
            f"{len(STEPS)}); upgrade pytest-swapgate or name another path"
        )
    return int(version)


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that a file lacks, all or none of them; a new file lacks all.

    The connection must be in autocommit mode.
    """
    connection.create_function("swapgate_seal", -1, seal, deterministic=True)
    connection.create_function("swapgate_digest", 1, _digest, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for step in STEPS[version:]:
            for statement in step:
                connection.execute(statement)
        # PRAGMA takes no parameters; both are integers of this module.
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
        connection.execute(f"PRAGMA user_version = {max(len(STEPS), version):d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _digest(text: Any) -> str:
    return text_digest(text) if isinstance(text, str) else ""


def quick_check(connection: sqlite3.Connection, path: Path) -> None:
    """Check cheaply that the tables are there and that their ends can be read.

    Raises
    ------
    EvidenceError
        If a table is missing.
    """
    found = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    }
    missing = [table for table in TABLES if table not in found]
    if missing:
        raise EvidenceError(
            f"{path}: damaged, without its table {missing[0]}; restore it or name another path"
        )
    connection.execute("SELECT episode FROM episodes ORDER BY id LIMIT 1").fetchall()
    connection.execute("SELECT episode FROM episodes ORDER BY id DESC LIMIT 1").fetchall()
