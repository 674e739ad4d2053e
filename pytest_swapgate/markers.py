"""The markers: registered, merged from class and module, checked at collection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_swapgate.shortening import written

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
        Naming the marker, the argument, its value and what is accepted; or two markers on one level.
    """
    from pytest_swapgate.gate.tolerances import GATES, ToleranceError

    declared = []
    for name in GATE_MARKERS:
        merged: dict[str, Any] = {}
        found = False
        for marks in _levels(node, name):
            found = True
            if len(marks) > 1:
                raise ToleranceError(
                    f"{' and '.join(map(_declared, marks))} are declared on the same level: keep one of them"
                )
            if marks[0].args:
                raise ToleranceError(
                    f"{_declared(marks[0])}: arguments are named, for example {GATES[name].example}"
                )
            merged = {**marks[0].kwargs, **merged}
        if found:
            try:
                declared.append(GATES[name].from_arguments(merged))
            except ToleranceError as error:
                raise ToleranceError(f"{name}: {error}") from None
    return tuple(declared)


def _levels(item: pytest.Item, name: str) -> Iterator[list[pytest.Mark]]:
    """Iterate over a test's marks of a name by level: parameter set, function, class and its bases, module, package."""
    for node in reversed(item.listchain()):
        sources = _sources(node)
        own = [mark for mark in node.own_markers if mark.name == name]
        places = [_place(mark, sources) for mark in own]
        found = [index for index, place in enumerate(places) if place is not None]
        levels: dict[int, list[pytest.Mark]] = {}
        for index, (mark, place) in enumerate(zip(own, places, strict=True)):
            # What a hook has added stands in front of the others or behind them, as the hook wished.
            added = -1 if found and index < found[0] else len(sources)
            levels.setdefault(added if place is None else place, []).append(mark)
        for place in sorted(levels):
            yield levels[place]


def _sources(node: Any) -> list[list[Any]]:
    """Return what is written down for a node, the closest first; pytest itself throws it together, the outer first."""
    if hasattr(node, "callspec"):
        return [list(node.callspec.marks), _marks_on(node.obj)]
    if isinstance(node, pytest.Class):
        return [_marks_on(base, own=True) for base in node.obj.__mro__]
    return [_marks_on(node.obj)] if isinstance(node, pytest.Function) else []


def _marks_on(thing: Any, *, own: bool = False) -> list[Any]:
    marks = vars(thing).get("pytestmark", ()) if own else getattr(thing, "pytestmark", ())
    return [getattr(mark, "mark", mark) for mark in (marks if isinstance(marks, list | tuple) else [marks])]


def _place(mark: pytest.Mark, sources: list[list[Any]]) -> int | None:
    return next((i for i, marks in enumerate(sources) if any(mark is other for other in marks)), None)


def _declared(mark: pytest.Mark) -> str:
    given = [*map(written, mark.args), *(f"{name}={written(value)}" for name, value in mark.kwargs.items())]
    return f"{mark.name}({', '.join(given)})"
