"""The ledger of gates: how often each was attempted in a run, and what every verdict was."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime

from pytest_swapgate.evidence.checks import is_json
from pytest_swapgate.evidence.database import Database


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One verdict of one gate.

    Attributes
    ----------
    id
        Unique over all files.
    run, gate
        Which run, and which gate in it.
    attempt
        1 for the first attempt of this gate in this run; 0 if none was opened.
    verdict
        The word that was recorded.
    digest
        Of the evidence that the verdict rests on.
    summary
        JSON text of what was recorded beside it.
    at
        When, ISO 8601 in UTC.
    """

    id: str
    run: str
    gate: str
    attempt: int
    verdict: str
    digest: str
    summary: str
    at: str


def open_attempt(database: Database, run: str, gate: str) -> int:
    """Count one more attempt; return its number."""
    with database.transaction():
        database.change(
            "INSERT INTO attempts (run, gate, count) VALUES (?, ?, 1) "
            "ON CONFLICT (run, gate) DO UPDATE SET count = count + 1",
            (run, gate),
        )
        return attempts(database, run, gate)


def attempts(database: Database, run: str, gate: str) -> int:
    """Return how often a gate was attempted in a run."""
    found = database.rows("SELECT count FROM attempts WHERE run = ? AND gate = ?", (run, gate))
    return int(found[0][0]) if found else 0


def raise_attempts(database: Database, run: str, gate: str, count: int) -> None:
    """Take another file's count of attempts where it is the higher one."""
    database.change(
        "INSERT INTO attempts (run, gate, count) VALUES (?, ?, ?) "
        "ON CONFLICT (run, gate) DO UPDATE SET count = max(count, excluded.count)",
        (run, gate, count),
    )


def all_attempts(database: Database) -> list[tuple[str, str, int]]:
    """Return run, gate and count of everything that was attempted, in the order in which it first was."""
    rows = database.rows("SELECT run, gate, count FROM attempts ORDER BY rowid")
    return [(run, gate, count) for run, gate, count in rows]


def record_verdict(
    database: Database, *, run: str, gate: str, verdict: str, digest: str, summary: str
) -> VerdictRecord:
    """Append a verdict to the ledger; nothing is ever replaced there."""
    with database.transaction():
        record = VerdictRecord(
            id=uuid.uuid4().hex,
            run=run,
            gate=gate,
            attempt=attempts(database, run, gate),
            verdict=verdict,
            digest=digest,
            summary=summary,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        append(database, record)
    return record


def append(database: Database, record: VerdictRecord) -> bool:
    """Add a record as it is, once; return whether it was new."""
    added = database.change(
        "INSERT OR IGNORE INTO verdicts (id, run, gate, attempt, verdict, digest, summary, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        astuple(record),
    )
    return added == 1


def verdicts(database: Database, run: str | None = None) -> tuple[VerdictRecord, ...]:
    """Return the verdicts of one run, or of all, oldest first."""
    rows = database.rows(
        "SELECT id, run, gate, attempt, verdict, digest, summary, at FROM verdicts "
        "WHERE ? IS NULL OR run = ? ORDER BY at, number",
        (run, run),
    )
    return tuple(VerdictRecord(*row) for row in rows)


def last_verdict(database: Database, gate: str, digest: str) -> VerdictRecord | None:
    """Return the newest verdict of a gate on the same evidence."""
    rows = database.rows(
        "SELECT id, run, gate, attempt, verdict, digest, summary, at FROM verdicts "
        "WHERE gate = ? AND digest = ? ORDER BY at DESC, number DESC LIMIT 1",
        (gate, digest),
    )
    return VerdictRecord(*rows[0]) if rows else None


def problems(database: Database) -> Iterator[str]:
    """Iterate over what is wrong with the ledger's rows."""
    for run, gate, count in all_attempts(database):
        if not (isinstance(run, str) and isinstance(gate, str) and isinstance(count, int) and count >= 1):
            yield f"{database.path}: the attempts of gate {gate!r} in run {run!r} are damaged"
    for record in verdicts(database):
        texts = (record.id, record.run, record.gate, record.verdict, record.digest, record.at)
        sound = all(isinstance(text, str) for text in texts) and isinstance(record.attempt, int)
        if not sound or not is_json(record.summary):
            yield f"{database.path}: verdict {record.id!r} is damaged"
