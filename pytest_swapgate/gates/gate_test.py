"""What is kept of one gate test: what it asked for, what was decided, and whether its failure had been announced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_swapgate.gate.paired_runner import PairedRunner
    from pytest_swapgate.gate.tolerances import Tolerance


@dataclass
class GateTest:
    """State of one gate test, kept over attempts.

    Attributes
    ----------
    tolerances
        What its markers declare.
    runner
        The paired runner that it was given, if any.
    attempts
        How often it was started in this process.
    first
        Message of the first attempt, once it ended badly.
    asked
        How many comparisons were asked for while it was not over.
    over
        Whether its verdict was taken, or it ended without one; no comparison is begun after that.
    late
        How many comparisons were asked for, and refused, after it was over.
    expected
        Whether an xfail was declared before its first comparison was asked for.
    verdicts, reports
        Words of its verdicts, and their reports as JSON texts.
    """

    tolerances: tuple[Tolerance, ...]
    runner: PairedRunner | None = None
    attempts: int = 0
    first: str = ""
    asked: int = 0
    over: bool = False
    late: int = 0
    expected: bool = False
    verdicts: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)


TEST = pytest.StashKey[GateTest]()


def expects_failure(item: pytest.Item) -> bool:
    """Whether an xfail is declared for a test, as far as can be told without evaluating conditions in words."""
    if item.config.getoption("runxfail", False):
        return False
    return any(_holds(mark) for mark in item.iter_markers("xfail"))


def _holds(mark: pytest.Mark) -> bool:
    conditions = [mark.kwargs["condition"]] if "condition" in mark.kwargs else list(mark.args)
    return not conditions or any(isinstance(condition, str) or condition for condition in conditions)
