"""Episodes in the evidence file: whole, as JSON text, with the outcome beside it in columns of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from pytest_swapgate.evidence import conflicts
from pytest_swapgate.evidence.checks import check_size, check_text
from pytest_swapgate.evidence.database import Database
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.teams import Episode, FailureClass

EPISODE_BYTES = 4_000_000
_KEYS = 500  # at once
_TEXTS = 100

_INSERT = (
    "INSERT OR IGNORE INTO episodes (key, study, unit, arm, run, score, success, messages, subtasks, active, "
    "calls, tokens, usd, failure, episode) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


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


class Outcome(NamedTuple):
    """What came of an episode, without what was said: some hundred times quicker to read.

    Attributes
    ----------
    score, success, subtasks, active, failure
        As in `Episode`.
    messages
        How many there were.
    calls, tokens, usd
        Of the episode's usage; ``usd`` is None where the price is unknown.
    """

    score: float
    success: bool
    messages: int
    subtasks: float
    active: bool | None
    calls: int
    tokens: int
    usd: float | None
    failure: FailureClass | None

    @property
    def counts(self) -> bool:
        """Whether this is an honest outcome (the agent's own failures are)."""
        return self.failure is None or self.failure is FailureClass.AGENT

    @classmethod
    def of(cls, episode: Episode) -> Outcome:
        """Return the outcome of an episode."""
        return cls(
            episode.score,
            episode.success,
            len(episode.messages),
            episode.subtasks,
            episode.active,
            episode.usage.calls,
            episode.usage.tokens,
            episode.usage.usd,
            episode.failure,
        )


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
    outcome = Outcome.of(episode)
    try:
        return append(database, (key, *labels, *outcome, text))[0]
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
    sql = (
        "SELECT id, key, study, unit, arm, run, score, success, messages, subtasks, active, calls, tokens, usd, "
        "failure, episode FROM episodes WHERE id > ? ORDER BY id LIMIT ?"
    )
    while batch := database.rows(sql, (last, _TEXTS)):
        last = batch[-1][0]
        for row in batch:
            yield row[1:]


def get_many(database: Database, keys: Iterable[str]) -> dict[str, Episode]:
    """Return the episodes of those keys that are there, in the order asked."""
    sql = "SELECT key, episode FROM episodes WHERE key IN (SELECT value FROM json_each(?))"
    found: dict[str, Episode] = {}
    for batch in _batches(keys, _TEXTS):
        stored = dict(database.rows(sql, (json.dumps(batch),)))
        for key in batch:
            if key in stored:
                found[key] = parse(database, key, stored[key])
    return found


def known(database: Database, keys: Iterable[str]) -> set[str]:
    """Return those keys that are there."""
    sql = "SELECT key FROM episodes WHERE key IN (SELECT value FROM json_each(?))"
    return {key for batch in _batches(keys) for (key,) in database.rows(sql, (json.dumps(batch),))}


def outcomes(database: Database, keys: Iterable[str]) -> dict[str, Outcome]:
    """Return the outcomes of those keys that are there, in the order asked."""
    sql = (
        "SELECT key, score, success, messages, subtasks, active, calls, tokens, usd, failure FROM episodes "
        "WHERE key IN (SELECT value FROM json_each(?))"
    )
    found: dict[str, Outcome] = {}
    for batch in _batches(keys):
        stored = {row[0]: row[1:] for row in database.rows(sql, (json.dumps(batch),))}
        for key in batch:
            if key in stored:
                found[key] = _outcome(database, key, stored[key])
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
    sql = "SELECT id, key, study, unit, arm, run, episode FROM episodes WHERE id IN (SELECT value FROM json_each(?))"
    for start in range(0, len(numbers), _TEXTS):
        batch = numbers[start : start + _TEXTS]
        stored = {row[0]: row[1:] for row in database.rows(sql, (json.dumps(batch),))}
        for number in batch:
            key, study_, unit, arm_, run, text = stored[number]
            yield StoredEpisode(key, study_, unit, arm_, run, parse(database, key, text))


def summary(database: Database) -> tuple[EvidenceCount, ...]:
    """Return what is there, by study and arm."""
    counts = database.rows(
        "SELECT study, arm, count(*), count(DISTINCT unit), count(DISTINCT run), "
        "count(failure) - sum(failure IS 'agent'), sum(calls), sum(tokens), "
        "CASE WHEN count(usd) = count(*) THEN sum(usd) END FROM episodes "
        "GROUP BY study, arm ORDER BY study, arm"
    )
    return tuple(EvidenceCount(*row) for row in counts)


def problems(database: Database) -> Iterator[str]:
    """Iterate over what is wrong with the rows: texts that do not parse, outcomes that do not fit them."""
    for key, *labels, text in rows(database):
        words, columns = labels[:4], labels[4:]
        if not all(isinstance(word, str) for word in (key, *words)):
            yield f"{database.path}: episode {key!r} has damaged labels"
            continue
        try:
            fits = Outcome.of(parse(database, key, text)) == _outcome(database, key, columns)
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


def _outcome(database: Database, key: object, row: Sequence[Any]) -> Outcome:
    score, success, messages, subtasks, active, calls, tokens, usd, failure = row
    try:
        if not 0 <= score <= 1 or messages < 0 or subtasks < 0:
            raise ValueError("out of range")
        return Outcome(
            score,
            bool(success),
            messages,
            subtasks,
            None if active is None else bool(active),
            calls,
            tokens,
            usd,
            None if failure is None else FailureClass(failure),
        )
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
