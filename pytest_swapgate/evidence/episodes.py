"""Episodes in the evidence file: whole, as JSON text, with the outcome beside it in columns of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from pytest_swapgate.evidence import conflicts, outcome
from pytest_swapgate.evidence.checks import check_size, check_text
from pytest_swapgate.evidence.database import Database
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.outcome import Outcome
from pytest_swapgate.evidence.seals import changed, seal, text_digest
from pytest_swapgate.teams import Episode

EPISODE_BYTES = 4_000_000
_KEYS = 1_000  # at once
_TEXTS = 100

_CELLS = f"key, study, unit, arm, run, {outcome.COLUMNS}, digest, seal"
"""All columns but the text: what its seal is of, then the seal."""
_OUTCOME = slice(5, 14)
_INSERT = f"INSERT OR IGNORE INTO episodes ({_CELLS}, episode) VALUES ({', '.join(17 * '?')})"  # noqa: S608 - constants
_SELECT = f"SELECT id, {_CELLS}, episode FROM episodes "  # noqa: S608 - constants


class Labels(NamedTuple):
    """Under which words an episode is reported."""

    study: str
    unit: str
    arm: str
    run: str


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """An episode with its content key and labels."""

    key: str
    study: str
    unit: str
    arm: str
    run: str
    episode: Episode


@dataclass(frozen=True, slots=True)
class EvidenceCount:
    """What the file holds of one arm of a study.

    Attributes
    ----------
    episodes, units, runs
        How many there are.
    failures
        Episodes that do not count because the fault was not the agent's.
    calls, tokens, usd
        Usage of all of them; ``usd`` is None where any price is unknown.
    """

    study: str
    arm: str
    episodes: int
    units: int
    runs: int
    failures: int
    calls: int
    tokens: int
    usd: float | None


def put(database: Database, key: str, episode: Episode, labels: Labels) -> bool:
    """Keep an episode if its key is free; return whether it was new."""
    check_text("key", key)
    if not isinstance(episode, Episode):
        raise ValueError(f"episode must be an Episode, got {episode!r}")
    try:
        text = episode.model_dump_json()
    except PydanticSerializationError as error:
        raise EvidenceError(
            f"{database.path}: episode {key} must be Unicode text throughout ({error})"
        ) from None
    check_size(database.path, f"episode {key}", text, EPISODE_BYTES)
    cells = (key, *labels, *Outcome.of(episode).cells(), text_digest(text))
    try:
        return append(database, (*cells, seal(*cells), text))[0]
    except OverflowError:
        raise EvidenceError(
            f"{database.path}: episode {key} must count calls and tokens below 2**63"
        ) from None


def append(database: Database, row: Sequence[Any]) -> tuple[bool, bool]:
    """Insert a row (see `rows`) if its key is free; return whether it was new, and whether it was a conflict."""
    if database.change(_INSERT, row) == 1:
        return True, False
    key, text = row[0], row[-1]
    ((first,),) = database.rows("SELECT episode FROM episodes WHERE key = ?", (key,))
    return False, conflicts.note(database, "episode", key, first, text)


def rows(database: Database) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows as they are stored, in the order they came."""
    last = 0
    while batch := database.rows(f"{_SELECT} WHERE id > ? ORDER BY id LIMIT ?", (last, _TEXTS)):
        last = batch[-1][0]
        for row in batch:
            yield row[1:]


def get_many(database: Database, keys: Iterable[str]) -> dict[str, Episode]:
    """Return the episodes of those keys that are there, in the order asked."""
    sql = f"{_SELECT} WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants
    found: dict[str, Episode] = {}
    for batch in _batches(keys, _TEXTS):
        stored = {row[1]: row for row in database.rows(sql, (json.dumps(batch),))}
        for key in batch:
            if key in stored:
                found[key] = _sound(database, stored[key]).episode
    return found


def stored(database: Database, key: str) -> StoredEpisode | None:
    """Return the episode of a key with its labels, or None."""
    found = database.rows(f"{_SELECT} WHERE key = ?", (key,))
    return _sound(database, found[0]) if found else None


def known(database: Database, keys: Iterable[str]) -> set[str]:
    """Return those keys that are there."""
    sql = "SELECT key FROM episodes WHERE key IN (SELECT value FROM json_each(?))"
    return {key for batch in _batches(keys) for (key,) in database.rows(sql, (json.dumps(batch),))}


def outcomes(database: Database, keys: Iterable[str]) -> dict[str, Outcome]:
    """Return the outcomes of those keys that are there, in the order asked."""
    sql = f"SELECT {_CELLS} FROM episodes WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants
    found: dict[str, Outcome] = {}
    for batch in _batches(keys):
        rows_ = {row[0]: row for row in database.rows(sql, (json.dumps(batch),))}
        for key in batch:
            if key in rows_:
                found[key] = _sealed_outcome(database, rows_[key])
    return found


