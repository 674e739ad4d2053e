"""Sizing a gate before anything is spent, and refusing one that cannot decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from pytest_swapgate.gate.tolerances import SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.stats import (
    deciding_multiplier,
    deciding_units,
)

TEAM_SCORE_SD = 0.038
TEAM_COST_SD = 0.11
"""Planning guesses for ten episodes a team: standard deviation between teams of an A/A difference of mean scores, and
of log costs. Simulated cooks on level 6 show .036 and .059. A swap pair averages two teams."""

MIN_UNITS = 3


def metrics_of(tolerance: Tolerance) -> int:
    """Return how many metrics a gate tests; its FAIL side divides alpha by them and by the declared family."""
    if isinstance(tolerance, SwapPenalty):
        return (tolerance.score is not None) + (tolerance.cost is not None)
    return 1


def fail_alpha(tolerance: Tolerance, metrics: int) -> float:
    """Return the level of one metric's FAIL side: alpha / (family x metrics)."""
    return tolerance.alpha / (tolerance.family * metrics)


@dataclass(frozen=True)
class TeamPlan:
    """What a gate over formed teams can detect.

    Attributes
    ----------
    units
        Independent units: swap pairs or teams.
    unit_word
        Which.
    score, cost
        Detectable drop of score (a share) and relative rise of cost; None where not gated.
    """

    units: int
    unit_word: str
    score: float | None
    cost: float | None


def plan_teams(tolerance: SwapPenalty, *, teams: int, swaps: bool) -> TeamPlan:
    """Plan a gate over K formed teams.

    Parameters
    ----------
    swaps
        Whether occupants are traded (units are pairs) or not (units are teams).

    Raises
    ------
    GateError
        If the units cannot be formed, or what they can detect is above what was asked for; both are stated.
    """
    units, word = (teams // 2, "swap pair") if swaps else (teams, "team")
    if tolerance.sequential:
        raise GateError(
            "sequential=True goes with two functions that return successes, not with formed teams"
        )
    if swaps and teams % 2:
        raise GateError(
            f"swap pairs need an even number of teams, got {teams}: set --swapgate-teams {teams + 1}"
        )
    levels = levels_of(tolerance, fail_alpha(tolerance, metrics_of(tolerance)))
    found: dict[str, float | None] = {"score": None, "cost": None}
    asks: tuple[tuple[Literal["score", "cost"], float | None], ...] = (
        ("score", tolerance.score_effect),
        ("cost", tolerance.cost_effect),
    )
    for metric, asked in asks:
        if asked is None:
            continue
        sd = planned_sd(tolerance, metric, word=word, trials=1)
        effect = math.log1p(asked) if metric == "cost" else asked
        try:
            needed = deciding_units(effect, sd=sd, **levels)
        except ValueError:
            raise GateError(
                f"{shown(metric, asked)} of {metric} cannot be detected at power {tolerance.power:g} with any number "
                "of teams that can be formed: declare a larger tolerance"
            ) from None
        advice = (
            f"set --swapgate-teams {needed * 2 if swaps else needed + needed % 2}"  # swaps need even numbers
        )
        if units < MIN_UNITS:
            few = f"{teams} teams give {units} {word}s" if swaps else f"{teams} teams are too few"
            raise GateError(
                f"{few}; at least {MIN_UNITS} are needed for any interval, and {needed} "
                f"to detect {shown(metric, asked)} of {metric} at power {tolerance.power:g}: {advice}"
            )
        able = deciding_multiplier(units, **levels) * sd
        found[metric] = math.expm1(able) if metric == "cost" else able
        if able > effect:
            raise GateError(
                f"{units} {word}s can detect {shown(metric, found[metric] or 0)} of {metric} at power "
                f"{tolerance.power:g}, the gate asks for {shown(metric, asked)}: {advice}, "
                f"or declare {metric}_sd if you know a smaller spread than {sd:.3g}"
            )
    return TeamPlan(units, word, found["score"], found["cost"])


def planned_sd(tolerance: SwapPenalty, metric: Literal["score", "cost"], *, word: str, trials: int) -> float:
    """Return the standard deviation between units that a gate was planned with.

    Parameters
    ----------
    word
        What a unit is: ``swap pair``, ``team`` or ``task``.
    trials
        Of each task; only for tasks.
    """
    per_unit = math.sqrt(2) if word == "swap pair" else 1.0
    if metric == "cost":
        return tolerance.cost_sd or TEAM_COST_SD / per_unit
    if word == "task":
        return math.sqrt(max(tolerance.discordance, tolerance.score_effect or 0.0) / trials)
    return tolerance.score_sd or TEAM_SCORE_SD / per_unit


def refusal(tolerance: Tolerance, *, teams: int, seats: Sequence[str]) -> str:
    """Say why a gate over K teams with these seats cannot decide, whatever change it tries; empty if it may."""
    seat = getattr(tolerance, "seat", None)
    if seat is not None and seat not in seats:
        return (
            f"{tolerance.marker}: seat={seat!r}: accepted is one of {', '.join(seats)}, or None to draw one"
        )
    if isinstance(tolerance, SwapPenalty):
        try:
            # The units of a replacement; those of a swap are half as many and twice as precise.
            plan_teams(tolerance, teams=teams, swaps=False)
        except GateError as error:
            return f"{tolerance.marker}: {error}"
    return ""


class Levels(TypedDict):
    """Levels of both sides of the rule, and the planned power."""

    alpha: float
    fail_alpha: float
    power: float


def levels_of(tolerance: Tolerance, level: float) -> Levels:
    """Return what a plan is made at: both sides of the rule, and the power."""
    return {"alpha": tolerance.alpha, "fail_alpha": level, "power": tolerance.power}


def shown(metric: str, value: float) -> str:
    """Write an effect in the unit of its metric."""
    return f"{100 * value:.1f} %" if metric == "cost" else f"{100 * value:.1f} pp"
