"""The ``swapgate`` command: what can be done without running tests.

`main` reads the arguments; each subcommand lives in a file of its name.
"""

from __future__ import annotations

from pytest_swapgate.cli.main import main

__all__ = ["main"]
