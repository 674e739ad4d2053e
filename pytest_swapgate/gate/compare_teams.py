"""Two arms of formed teams: one seat for both, a change that bites on paper and on the wire, then the units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_swapgate.gate.planning import plan_teams
from pytest_swapgate.gate.tolerances import SwapPenalty, Tolerance
from pytest_swapgate.runner import ArmError
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.studies.arms import PlayedArm, TeamArm, play_arms
from pytest_swapgate.studies.formed import PlaceboBaseline
from pytest_swapgate.studies.paired import PairedResult, models_of, pair_teams
from pytest_swapgate.studies.partial import finished_in_both, partial_result
from pytest_swapgate.teams import BiteError, Condition

_SAME_OCCUPANT = (Condition.INTACT, Condition.PLACEBO)


async def compare_teams(
    tolerances: Sequence[Tolerance], baseline: TeamArm, candidate: TeamArm
) -> PairedResult:
    """Play two arms of a cohort, and the baseline once more where it brings its noise floor.

    Where a cap is reached, the result is that of the pairs that were finished.

    Raises
    ------
    GateError, ArmError, BiteError
        Before anything is played, if the gate cannot decide or an arm is not what it must be; after it, if the
        requests show that the change did not reach a model.
    """
    if candidate.condition in _SAME_OCCUPANT:
        raise BiteError(
            f"the change did not bite: under {candidate.label} the same occupant is back in its seat; give a "
            "candidate that changes it, such as formed_teams.swap() or formed_teams.replace(seat, model=...)"
        )
    baseline, candidate = _one_seat(tolerances, baseline, candidate)
    for tolerance in tolerances:
        if isinstance(tolerance, SwapPenalty):
            plan_teams(tolerance, teams=len(candidate.cohort.teams), swaps=candidate.condition.needs_donor)
    arms = [baseline, candidate]
    if isinstance(baseline, PlaceboBaseline):
        arms.append(baseline.repeated())
    halt = Halt(candidate.cohort.stage.purse)
    played = await play_arms(arms, halt=halt)
    first, second = finished_in_both(played[0], played[1])
    _audit_payloads(first, second, over=halt.reached is None)
    units, word = pair_teams(first, second)
    result = PairedResult(
        baseline=baseline.label,
        candidate=candidate.label,
        units=units,
        unit_word=word,
        planned=len(candidate.cohort.teams) * candidate.cohort.trials,
        models=models_of(played) if _asked(played) else (),
        floor=_floor(*finished_in_both(played[0], played[2]), candidate) if len(played) > 2 else None,
    )
    return result if halt.reached is None else partial_result(result, str(halt.reached))


def _one_seat(
    tolerances: Sequence[Tolerance], baseline: TeamArm, candidate: TeamArm
) -> tuple[TeamArm, TeamArm]:
    """Return both arms with the seat that the test names, in whichever place it names it."""
    named: dict[str, str] = {}
    for tolerance in tolerances:
        seat = getattr(tolerance, "seat", None)
        if seat is not None:
            named.setdefault(seat, f"the marker {tolerance.marker}")
    for role, arm in (("candidate", candidate), ("baseline", baseline)):
        if arm.seat is not None:
            named.setdefault(arm.seat, f"the {role}")
    if len(named) > 1:
        said = ", ".join(f"{who} names {seat!r}" for seat, who in named.items())
        raise ArmError(f"one gate decides on one seat, but {said}: name the same seat, or name it once")
    for seat in named:
        candidate = candidate if candidate.seat is not None else replace(candidate, seat=seat)
    return baseline.beside(candidate), candidate


def _floor(baseline: PlayedArm, again: PlayedArm, candidate: TeamArm) -> PairedResult:
    """Compare the baseline with its own repetition, in the units of the candidate."""
    units, word = pair_teams(baseline, replace(again, arm=replace(candidate, replicate=again.arm.replicate)))
    return PairedResult(
        baseline=baseline.arm.label,
        candidate=again.arm.label,
        units=units,
        unit_word=word,
        planned=sum(map(len, baseline.episodes)),
    )


def _asked(played: Sequence[PlayedArm]) -> bool:
    """Whether any model was asked at all: an environment may play without."""
    return any(episode.usage.calls for arm in played for episodes in arm.episodes for episode in episodes)


def _audit_payloads(baseline: PlayedArm, candidate: PlayedArm, *, over: bool) -> None:
    """Check on the wire that the new occupant was really asked: its first request differs from the incumbent's.

    Where the comparison is not over, an occupant that was not asked yet may still be.
    """
    for index, team in enumerate(candidate.arm.cohort.teams):
        seat = candidate.seats[index]
        pairs = zip(baseline.episodes[index], candidate.episodes[index], strict=True)
        counted = [(b.payloads.get(seat), c.payloads.get(seat)) for b, c in pairs if b.counts and c.counts]
        seen = [pair for pair in counted if None not in pair]
        if seen and seen[0][0] == seen[0][1]:
            raise BiteError(
                f"the change did not bite: in {team.id} the first request to the {seat} seat is the same, byte for "
                f"byte, under {baseline.arm.label} and {candidate.arm.label}; does play() use the notebook and model "
                "of the team it is handed?"
            )
        if over and counted and not seen:
            raise BiteError(
                f"nothing shows that the change bit: in {team.id} the occupant of the {seat} seat was never used; let "
                "play() ask through team.ask(seat, ...), read team.notebook(seat), or return Episode(payloads={seat: "
                "digest of its first request})"
            )
