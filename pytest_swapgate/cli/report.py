"""``swapgate report``: the verdicts of an evidence file that stand, and an exit code that says the worst."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from pytest_swapgate.cli.evidence import one_line_errors, plain
from pytest_swapgate.cli.ledger import Told, broken, sound_verdicts, told
from pytest_swapgate.evidence import EvidenceError, EvidenceStore, VerdictRecord, lookup
from pytest_swapgate.evidence.skips import SKIPPED
from pytest_swapgate.evidence.standing import standing
from pytest_swapgate.report.family import family_lines

_CODES = {"pass": 0, "inconclusive": 2, "fail": 1, "error": 3}
"""Exit codes, the best first."""
_ORDER = ("pass", SKIPPED, "inconclusive", "fail", "error")
NOTHING_DECIDED = _CODES["inconclusive"]
"""Exit code of a report in which every gate was skipped: nothing broke, and nothing was shown to be harmless."""
_OLD_RED = (
    "A red verdict stands until a later run of the same gate, on the file that holds it, replaces it. If the gate is "
    "gone, start a new evidence file; --run RUN shows one run alone."
)


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="print the verdicts that stand: may this be released?",
        description=(
            "Print what the gates in FILE reported, whatever run decided them: of each gate the newest verdict, and of "
            "a combined file the newest one of each shard, for a shard replaces nothing of another. A verdict is only "
            "replaced by a later run of the same gate on the same file. Ends with the worst verdict: 0 pass, 2 "
            "inconclusive, 1 fail, 3 if a gate broke, was started and never decided, or a record cannot be read or "
            "was changed. A gate that was skipped before any comparison was asked for is no verdict: a skip replaces "
            "an older pass, and nothing that is red; if all were skipped, nothing was decided, and it ends with 2."
        ),
    )
    parser.add_argument("file", metavar="FILE", help="evidence file")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--run", dest="name", default=None, metavar="RUN", help="only this run, or its beginning"
    )
    which.add_argument(
        "--last",
        action="store_true",
        help="only the run that was started last: it may be one of several shards, and leave out what is red",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the blocks, red ones last."""
    with one_line_errors(), EvidenceStore.read(options.file) as store:
        verdicts = sound_verdicts(store)
        started = lookup.started_gates(store)
        if not verdicts and not started:
            raise EvidenceError(
                f"{store.path}: no gate was started; name a file that a run with gates has written"
            )
        alone = options.last or options.name is not None
        gates = _of_run(store, verdicts, started, options.name) if alone else standing(store, verdicts)
    others = {run for run, _ in started} | {record.run for record in verdicts}
    newest = _last(verdicts, [run for run, _ in started])
    runs = list(dict.fromkeys(run for run, _ in gates))
    blocks = [(block, run) for run, gate in gates for block in _blocks(verdicts, run, gate)]
    blocks.sort(key=lambda each: _ORDER.index(each[0].word))
    lines = [f"run {runs[0]}" if len(runs) == 1 else f"{len(runs)} runs"]
    names = {gate for _, gate in gates}
    lines[0] += f", {len(names)} gate{'s' if len(names) != 1 else ''}"
    if len(others) > len(runs):
        lines[0] += f" (of {len(others)} runs in this file)"
    for block, of_run in blocks:
        lines.append(f"\n{block.block}")
        if len(others) > 1:
            lines.append(f"  run {of_run}{f', {block.at}' if block.at else ''}")
    family = family_lines([block.report for block, _ in blocks if block.report], of="this report")
    if family:
        lines += ["", *family]
    codes = [_CODES[block.word] for block, _ in blocks if block.word != SKIPPED]
    if not codes:
        lines.append("\nNothing was decided: every gate was skipped.")
    if not alone and any(_CODES.get(block.word) and of_run != newest for block, of_run in blocks):
        lines.append(f"\n{_OLD_RED}")
    if any(block.simulated for block, _ in blocks):
        lines.append("\nVerdicts marked simulated rest on a stand-in, not on a language model.")
    print(plain("\n".join(lines)))
    return max(codes, key=list(_CODES.values()).index, default=NOTHING_DECIDED)


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


def _last(verdicts: Sequence[VerdictRecord], started: list[str]) -> str:
    """Return the last run: the one started last if it has decided nothing, else that of the newest verdict."""
    if started and started[-1] not in {record.run for record in verdicts}:
        return started[-1]
    return verdicts[-1].run


def _blocks(verdicts: tuple[VerdictRecord, ...], run: str, gate: str) -> list[Told]:
    found = [told(record) for record in verdicts if (record.run, record.gate) == (run, gate)]
    # Under `--dist each` a gate may be skipped in one worker and decided in another.
    decided = [block for block in found if block.word != SKIPPED]
    return (
        decided
        or found[-1:]
        or [broken(gate, "started, and no verdict was recorded: the gate broke, or its run was stopped")]
    )
