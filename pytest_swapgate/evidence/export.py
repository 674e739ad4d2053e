"""Evidence for other tools: CSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_swapgate.evidence.episodes import StoredEpisode
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.opening import evidence_path
from pytest_swapgate.evidence.replacing import replacing
from pytest_swapgate.evidence.store import EvidenceStore

_ROW_GROUP = 2_000

# Column -> its Arrow type.
COLUMNS = {
    "study": "string",
    "unit": "string",
    "arm": "string",
    "run": "string",
    "task_id": "string",
    "seed": "int64",
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
        itself, or an episode does not parse.
    """
    if format not in _WRITERS:
        raise ValueError(f"format must be one of {', '.join(_WRITERS)}, got {format!r}")
    where = evidence_path(path)
    if where == store.path:
        raise EvidenceError(f"{where}: the evidence file itself; name another file to export to")
    rows = store.episodes(study, arm)
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with replacing(where) as new:
            return _WRITERS[format](rows, new)
    except OSError as error:
        raise EvidenceError(
            f"{where}: cannot be written ({error.strerror or error}); name a file in a writable folder"
        ) from None


def row(stored: StoredEpisode) -> dict[str, Any]:
    """Return the columns of one episode."""
    episode, usage = stored.episode, stored.episode.usage
    return {
        "study": stored.study,
        "unit": stored.unit,
        "arm": stored.arm,
        "run": stored.run,
        "task_id": episode.task_id,
        "seed": episode.seed,
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


def _csv_cell(value: Any) -> Any:
    """Disarm what a spreadsheet would run; numbers are ours and stay numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
        return f"'{value}"
    return value


def _write_csv(episodes: Iterator[StoredEpisode], path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        # RFC 4180's line ends; with others, csv would leave a carriage return in a cell unquoted.
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for stored in episodes:
            writer.writerow([_csv_cell(value) for value in row(stored).values()])
            count += 1
    return count


def _write_jsonl(episodes: Iterator[StoredEpisode], path: Path) -> int:
    count = 0
    with path.open("w", encoding="ascii", newline="\n") as file:
        for stored in episodes:
            line = {
                "study": stored.study,
                "unit": stored.unit,
                "arm": stored.arm,
                "run": stored.run,
                "key": stored.key,
                "episode": stored.episode.model_dump(mode="json"),
            }
            file.write(json.dumps(line, allow_nan=False) + "\n")
            count += 1
    return count


def _write_parquet(episodes: Iterator[StoredEpisode], path: Path) -> int:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise EvidenceError(
            f'{path.name}: Parquet needs pyarrow; pip install "pytest-swapgate[parquet]", or export csv or jsonl'
        ) from None
    types = {**COLUMNS, "episode": "string"}
    table_schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in types.items()])
    count = 0
    try:
        with parquet.ParquetWriter(path, table_schema) as writer:
            while group := list(islice(episodes, _ROW_GROUP)):
                records = [{**row(stored), "episode": stored.episode.model_dump_json()} for stored in group]
                writer.write_table(arrow.Table.from_pylist(records, schema=table_schema))
                count += len(group)
    except (ValueError, OverflowError, arrow.ArrowException) as error:
        raise EvidenceError(
            f"{path.name}: does not fit into Parquet ({error}); export csv or jsonl"
        ) from None
    return count


_WRITERS: dict[str, Callable[[Iterator[StoredEpisode], Path], int]] = {
    "csv": _write_csv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
