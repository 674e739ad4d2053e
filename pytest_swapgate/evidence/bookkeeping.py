"""The ledger as a store hands it out: every verdict sealed, and every run of a gate placed after those that it found.

Two runs of a gate in one file follow each other, and the later one replaces the earlier. Two shards know nothing of
each other, and neither replaces anything of the other, whatever the clocks say; so the order is kept, and goes along
when files are combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple

from pytest_swapgate.evidence import ledger
from pytest_swapgate.evidence.database import Database
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.ledger import VerdictRecord
from pytest_swapgate.evidence.seals import changed, seal


def open_attempt(database: Database, run: str, gate: str) -> int:
    """Count one more attempt; return its number."""
    with database.transaction():
        _place(database, run, gate)
        return ledger.open_attempt(database, run, gate)


def record_verdict(
    database: Database, *, run: str, gate: str, verdict: str, digest: str, summary: str
) -> VerdictRecord:
    """Append a verdict."""
    with database.transaction():
        _place(database, run, gate)
        record = ledger.record_verdict(
            database, run=run, gate=gate, verdict=verdict, digest=digest, summary=summary
        )
        _seal(database, record)
    return record


def verdicts(database: Database, run: str | None = None) -> tuple[VerdictRecord, ...]:
    """Return the verdicts of one run, or of all, oldest first; an EvidenceError if one is not what was written."""
    found = ledger.verdicts(database, run)
    for problem in _unsealed(database, found):
        raise problem
    return found


def last_verdict(database: Database, gate: str, digest: str) -> VerdictRecord | None:
    """Return the newest verdict of a gate on the same evidence; an EvidenceError if it is not what was written."""
    found = ledger.last_verdict(database, gate, digest)
    for problem in _unsealed(database, [found] if found else []):
        raise problem
    return found


def followers(database: Database) -> dict[tuple[str, str], set[str]]:
    """Return, for a run and a gate, the runs that found it in their file when they began."""
    found: dict[tuple[str, str], set[str]] = {}
    for gate, run, earlier in database.rows("SELECT gate, run, earlier FROM follows"):
        found.setdefault((earlier, gate), set()).add(run)
    return found


def copy(source: Database, target: Database) -> None:
    """Take over another file's ledger; call it inside a transaction of the target."""
    for run, gate, count in ledger.all_attempts(source):
        ledger.raise_attempts(target, run, gate, count)
    for record in verdicts(source):
        if ledger.append(target, record):
            _seal(target, record)
    for row in source.rows("SELECT gate, run, earlier FROM follows"):
        target.change("INSERT OR IGNORE INTO follows (gate, run, earlier) VALUES (?, ?, ?)", row)


def problems(database: Database) -> Iterator[str]:
    """Iterate over what is wrong with the ledger's rows."""
    yield from ledger.problems(database)
    yield from map(str, _unsealed(database, ledger.verdicts(database)))
    for row in database.rows("SELECT gate, run, earlier FROM follows"):
        if not all(isinstance(text, str) for text in row):
            yield f"{database.path}: the order of the runs of gate {row[0]!r} is damaged"


def _place(database: Database, run: str, gate: str) -> None:
    """Put a run of a gate after the newest ones that are there, once."""
    known = database.rows(
        "SELECT run FROM attempts WHERE gate = ? UNION SELECT run FROM verdicts WHERE gate = ?", (gate, gate)
    )
    if (run,) in known:
        return
    followed = set(database.rows("SELECT earlier FROM follows WHERE gate = ?", (gate,)))
    for earlier in known:
        if earlier not in followed:
            database.change(
                "INSERT OR IGNORE INTO follows (gate, run, earlier) VALUES (?, ?, ?)", (gate, run, *earlier)
            )


def _seal(database: Database, record: VerdictRecord) -> None:
    database.change("UPDATE verdicts SET seal = ? WHERE id = ?", (seal(*astuple(record)), record.id))


def _unsealed(database: Database, records: Iterable[VerdictRecord]) -> Iterator[EvidenceError]:
    """Iterate over the errors of records that are not what was written."""
    seals = dict(database.rows("SELECT id, seal FROM verdicts"))
    for record in records:
        if seals.get(record.id) != seal(*astuple(record)):
            yield changed(database.path, f"the verdict of {record.gate!r} in run {record.run!r}")
