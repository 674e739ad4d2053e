"""A paired result as the evidence file keeps it: every episode with its unit, seat, trial, and whether it counts."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_swapgate.evidence.comparisons import ComparedEpisode, Comparison
from pytest_swapgate.studies.paired import PairedResult


def comparison_of(result: PairedResult, *, gate: str, number: int) -> Comparison:
    """Return what a gate's comparison rests on.

    Parameters
    ----------
    gate, number
        Which gate, and which of its comparisons, from 1.
    """
    arms = {"baseline": result.baseline, "candidate": result.candidate}
    episodes = [*_episodes(result, "baseline"), *_episodes(result, "candidate")]
    if result.floor is not None:
        arms["floor"] = result.floor.candidate
        episodes += _episodes(result.floor, "floor")
    return Comparison(gate, number, arms, result.unit_word, tuple(episodes))


def _episodes(result: PairedResult, role: str) -> Iterator[ComparedEpisode]:
    for unit in result.units:
        for cell in unit.cells:
            for trial, (baseline, candidate) in enumerate(zip(cell.baseline, cell.candidate, strict=True)):
                yield ComparedEpisode.of(
                    baseline if role == "baseline" else candidate,
                    role=role,
                    unit=unit.name,
                    team="" if result.unit_word == "task" else cell.name,
                    seat=cell.seat,
                    active=cell.active,
                    trial=trial,
                    counts=baseline.counts and candidate.counts,
                )
