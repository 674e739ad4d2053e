"""``swapgate evidence list | show | export | check``: what an evidence file holds."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pytest_swapgate.cli.ledger import sound_verdicts, told
from pytest_swapgate.evidence import (
    EvidenceCount,
    EvidenceError,
    EvidenceStore,
    StoredEpisode,
    VerdictRecord,
    export,
    export_gate,
    lookup,
)
from pytest_swapgate.evidence.comparisons import compared_gates
from pytest_swapgate.evidence.skips import SKIPPED

_MANY = 10


def add(commands: Any) -> None:
    """Add the subcommands."""
    parser: argparse.ArgumentParser = commands.add_parser("evidence", help="look into an evidence file")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|export|check")

    listing = actions.add_parser("list", help="episodes by study and arm, verdicts by run")
    showing = actions.add_parser("show", help="one episode, or the verdicts of one gate")
    exporting = actions.add_parser("export", help="write the episodes for other tools")
    checking = actions.add_parser("check", help="check the file and every row; ends with 3 if damaged")
    for action in (listing, showing, exporting, checking):
        action.add_argument("file", metavar="FILE", help="evidence file")
    showing.add_argument(
        "what", metavar="KEY_OR_GATE", help="beginning of an episode's key, or a gate's node id or part of it"
    )
    exporting.add_argument("--format", required=True, choices=("csv", "jsonl", "parquet"))
    exporting.add_argument(
        "--out", required=True, metavar="PATH", help="file to write; replaced if it is there"
    )
    exporting.add_argument("--study", default=None, help="only this study")
    exporting.add_argument("--arm", default=None, help="only this arm")
    exporting.add_argument(
        "--gate",
        default=None,
        metavar="GATE",
        help=(
            "what the newest verdict of this gate (its node id, or part of it) rests on, so that its figures can be "
            "computed again: unit (swap pair), team, condition, seat, trial, and whether the pair counts"
        ),
    )
    exporting.add_argument(
        "--run",
        dest="run_name",
        default=None,
        metavar="RUN",
        help="with --gate: what it rests on in this run, or its beginning",
    )
    listing.set_defaults(run=_list)
    showing.set_defaults(run=_show)
    exporting.set_defaults(run=_export)
    checking.set_defaults(run=_check)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Hand errors of evidence files to `main`, which prints them in one line and ends with 3."""
    try:
        yield
    except EvidenceError as error:
        raise ValueError(plain(" ".join(str(error).split()))) from error


def plain(text: str) -> str:
    """Return a text that cannot steer a terminal: whatever does not print is escaped, line ends stay."""
    return "".join(
        char if char == "\n" or char.isprintable() else char.encode("unicode_escape").decode()
        for char in text
    )


def _list(options: argparse.Namespace) -> int:
    with one_line_errors(), EvidenceStore.read(options.file) as store:
        counts, conflicts, verdicts = store.summary(), store.conflicts, sound_verdicts(store)
    lines = _table(counts) if counts else ["no episodes"]
    if conflicts:
        lines.append(f"{conflicts:,} times other content came under a known key: determinism is broken")
    lines += ["", *_runs(verdicts)] if verdicts else []
    print(plain("\n".join(lines)))
    return 0


def _table(counts: tuple[EvidenceCount, ...]) -> list[str]:
    head = ("study", "arm", "episodes", "units", "runs", "not counted", "calls", "tokens", "USD")
    rows: list[tuple[str, ...]] = [head]
    for count in counts:
        whole = (count.episodes, count.units, count.runs, count.failures, count.calls, count.tokens)
        usd = "unknown" if count.usd is None else f"{count.usd:.2f}"
        rows.append((str(count.study), str(count.arm), *(f"{number:,}" for number in whole), usd))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _runs(verdicts: tuple[VerdictRecord, ...]) -> list[str]:
    by_run: dict[str, list[VerdictRecord]] = {}
    for record in verdicts:
        by_run.setdefault(record.run, []).append(record)
    return [
        f"run {run}  {records[-1].at}  "
        + ", ".join(
            f"{number} {word}" for word, number in sorted(Counter(r.verdict for r in records).items())
        )
        for run, records in by_run.items()
    ]


def _show(options: argparse.Namespace) -> int:
    with one_line_errors(), EvidenceStore.read(options.file) as store:
        found = _episode(store, options.what)
        text = _episode_text(found) if found is not None else _gate_text(store, options.what)
    print(plain(text))
    return 0


def _episode(store: EvidenceStore, beginning: str) -> StoredEpisode | None:
    keys = lookup.keys_beginning(store, beginning, most=_MANY + 1)
    if len(keys) > 1 and keys[0] != beginning:
        raise EvidenceError(
            f"{store.path}: {_some([key[:20] for key in keys])} begin with {beginning!r}; name one"
        )
    return lookup.stored_episode(store, keys[0]) if keys else None


def _some(names: list[str]) -> str:
    shown = names[:_MANY]
    return ", ".join(map(str, shown)) + (" and more" if len(names) > len(shown) else "")


