"""Arguments in, exit code out: 0 pass, 1 fail, 2 inconclusive, 3 broken."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from pytest_swapgate.cli import combine, evidence, plan, report

BROKEN = 3
"""Exit code when the command itself could not do its work; 1 and 2 are verdicts."""
READER_GONE = 1
"""Exit code when whoever read the output went away, as Python itself ends then; never 0, nobody saw the end."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End with 3: argparse's own 2 would read as "inconclusive"."""
        self.print_usage(sys.stderr)
        self.exit(BROKEN, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    try:
        try:
            return _command(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where it can be answered, and not when Python ends
    except BrokenPipeError:
        _drop_output()
        return READER_GONE
    except OSError as error:
        _drop_output()
        with suppress(OSError):
            print(f"swapgate: {error}", file=sys.stderr)
        return BROKEN


def _command(arguments: Sequence[str] | None) -> int:
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


def _drop_output() -> None:
    """Lead what is left of the output into nothing, or Python would try to write it once more when it ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                os.dup2(nothing, stream.fileno())
    os.close(nothing)
