"""Sizing a gate over two functions before anything is spent, and refusing one that cannot decide."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_swapgate.gate.planning import fail_alpha, levels_of, shown
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.stats import (
    LookPlan,
    deciding_multiplier,
    deciding_pairs,
    detectable_effect_pairs,
    plan_looks,
)

MIN_TASKS = 3
MOST_UNASKED = 100_000
"""Episodes that a comparison plays because its plan needs them; more are played where trials are declared."""
MOST_EPISODES = 10_000_000
"""Episodes that one comparison of two functions plays at most: all of them are held in memory for the verdict."""


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
        If there are too few tasks, a declared number of trials that cannot detect the effect, or more episodes than
        anybody would start unasked.
    """
    plan = _plan_tasks(tolerance, tasks)
    pairs = plan.looks.sizes[-1] if plan.looks else plan.pairs
    _refuse_too_many(tolerance, tasks=tasks, trials=plan.trials, pairs=pairs)
    return plan


def _plan_tasks(tolerance: SwapPenalty | ActivePassK, tasks: int) -> TaskPlan:
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
        looks = _looks(tolerance, effect, discordance, level)
        if looks.sizes[-1] > tasks:
            raise GateError(
                f"sequential=True may need {looks.sizes[-1]} tasks, one trial each, got {tasks}: give more tasks, "
                "declare a larger tolerance, or leave sequential out to run each task several times"
            )
        return TaskPlan(tasks, 1, looks)
    if tolerance.trials is not None:
        _check_declared_trials(tolerance, effect, tasks=tasks, trials=tolerance.trials, level=level)
        return TaskPlan(tasks, tolerance.trials)
    pairs = deciding_pairs(effect, discordance=discordance, **levels_of(tolerance, level))
    if pairs <= tasks and least == 1:
        return TaskPlan(tasks, 1)
    ratio = effect / deciding_multiplier(tasks, **levels_of(tolerance, level))
    return TaskPlan(tasks, max(2, least, math.ceil(discordance / ratio**2)))


def _refuse_too_many(tolerance: SwapPenalty | ActivePassK, *, tasks: int, trials: int, pairs: int) -> None:
    """Refuse a plan that would start a run of very many calls without anybody having asked for it."""
    episodes = 2 * pairs
    most = MOST_UNASKED if tolerance.trials is None else MOST_EPISODES
    if episodes <= most:
        return
    effect, least = _effect(tolerance)
    goal = "" if effect is None else f", to detect {100 * effect:g} pp at power {tolerance.power:g}"
    often = "once" if trials == 1 else f"{trials:,} times"
    advice = [
        "declare a larger tolerance" if trials > least else "give fewer tasks or declare a larger tolerance"
    ]
    if tolerance.trials is None:
        known = f"more than {most:,} are played only where trials are declared"
        if episodes <= MOST_EPISODES:
            advice.append(f"or declare trials={trials} if you want them all")
    else:
        known = f"one comparison plays at most {most:,}"
        advice.append("or fewer trials")
    raise GateError(
        f"{tasks:,} tasks, run {often} an arm{goal}, are {episodes:,} episodes; {known}: {', '.join(advice)}"
    )


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
            found = deciding_multiplier(tasks, **levels_of(tolerance, level)) * sd
    except ValueError:
        raise GateError(
            f"{tasks} tasks, run {trials} time(s) each, show no harm at all at power {tolerance.power:g}, {asked}"
        ) from None
    if trials == 1 and found <= effect * (1 + 1e-9):
        # So few pairs that the rule decides less often than the formula says.
        needed = deciding_pairs(effect, discordance=discordance, **levels_of(tolerance, level))
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
        levels = levels_of(tolerance, fail_alpha(tolerance, 1))
        found = math.expm1(deciding_multiplier(tasks, **levels) * tolerance.cost_sd)
        if found > tolerance.cost_effect:
            raise GateError(
                f"{tasks} tasks can detect {shown('cost', found)} of cost at power {tolerance.power:g}, the gate asks "
                f"for {shown('cost', tolerance.cost_effect)}: give more tasks, or declare a larger tolerance"
            )
    return TaskPlan(tasks, tolerance.trials)


def _task_level(tolerance: SwapPenalty | ActivePassK) -> float:
    """Return the level that two functions are planned at; a cost counts where it was asked for."""
    costs = isinstance(tolerance, SwapPenalty) and tolerance.cost is not None and tolerance.explicit("cost")
    return fail_alpha(tolerance, 2 if costs else 1)


def _looks(tolerance: SwapPenalty, effect: float, discordance: float, level: float) -> LookPlan:
    """Plan looks that find the effect and decide by the declared tolerance."""
    margin = effect if tolerance.score is None else tolerance.score
    return plan_looks(margin, discordance=discordance, alpha=level, power=tolerance.power, effect=effect)


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
        sizes = _looks(tolerance, effect, discordance, level).sizes
        _refuse_too_many(tolerance, tasks=sizes[-1], trials=1, pairs=sizes[-1])
        return UnseenTasks(sizes[-1], 1, effect, sizes)
    pairs = deciding_pairs(effect, discordance=discordance, **levels_of(tolerance, level))
    if tolerance.trials is None:  # else the tasks that come may be fewer
        _refuse_too_many(tolerance, tasks=pairs, trials=least, pairs=pairs * least)
    return UnseenTasks(pairs, tolerance.trials or least, effect)
