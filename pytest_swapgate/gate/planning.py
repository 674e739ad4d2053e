"""Sizing a gate before anything is spent, and refusing one that cannot decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.stats import (
    LookPlan,
    deciding_multiplier,
    deciding_pairs,
    deciding_units,
    detectable_effect_pairs,
    plan_looks,
)

TEAM_SCORE_SD = 0.038
TEAM_COST_SD = 0.11
"""Planning guesses for ten episodes a team: standard deviation between teams of an A/A difference of mean scores, and
of log costs. Simulated cooks on level 6 show .036 and .059. A swap pair averages two teams."""

MIN_UNITS = 3
MIN_TASKS = 3


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
    per_unit = math.sqrt(2) if swaps else 1.0
    levels = _levels(tolerance, fail_alpha(tolerance, metrics_of(tolerance)))
    found: dict[str, float | None] = {"score": None, "cost": None}
    for metric, asked, sd in (
        ("score", tolerance.score_effect, tolerance.score_sd or TEAM_SCORE_SD / per_unit),
        ("cost", tolerance.cost_effect, tolerance.cost_sd or TEAM_COST_SD / per_unit),
    ):
        if asked is None:
            continue
        effect = math.log1p(asked) if metric == "cost" else asked
        needed = deciding_units(effect, sd=sd, **levels)
        advice = f"set --swapgate-teams {needed * 2 if swaps else needed}"
        if units < MIN_UNITS:
            few = f"{teams} teams give {units} {word}s" if swaps else f"{teams} teams are too few"
            raise GateError(
                f"{few}; at least {MIN_UNITS} are needed for any interval, and {needed} "
                f"to detect {_share(metric, asked)} of {metric} at power {tolerance.power:g}: {advice}"
            )
        able = deciding_multiplier(units, **levels) * sd
        found[metric] = math.expm1(able) if metric == "cost" else able
        if able > effect:
            raise GateError(
                f"{units} {word}s can detect {_share(metric, found[metric] or 0)} of {metric} at power "
                f"{tolerance.power:g}, the gate asks for {_share(metric, asked)}: {advice}, "
                f"or declare {metric}_sd if you know a smaller spread than {sd:.3g}"
            )
    return TeamPlan(units, word, found["score"], found["cost"])


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


class _Levels(TypedDict):
    alpha: float
    fail_alpha: float
    power: float


def _levels(tolerance: Tolerance, level: float) -> _Levels:
    """Return what a plan is made at: both sides of the rule, and the power."""
    return {"alpha": tolerance.alpha, "fail_alpha": level, "power": tolerance.power}


def _share(metric: str, value: float) -> str:
    return f"{100 * value:.1f} %" if metric == "cost" else f"{100 * value:.1f} pp"


@dataclass(frozen=True)
class TaskPlan:
    """How often two callables are run.

    Attributes
    ----------
    tasks, trials
        Tasks, and trials of each.
    looks
        When a sequential gate looks; None for a fixed sample.
    """

    tasks: int
    trials: int
    looks: LookPlan | None = None

    @property
    def pairs(self) -> int:
        """Pairs of outcomes."""
        return self.tasks * self.trials


def plan_tasks(tolerance: SwapPenalty | ActivePassK, *, tasks: int) -> TaskPlan:
    """Plan a gate over two callables: trials so that the sample detects the declared effect.

    One trial a task where there are tasks enough (paired binary sample size); else several, tasks being the units.

    Raises
    ------
    GateError
        If there are too few tasks, or a declared number of trials that cannot detect the effect.
    """
    if tasks == 0:
        raise GateError(
            "no tasks: pass a sequence of at least 3 tasks to paired_runner(baseline, candidate, tasks)"
        )
    if tasks < MIN_TASKS:
        raise GateError(f"{tasks} task(s): tasks are the independent units, at least {MIN_TASKS} are needed")
    effect, least = _effect(tolerance)
    if effect is None:
        return _plan_cost_of_tasks(tolerance, tasks)
    level = _task_level(tolerance)
    discordance = max(tolerance.discordance, effect)
    if isinstance(tolerance, SwapPenalty) and tolerance.sequential:
        looks = plan_looks(effect, discordance=discordance, alpha=level, power=tolerance.power)
        if looks.sizes[-1] > tasks:
            raise GateError(
                f"sequential=True may need {looks.sizes[-1]} tasks, one trial each, got {tasks}: give more tasks, "
                "declare a larger tolerance, or leave sequential out to run each task several times"
            )
        return TaskPlan(tasks, 1, looks)
    if tolerance.trials is not None:
        _check_declared_trials(tolerance, effect, tasks=tasks, trials=tolerance.trials, level=level)
        return TaskPlan(tasks, tolerance.trials)
    pairs = deciding_pairs(effect, discordance=discordance, **_levels(tolerance, level))
    if pairs <= tasks and least == 1:
        return TaskPlan(tasks, 1)
    ratio = effect / deciding_multiplier(tasks, **_levels(tolerance, level))
    return TaskPlan(tasks, max(2, least, math.ceil(discordance / ratio**2)))


def _check_declared_trials(
    tolerance: SwapPenalty | ActivePassK, effect: float, *, tasks: int, trials: int, level: float
) -> None:
    discordance = max(tolerance.discordance, effect)
    asked = f"the gate asks for {100 * effect:g} pp: leave trials out to let the plan size it"
    try:
        if trials == 1:
            found = detectable_effect_pairs(
                tasks, discordance=discordance, alpha=level, power=tolerance.power
            )
        else:
            sd = math.sqrt(discordance / trials)
            found = deciding_multiplier(tasks, **_levels(tolerance, level)) * sd
    except ValueError:
        raise GateError(
            f"{tasks} tasks, run {trials} time(s) each, show no harm at all at power {tolerance.power:g}, {asked}"
        ) from None
    if trials == 1 and found <= effect * (1 + 1e-9):
        # So few pairs that the rule decides less often than the formula says.
        needed = deciding_pairs(effect, discordance=discordance, **_levels(tolerance, level))
        if needed > tasks:
            raise GateError(
                f"{tasks} tasks, run once each, decide too rarely at power {tolerance.power:g}: {needed} are needed, "
                f"{asked}"
            )
    if found > effect * (1 + 1e-9):
        raise GateError(
            f"{tasks} tasks, run {trials} time(s) each, can detect {100 * found:.1f} pp at power {tolerance.power:g}, "
            f"{asked}"
        )


def _plan_cost_of_tasks(tolerance: SwapPenalty | ActivePassK, tasks: int) -> TaskPlan:
    """Plan a gate of the cost alone: nothing says how many trials it needs, so they are declared."""
    if not isinstance(tolerance, SwapPenalty) or tolerance.cost_effect is None or tolerance.trials is None:
        raise GateError(
            "a gate of the cost alone cannot size a sample of two functions: declare score=... too, or trials=..."
        )
    if tolerance.cost_sd is not None:
        levels = _levels(tolerance, fail_alpha(tolerance, 1))
        found = math.expm1(deciding_multiplier(tasks, **levels) * tolerance.cost_sd)
        if found > tolerance.cost_effect:
            raise GateError(
                f"{tasks} tasks can detect {_share('cost', found)} of cost at power {tolerance.power:g}, the gate asks "
                f"for {_share('cost', tolerance.cost_effect)}: give more tasks, or declare a larger tolerance"
            )
    return TaskPlan(tasks, tolerance.trials)


def _task_level(tolerance: SwapPenalty | ActivePassK) -> float:
    """Return the level that two functions are planned at; a cost counts where it was asked for."""
    costs = isinstance(tolerance, SwapPenalty) and tolerance.cost is not None and tolerance.explicit("cost")
    return fail_alpha(tolerance, 2 if costs else 1)


def _effect(tolerance: SwapPenalty | ActivePassK) -> tuple[float | None, int]:
    """Return the effect that is planned for (None for the cost alone), and the fewest trials of a task."""
    if isinstance(tolerance, ActivePassK):
        return tolerance.effect, tolerance.k
    return tolerance.score_effect, 1


@dataclass(frozen=True)
class UnseenTasks:
    """What a gate over two functions needs while its tasks are not known yet.

    Attributes
    ----------
    tasks, trials
        Tasks that are enough when each is run that often.
    effect
        Drop of score that they detect; None for a gate of the cost alone.
    looks
        Numbers of pairs at which a sequential gate may stop; empty for a fixed sample.
    """

    tasks: int
    trials: int
    effect: float | None
    looks: tuple[int, ...] = ()


def plan_unseen_tasks(tolerance: SwapPenalty | ActivePassK) -> UnseenTasks:
    """Plan a gate over two functions before anybody has seen its tasks.

    Raises
    ------
    GateError
        If it cannot be sized.
    """
    effect, least = _effect(tolerance)
    if effect is None:
        return UnseenTasks(MIN_TASKS, plan_tasks(tolerance, tasks=MIN_TASKS).trials, None)
    discordance = max(tolerance.discordance, effect)
    level = _task_level(tolerance)
    if isinstance(tolerance, SwapPenalty) and tolerance.sequential:
        sizes = plan_looks(effect, discordance=discordance, alpha=level, power=tolerance.power).sizes
        return UnseenTasks(sizes[-1], 1, effect, sizes)
    pairs = deciding_pairs(effect, discordance=discordance, **_levels(tolerance, level))
    return UnseenTasks(pairs, tolerance.trials or least, effect)
