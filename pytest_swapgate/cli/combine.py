"""``swapgate combine``: the evidence files of CI shards become one."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pytest_swapgate.cli.evidence import one_line_errors, plain
from pytest_swapgate.evidence import CombinedShard, combine


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "combine",
        help="merge the evidence files of CI shards",
        description=(
            "Merge evidence files into TARGET: episodes, formed teams and the ledger of gates. A shard is taken whole "
            "or not at all and stays as it is; one that is missing, damaged or was changed is named and left out, and "
            "what can be read is merged all the same. Combining again adds nothing. `swapgate report TARGET` then "
            "covers every run that was merged; take a new TARGET for each release. Ends with 0 if every shard was "
            "merged, else with 3, so that nobody releases on a part."
        ),
    )
    parser.add_argument("target", metavar="TARGET", help="file that grows; created if missing")
    parser.add_argument("shards", metavar="SHARD", nargs="+", help="evidence file to take over")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Combine, one line a shard."""
    with one_line_errors():
        report = combine(options.target, options.shards)
    for shard in report.combined:
        print(plain(f"{shard.path}: {_said(shard)}"))
    for skipped in report.skipped:
        print(plain(f"left out: {skipped.reason}"), file=sys.stderr)
    taken = len(report.combined)
    print(
        plain(
            f"{report.target}: {report.added:,} episodes added from {taken} of {taken + len(report.skipped)} files"
        )
    )
    if report.skipped:
        print(
            plain(
                f"swapgate combine: {len(report.skipped)} of {taken + len(report.skipped)} files left out; what they "
                "decided is unknown: bring them and combine again"
            ),
            file=sys.stderr,
        )
        return 3
    return 0


def _said(shard: CombinedShard) -> str:
    said = f"{shard.added:,} episodes added, {shard.duplicates:,} were there"
    if shard.conflicts:
        said += (
            f", {shard.conflicts:,} of these with other content (the first is kept: determinism is broken)"
        )
    return said
