"""The markers: registered, merged from class and module, checked at collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_swapgate.gate.tolerances import Tolerance

GATE_MARKERS = ("swap_penalty", "active_pass_k")
FORMING = frozenset({"formed_teams", "placebo_baseline", "swap_study"})
"""Fixtures that form teams."""

_HELP = (
    "swap_penalty(*, score=0.05, cost=0.20, seat=None, mde=None, alpha=0.05, power=0.9, ...): fail when a change of "
    "an occupant lowers the score or raises the cost beyond the tolerance and the noise",
    "active_pass_k(*, k=2, drop=0.10, ...): fail when coordination-active pass^k drops beyond the tolerance",
    "swapgate: put on every gate test, for -m swapgate",
)


def register(config: pytest.Config) -> None:
    """Make the markers known, so that ``--strict-markers`` accepts them."""
    for line in _HELP:
        config.addinivalue_line("markers", line)


def is_gate(item: pytest.Item) -> bool:
    """Whether a test carries a gate marker."""
    return any(item.get_closest_marker(name) is not None for name in GATE_MARKERS)


def plays(item: pytest.Item) -> bool:
    """Whether a test may play episodes: a gate, or one that has teams formed."""
    return is_gate(item) or not FORMING.isdisjoint(getattr(item, "fixturenames", ()))


def tolerances_of(node: pytest.Item) -> tuple[Tolerance, ...]:
    """Return what a test declares: the closest marker wins, outer ones fill in.

    Raises
    ------
    ToleranceError
        Naming the marker, the argument, its value and what is accepted.
    """
    from pytest_swapgate.gate.tolerances import GATES, ToleranceError

    declared = []
    for name in GATE_MARKERS:
        merged: dict[str, Any] = {}
        found = False
        for mark in node.iter_markers(name):
            found = True
            if mark.args:
                given = ", ".join(map(repr, mark.args))
                raise ToleranceError(
                    f"{name}({given}): arguments are named, for example {GATES[name].example}"
                )
            merged = {**mark.kwargs, **merged}
        if found:
            try:
                declared.append(GATES[name].from_arguments(merged))
            except ToleranceError as error:
                raise ToleranceError(f"{name}: {error}") from None
    return tuple(declared)
