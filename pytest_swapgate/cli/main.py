"""Arguments in, exit code out: 0 pass, 1 fail, 2 inconclusive, 3 broken."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from pytest_swapgate.cli import combine, evidence, plan, report

BROKEN = 3
"""Exit code when the command itself could not do its work; 1 and 2 are verdicts."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End with 3: argparse's own 2 would read as "inconclusive"."""
        self.print_usage(sys.stderr)
        self.exit(BROKEN, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _Parser(prog="swapgate", description="Plan and inspect release gates for teams of LLM agents.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    for module in (plan, report, combine, evidence):
        module.add(commands)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as error:
        print(f"swapgate {options.command}: {error}", file=sys.stderr)
        return BROKEN
