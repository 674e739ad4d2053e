"""``swapgate report``: the verdicts that a run left in an evidence file, and an exit code that says the worst."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from pytest_swapgate.cli.evidence import one_line_errors, plain, report_of, sound_verdicts
from pytest_swapgate.evidence import EvidenceError, EvidenceStore, VerdictRecord
from pytest_swapgate.gate.verdicts import GateReport
from pytest_swapgate.report.terminal import render

_CODES = {"pass": 0, "inconclusive": 2, "fail": 1, "error": 3}
"""Exit codes, the best first."""


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="print the verdicts of a run again",
        description=(
            "Print what the gates of a run reported. Ends with the worst verdict: 0 pass, 2 inconclusive, 1 fail, "
            "3 if a gate broke, was started and never decided, or cannot be read."
        ),
    )
    parser.add_argument("file", metavar="FILE", help="evidence file")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--run", dest="name", default=None, metavar="RUN", help="this run, or its beginning")
    which.add_argument(
        "--all", action="store_true", help="each gate's newest verdict, whatever its run: for combined shards"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the blocks, red ones last."""
    with one_line_errors(), EvidenceStore.read(options.file) as store:
        verdicts = sound_verdicts(store)
        # In the order in which they were first started.
        started = [
            (run, gate) for run, gate in store.database.rows("SELECT run, gate FROM attempts ORDER BY rowid")
        ]
        if not verdicts and not started:
            raise EvidenceError(
                f"{store.path}: no gate was started; name a file that a run with gates has written"
            )
        gates = _newest(verdicts, started) if options.all else _of_run(store, verdicts, started, options.name)
    reports = [report for run, gate in gates for report in _reports(verdicts, run, gate)]
    reports.sort(key=lambda report: list(_CODES).index(report.verdict))
    runs = list(dict.fromkeys(run for run, _ in gates))
    lines = [f"run {runs[0]}" if len(runs) == 1 else f"{len(runs)} runs"]
    lines[0] += f", {len(gates)} gate{'s' if len(gates) != 1 else ''}"
    others = {run for run, _ in started} | {record.run for record in verdicts}
    if others - set(runs) and not options.all:
        lines[0] += (
            f" (of {len(others)} runs in this file: --run RUN, or --all for each gate's newest verdict)"
        )
    lines += [f"\n{render(report)}" for report in reports]
    if any(report.simulated for report in reports):
        lines.append("\nVerdicts marked simulated rest on a stand-in, not on a language model.")
    print(plain("\n".join(lines)))
    return max((_CODES[report.verdict] for report in reports), key=list(_CODES.values()).index)


def _of_run(
    store: EvidenceStore,
    verdicts: tuple[VerdictRecord, ...],
    started: list[tuple[str, str]],
    name: str | None,
) -> list[tuple[str, str]]:
    pairs = list(dict.fromkeys([*started, *((record.run, record.gate) for record in verdicts)]))
    runs = list(dict.fromkeys(run for run, _ in pairs))
    if name is None:
        chosen = _last(verdicts, [run for run, _ in started])
    else:
        found = [name] if name in runs else [run for run in runs if run.startswith(name)]
        if len(found) != 1:
            what = f"{len(found)} runs begin" if found else "no run begins"
            raise EvidenceError(f"{store.path}: {what} with {name!r}; there are {', '.join(runs[-10:])}")
        chosen = found[0]
    return [pair for pair in pairs if pair[0] == chosen]


def _newest(verdicts: tuple[VerdictRecord, ...], started: list[tuple[str, str]]) -> list[tuple[str, str]]:
    gates = dict.fromkeys([*(gate for _, gate in started), *(record.gate for record in verdicts)])
    pairs = []
    for gate in gates:
        records = [record for record in verdicts if record.gate == gate]
        pairs.append((_last(records, [run for run, other in started if other == gate]), gate))
    return pairs


def _last(verdicts: Sequence[VerdictRecord], started: list[str]) -> str:
    """Return the last run: the one started last if it has decided nothing, else that of the newest verdict."""
    if started and started[-1] not in {record.run for record in verdicts}:
        return started[-1]
    return verdicts[-1].run


def _reports(verdicts: tuple[VerdictRecord, ...], run: str, gate: str) -> list[GateReport]:
    found = [report_of(record) for record in verdicts if (record.run, record.gate) == (run, gate)]
    return found or [
        GateReport(
            gate="swapgate",
            nodeid=gate,
            verdict="error",
            reason="started, and no verdict was recorded: the gate broke, or its run was stopped",
        )
    ]
