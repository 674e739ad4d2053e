"""What two arms measured before a cap was reached: the pairs that both have finished, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_swapgate.studies.arms import PlayedArm
from pytest_swapgate.studies.paired import PairedResult, Unit

FLOOR_SHARE = 0.8
"""A noise floor is shown beside a partial result if it has every unit, and this share of its pairs."""


def finished_in_both(baseline: PlayedArm, candidate: PlayedArm) -> tuple[PlayedArm, PlayedArm]:
    """Return two arms with the trials that both have finished: the same team, task and trial in each."""
    both = [min(map(len, pair)) for pair in zip(baseline.episodes, candidate.episodes, strict=True)]
    first, second = (
        replace(arm, episodes=tuple(e[:n] for e, n in zip(arm.episodes, both, strict=True)))
        for arm in (baseline, candidate)
    )
    return first, second


def partial_result(result: PairedResult, reason: str) -> PairedResult:
    """Return the result of a comparison that was stopped: what gives no figure is left out of its units.

    Parameters
    ----------
    result
        Made of the pairs that both arms have finished; a cell may be empty.
    reason
        Why it was stopped.
    """
    units = tuple(unit for unit in result.units if _whole(unit))
    left = tuple(u for u in result.units if not _whole(u) and any(cell.baseline for cell in u.cells))
    floor = None if result.floor is None else _floor_of(result.floor, units)
    return replace(result, units=units, left_out=left, floor=floor, stopped=reason)


def _whole(unit: Unit) -> bool:
    """Whether every team or task of a unit has a pair that counts."""
    return all(cell.valid for cell in unit.cells)


def _floor_of(floor: PairedResult, units: Sequence[Unit]) -> PairedResult | None:
    """Return the floor of a sample of the same units and size, or None where too little of it was measured."""
    by_name = {unit.name: unit for unit in floor.units}
    if not units or any(unit.name not in by_name for unit in units):
        return None
    same = tuple(_as_long_as(by_name[unit.name], unit) for unit in units)
    found = replace(floor, units=same)
    wanted = sum(len(cell.valid) for unit in units for cell in unit.cells)
    return found if all(map(_whole, same)) and found.valid >= FLOOR_SHARE * wanted else None


def _as_long_as(unit: Unit, other: Unit) -> Unit:
    """Return a unit with no more trials than another one has."""
    sizes = [len(cell.baseline) for cell in other.cells]
    cells = (
        replace(cell, baseline=cell.baseline[:n], candidate=cell.candidate[:n])
        for cell, n in zip(unit.cells, sizes, strict=True)
    )
    return Unit(unit.name, tuple(cells))
