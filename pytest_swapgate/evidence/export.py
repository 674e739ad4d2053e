"""Evidence for other tools: CSV, JSON lines, Parquet."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

from pytest_swapgate.evidence.comparisons import ComparedEpisode, compared
from pytest_swapgate.evidence.episodes import StoredEpisode
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.opening import evidence_path
from pytest_swapgate.evidence.replacing import replacing
from pytest_swapgate.evidence.store import EvidenceStore
from pytest_swapgate.evidence.tables import WRITERS, Record
from pytest_swapgate.teams import Condition

# Column -> its Arrow type.
COLUMNS = {
    "study": "string",
    "unit": "string",
    "arm": "string",
    "condition": "string",
    "seat": "string",
    "run": "string",
    "task_id": "string",
    "seed": "int64",
    "counts": "bool_",
    "score": "float64",
    "success": "bool_",
    "messages": "int64",
    "subtasks": "float64",
    "active": "bool_",
    "calls": "int64",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "usd": "float64",
    "failure": "string",
    "error": "string",
    "metrics": "string",
    "key": "string",
}
GATE_COLUMNS = {
    "gate": "string",
    "run": "string",
    "comparison": "int64",
    "role": "string",
    "arm": "string",
    "condition": "string",
    "seat": "string",
    "unit": "string",
    "team": "string",
    "trial": "int64",
    "counts": "bool_",
    "active": "bool_",
    "task_id": "string",
    "seed": "int64",
    "score": "float64",
    "success": "bool_",
    "messages": "int64",
    "subtasks": "float64",
    "failure": "string",
    "key": "string",
}


def export(
    store: EvidenceStore,
    path: str | os.PathLike[str],
    format: str,  # noqa: A002 - the word users type
    *,
    study: str | None = None,
    arm: str | None = None,
) -> int:
    """Write the episodes of a store for other tools, sorted by study, arm, unit and key.

    ``csv`` and ``parquet`` have one row an episode with the columns of `COLUMNS` (``messages`` is
    their number, ``metrics`` JSON text); Parquet also has the whole episode as JSON text. ``jsonl``
    has one object a line: labels, key and the whole episode. A text cell in CSV that a spreadsheet
    would take for a formula gets an apostrophe in front.

    Parameters
    ----------
    store
        Where the episodes are.
    path
        The file to write; it appears whole or not at all, and replaces an older export.
    format
        ``csv``, ``jsonl`` or ``parquet`` (needs pyarrow, extra ``parquet``).
    study, arm
        Only these.

    Returns
    -------
    int
        The number of episodes written.

    Raises
    ------
    ValueError
        For an unknown format.
    EvidenceError
        If pyarrow is needed and missing, the path cannot be written or is the evidence file
        itself, or an episode does not parse or is not what was written.
    """
    _check_format(format)
    shape = {"csv": row, "jsonl": _line, "parquet": _whole}[format]
    columns = {**COLUMNS, "episode": "string"} if format == "parquet" else COLUMNS
    return _write(store, path, format, columns, map(shape, store.episodes(study, arm)))


def export_gate(
    store: EvidenceStore,
    path: str | os.PathLike[str],
    format: str,  # noqa: A002 - the word users type
    *,
    gate: str,
    run: str,
) -> int:
    """Write what a verdict rests on: one row for each episode of a gate's comparisons in a run, `GATE_COLUMNS`.

    The figures of the gate can be computed from these rows alone: harm is formed over the pairs of a ``baseline`` and a
    ``candidate`` row with the same ``team`` (or ``unit``) and ``trial`` that count, averaged in each team, then in each
    ``unit``; rows of the role ``floor`` take the candidate's place for the noise floor. ``key`` finds the whole
    episode; it is empty where another one was in the file first, as with ``--swapgate-fresh``.

    Parameters
    ----------
    store, path, format
        As in `export`; all formats have the same columns.
    gate, run
        Whose verdict.

    Returns
    -------
    int
        The number of episodes written.

    Raises
    ------
    ValueError, EvidenceError
        As `export`.
    """
    _check_format(format)
    return _write(store, path, format, GATE_COLUMNS, _of_gate(store, gate, run))


def _check_format(name: str) -> None:
    if name not in WRITERS:
        raise ValueError(f"format must be one of {', '.join(WRITERS)}, got {name!r}")


def _write(
    store: EvidenceStore,
    path: str | os.PathLike[str],
    name: str,
    columns: Mapping[str, str],
    records: Iterator[Record],
) -> int:
    where = evidence_path(path)
    if where == store.path:
        raise EvidenceError(f"{where}: the evidence file itself; name another file to export to")
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with replacing(where) as new:
            return WRITERS[name](columns, records, new)
    except OSError as error:
        raise EvidenceError(
            f"{where}: cannot be written ({error.strerror or error}); name a file in a writable folder"
        ) from None


def row(stored: StoredEpisode) -> Record:
    """Return the columns of one episode."""
    episode, usage = stored.episode, stored.episode.usage
    return {
        **_labels(stored),
        "task_id": episode.task_id,
        "seed": episode.seed,
        "counts": episode.counts,
        "score": episode.score,
        "success": episode.success,
        "messages": len(episode.messages),
        "subtasks": episode.subtasks,
        "active": episode.active,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "usd": usage.usd,
        "failure": None if episode.failure is None else episode.failure.value,
        "error": episode.error,
        "metrics": json.dumps(episode.metrics, sort_keys=True),
        "key": stored.key,
    }


def _whole(stored: StoredEpisode) -> Record:
    return {**row(stored), "episode": stored.episode.model_dump_json()}


def _line(stored: StoredEpisode) -> Record:
    return {
        **_labels(stored),
        "counts": stored.episode.counts,
        "key": stored.key,
        "episode": stored.episode.model_dump(mode="json"),
    }


def _labels(stored: StoredEpisode) -> Record:
    condition, seat = _condition(stored.arm)
    return {
        "study": stored.study,
        "unit": stored.unit,
        "arm": stored.arm,
        "condition": condition,
        "seat": seat,
        "run": stored.run,
    }


_OF_TEAMS = re.compile(rf"({'|'.join(Condition)})\((.*?)(?:, model=.*)?\)(?: replicate \d+)?")


def _condition(arm: str) -> tuple[str, str]:
    """Return condition and seat of an arm of teams; two empty texts for any other."""
    found = _OF_TEAMS.fullmatch(arm)
    return (found[1], found[2]) if found else ("", "")


def _place(condition: str, seat: str, arm: str) -> tuple[str, str]:
    """Return under which words an arm keeps its episodes: teams by condition and seat, functions by their role."""
    return (condition, seat) if condition else ("", arm)


def _of_gate(store: EvidenceStore, gate: str, run: str) -> Iterator[Record]:
    kept = store.database.rows("SELECT digest, unit, arm, key FROM episodes ORDER BY id DESC")
    # Two arms may have had the same to say.
    keys = {(digest, unit, _place(*_condition(arm), arm)): key for digest, unit, arm, key in kept}
    for comparison in compared(store, gate, run):
        for episode in comparison.episodes:
            arm = comparison.arms[episode.role]
            condition, _ = _condition(arm)
            place = _place(condition, episode.seat, episode.role)
            yield {
                **dict.fromkeys(GATE_COLUMNS),
                "gate": gate,
                "run": run,
                "comparison": comparison.number,
                "arm": arm,
                "condition": condition,
                **{name: getattr(episode, name) for name in ComparedEpisode._fields if name != "digest"},
                "key": keys.get((episode.digest, episode.team or episode.unit, place)),
            }
