"""Records into files that other tools read: CSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_swapgate.evidence.errors import EvidenceError

Record = dict[str, Any]
"""Column -> value: None, bool, int, float or str; in JSON lines whatever JSON has."""
_ROW_GROUP = 2_000


def _csv_cell(value: Any) -> Any:
    """Disarm what a spreadsheet would run; numbers are ours and stay numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
        return f"'{value}"
    return value


def _write_csv(columns: Mapping[str, str], records: Iterator[Record], path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        # RFC 4180's line ends; with others, csv would leave a carriage return in a cell unquoted.
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(columns)
        for record in records:
            writer.writerow([_csv_cell(record[name]) for name in columns])
            count += 1
    return count


def _write_jsonl(_: Mapping[str, str], records: Iterator[Record], path: Path) -> int:
    count = 0
    with path.open("w", encoding="ascii", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, allow_nan=False) + "\n")
            count += 1
    return count


def _write_parquet(columns: Mapping[str, str], records: Iterator[Record], path: Path) -> int:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise EvidenceError(
            f'{path.name}: Parquet needs pyarrow; pip install "pytest-swapgate[parquet]", or export csv or jsonl'
        ) from None
    table_schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in columns.items()])
    count = 0
    try:
        with parquet.ParquetWriter(path, table_schema) as writer:
            while group := list(islice(records, _ROW_GROUP)):
                writer.write_table(arrow.Table.from_pylist(group, schema=table_schema))
                count += len(group)
    except (ValueError, OverflowError, arrow.ArrowException) as error:
        raise EvidenceError(
            f"{path.name}: does not fit into Parquet ({error}); export csv or jsonl"
        ) from None
    return count


WRITERS: dict[str, Callable[[Mapping[str, str], Iterator[Record], Path], int]] = {
    "csv": _write_csv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