def iterate(database: Database, study: str | None, arm: str | None) -> Iterator[StoredEpisode]:
    """Iterate by study, arm, unit and key; what is appended meanwhile is not seen."""
    numbers = [
        number
        for (number,) in database.rows(
            "SELECT id FROM episodes WHERE (? IS NULL OR study = ?) AND (? IS NULL OR arm = ?) "
            "ORDER BY study, arm, unit, key",
            (study, study, arm, arm),
        )
    ]
    sql = f"{_SELECT} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants
    for start in range(0, len(numbers), _TEXTS):
        batch = numbers[start : start + _TEXTS]
        found = {row[0]: row for row in database.rows(sql, (json.dumps(batch),))}
        for number in batch:
            yield _sound(database, found[number])


def summary(database: Database) -> tuple[EvidenceCount, ...]:
    """Return what is there, by study and arm."""
    counts = database.rows(
        "SELECT study, arm, count(*), count(DISTINCT unit), count(DISTINCT run), "
        "count(failure) - sum(failure IS 'agent'), sum(calls), sum(tokens), "
        "CASE WHEN count(usd) = count(*) THEN sum(usd) END FROM episodes "
        "GROUP BY study, arm ORDER BY study, arm"
    )
    return tuple(EvidenceCount(*row) for row in counts)


def of_run(database: Database, run: str) -> int:
    """Return how many episodes a run has played that are kept."""
    return int(database.rows("SELECT count(*) FROM episodes WHERE run = ?", (run,))[0][0])


def problems(database: Database) -> Iterator[str]:
    """Iterate over what is wrong with the rows: texts that do not parse, outcomes that do not fit, checksums."""
    for row in rows(database):
        key, *labels = row[:5]
        if not all(isinstance(word, str) for word in (key, *labels)):
            yield f"{database.path}: episode {key!r} has damaged labels"
            continue
        try:
            fits = Outcome.of(parse(database, key, row[-1])) == _outcome(database, key, row[_OUTCOME])
            if fits:
                _sound(database, (0, *row))
        except EvidenceError as error:
            yield str(error)
            continue
        if not fits:
            yield f"{database.path}: episode {key!r} has an outcome that does not fit its text"


def parse(database: Database, key: object, text: object) -> Episode:
    """Return the episode of a stored row, or raise an EvidenceError that names key and file."""
    try:
        if not isinstance(text, str):
            raise ValueError(f"text expected, {type(text).__name__} found")
        if len(text) > EPISODE_BYTES:
            raise ValueError(f"over {EPISODE_BYTES:,} bytes")
        return Episode.model_validate_json(text)
    except ValueError as error:
        shown = (
            error.errors(include_url=False, include_input=False) if isinstance(error, ValidationError) else []
        )
        why = f"{'.'.join(map(str, shown[0]['loc']))}: {shown[0]['msg']}" if shown else str(error)
        raise EvidenceError(
            f"{database.path}: episode {key!r} does not parse ({why}); restore the file or name another path"
        ) from None


def _sound(database: Database, row: Sequence[Any]) -> StoredEpisode:
    """Return the episode of a whole row (see `_SELECT`) if it is what was written."""
    _, *cells, sealed, text = row
    key, study, unit, arm, run, *_, digest = cells
    episode = parse(database, key, text)
    if digest != text_digest(text) or sealed != seal(*cells):
        raise _changed(database, cells)
    return StoredEpisode(key, study, unit, arm, run, episode)


def _sealed_outcome(database: Database, row: Sequence[Any]) -> Outcome:
    """Return the outcome of a row without its text (see `_CELLS`) if it is what was written."""
    found = _outcome(database, row[0], row[_OUTCOME])
    if row[-1] != seal(*row[:-1]):
        raise _changed(database, row)
    return found


def _changed(database: Database, cells: Sequence[Any]) -> EvidenceError:
    key, study, unit, arm, run, *_ = cells
    return changed(database.path, f"episode {key!r} (study {study!r}, arm {arm!r}, {unit!r}, run {run!r})")


def _outcome(database: Database, key: object, cells: Sequence[Any]) -> Outcome:
    try:
        return Outcome.of_cells(cells)
    except (TypeError, ValueError):
        raise EvidenceError(
            f"{database.path}: episode {key!r} has a damaged outcome; restore the file or name another path"
        ) from None


def _batches(keys: Iterable[str], size: int = _KEYS) -> Iterator[list[str]]:
    if isinstance(keys, str):
        raise ValueError(f"keys must be a collection of str, got the str {keys!r}")
    rest = iter(keys)
    while batch := [check_text("key", key) for key in islice(rest, size)]:
        yield batch