def _episode_text(stored: StoredEpisode) -> str:
    episode, usage = stored.episode, stored.episode.usage
    price = "price unknown" if usage.usd is None else f"USD {usage.usd:.4f}"
    lines = [
        f"episode   {stored.key}",
        f"played    study {stored.study}, unit {stored.unit}, arm {stored.arm}, run {stored.run}",
        f"task      {episode.task_id}, seed {episode.seed}",
        f"score     {episode.score:g}, {'success' if episode.success else 'no success'}, "
        f"{episode.subtasks:g} sub-tasks, {len(episode.messages)} messages",
        f"usage     {usage.calls:,} calls, {usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} answer "
        f"tokens, {price}",
    ]
    if episode.active is not None:
        lines.append(f"active    {'yes' if episode.active else 'no'}")
    if episode.failure is not None:
        lines.append(f"failure   {episode.failure.value}: {episode.error}")
    lines.extend(f"metric    {name} {value:g}" for name, value in episode.metrics.items())
    for title, said in (
        (
            "said",
            [f"[{m.step}] {m.sender}{f' ({m.kind})' if m.kind else ''}: {m.text}" for m in episode.messages],
        ),
        ("happened", list(episode.events)),
        *((f"notebook of {seat}, afterwards", [book.render()]) for seat, book in episode.notebooks.items()),
    ):
        if said:
            lines += ["", title, *("  " + text.replace("\n", "\n  ") for text in said)]
    return "\n".join(lines)


def _gate_text(store: EvidenceStore, name: str) -> str:
    records = sound_verdicts(store)
    gates = sorted({record.gate for record in records})
    found = [name] if name in gates else [gate for gate in gates if name in gate]
    if not found:
        raise EvidenceError(
            f"{store.path}: no episode's key begins with {name!r} and no gate is called so; "
            + (f"gates are {_some(gates)}" if gates else "no gate was decided")
        )
    if len(found) > 1:
        raise EvidenceError(f"{store.path}: {name!r} is part of {_some(found)}; name one")
    of_gate = [record for record in records if record.gate == found[0]]
    lines = [found[0]]
    lines += [f"  {record.at}  run {record.run}  {record.verdict}" for record in of_gate]
    return "\n".join([*lines, "", told(of_gate[-1]).block])


def _export(options: argparse.Namespace) -> int:
    if options.gate is not None:
        return _export_gate(options)
    if options.run_name is not None:
        raise ValueError("--run goes with --gate; name a gate")
    with one_line_errors(), EvidenceStore.read(options.file) as store:
        there = [(count.study, count.arm) for count in store.summary()]
        wanted = [
            (study, arm)
            for study, arm in there
            if options.study in (None, study) and options.arm in (None, arm)
        ]
        if there and not wanted:
            have = _some([f"{study}/{arm}" for study, arm in there])
            raise EvidenceError(f"{store.path}: nothing of that study and arm; there are {have}")
        count = export(store, options.out, options.format, study=options.study, arm=options.arm)
    print(plain(f"{count:,} episodes written to {options.out}"))
    return 0


def _export_gate(options: argparse.Namespace) -> int:
    if options.study is not None or options.arm is not None:
        raise ValueError("--gate has its own episodes; leave --study and --arm out")
    with one_line_errors(), EvidenceStore.read(options.file) as store:
        there = compared_gates(store)
        gate = _one("gate", options.gate, [gate for _, gate in there], store, within=True)
        runs = [run for run, each in there if each == gate]
        run = (
            runs[-1] if options.run_name is None else _one("run", options.run_name, runs, store, within=False)
        )
        count = export_gate(store, options.out, options.format, gate=gate, run=run)
    print(plain(f"{count:,} episodes of {gate} in run {run} written to {options.out}"))
    return 0


def _one(what: str, name: str, there: list[str], store: EvidenceStore, *, within: bool) -> str:
    """Return the one that is called so, or the only one of which the name is a part or the beginning."""
    names = sorted(set(there))
    found = (
        [name]
        if name in names
        else [each for each in names if (name in each if within else each.startswith(name))]
    )
    if len(found) == 1:
        return found[0]
    if found:
        raise EvidenceError(f"{store.path}: {name!r} is part of {_some(found)}; name one")
    have = f"there are {_some(names)}" if names else "no gate of this file has compared anything"
    raise EvidenceError(f"{store.path}: no {what} is called {name!r}; {have}")


def _check(options: argparse.Namespace) -> int:
    with one_line_errors(), EvidenceStore.read(options.file) as store:
        path, problems = store.path, store.check()
        if problems:
            shown = problems[:_MANY]
            said = f"{len(problems):,} problem{'s' if len(problems) != 1 else ''}"
            if len(shown) < len(problems):
                said += f", the first {len(shown)} of them above"
            print(plain("\n".join([*shown, f"{path}: {said}"])), file=sys.stderr)
            return 3
        episodes, conflicts = sum(count.episodes for count in store.summary()), store.conflicts
        records = store.verdicts()
    skips = sum(record.verdict == SKIPPED for record in records)
    print(
        plain(
            f"{path}: intact; {episodes:,} episodes, {len(records) - skips:,} verdicts, {skips:,} skips, "
            f"{conflicts:,} conflicts"
        )
    )
    return 0
