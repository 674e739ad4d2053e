"""Two functions of a user: checked before anything is spent, sized by the marker, played, filed by task."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pytest_swapgate.gate.planning import TaskPlan, plan_tasks
from pytest_swapgate.gate.sequential import Looks
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.runner import ArmError, CallableArm, Stage, play_callables
from pytest_swapgate.runner.callables import PairOutcome, task_ids
from pytest_swapgate.runner.errors import where_raised
from pytest_swapgate.stats.pass_hat_k import MIN_ACTIVE_TASKS
from pytest_swapgate.studies.paired import Cell, PairedResult, Unit
from pytest_swapgate.teams import BiteError

UserArm = Callable[[Any, int], Any]


async def compare_callables(
    tolerances: Sequence[Tolerance],
    stage: Stage,
    arms: tuple[CallableArm, CallableArm],
    tasks: Sequence[Any],
    *,
    names: tuple[str, str],
    active: Callable[[Any], bool] | None,
    seed: int,
) -> PairedResult:
    """Play a baseline and a candidate on every task, as often as the most demanding marker asks.

    Raises
    ------
    GateError, ArmError
        Before anything is played, if the gate cannot decide; while it is played, if an arm breaks.
    """
    ids = task_ids(tasks)
    shared = {name: _active(active, task) for name, task in zip(ids, tasks, strict=True)}
    known = None if active is None else sum(map(bool, shared.values()))
    if known is not None and all(isinstance(tolerance, ActivePassK) for tolerance in tolerances):
        if tasks and known == 0:
            raise GateError(
                f"active=... is true of none of the {len(tasks)} tasks: there is nothing to compare"
            )
        if tasks and known < MIN_ACTIVE_TASKS:
            few = f"only {known} of {len(tasks)} tasks are coordination-active, {MIN_ACTIVE_TASKS} are needed"
            return PairedResult(
                *names, (), "task", planned=0, stopped=f"{few}: give more tasks; nothing was played"
            )
    plans = [
        plan_tasks(
            tolerance,
            tasks=known if isinstance(tolerance, ActivePassK) and known is not None else len(tasks),
        )
        for tolerance in tolerances
        if isinstance(tolerance, SwapPenalty | ActivePassK)
    ]
    looks = _looks(plans, stage.progress.look)
    outcomes = await play_callables(
        stage,
        *arms,
        tasks,
        trials=max(plan.trials for plan in plans),
        seed=seed,
        looks=looks.plan.sizes if looks else (),
        stop=looks,
    )
    played = {outcome.task_id for outcome in outcomes}
    result = PairedResult(
        baseline=names[0],
        candidate=names[1],
        units=tuple(_unit(name, shared[name], outcomes) for name in ids if name in played),
        unit_word="task",
        planned=len(outcomes),
    )
    if looks is None or looks.last is None:
        return result
    return replace(result, look=len(looks.taken), looks=looks.plan.sizes, look_interval=looks.last.interval)


def _looks(plans: Sequence[TaskPlan], tell: Callable[[str], None]) -> Looks | None:
    sequential = [plan.looks for plan in plans if plan.looks is not None]
    if sequential and len(plans) > 1:
        raise GateError("sequential=True goes with one marker: put the other one on a test of its own")
    return Looks(sequential[0], tell) if sequential else None


def check_callables(baseline: Any, candidate: Any) -> None:
    """Refuse what is no arm, cannot be called with a task and a seed, or is the same function twice."""
    for role, arm in (("baseline", baseline), ("candidate", candidate)):
        if not callable(arm):
            raise ArmError(
                f"the {role} must be an arm of formed_teams or a function arm(task, seed), got {type(arm).__name__}"
            )
        try:
            signature = inspect.signature(arm)
        except (TypeError, ValueError):
            continue
        try:
            signature.bind(None, 0)
        except TypeError as error:
            raise ArmError(
                f"the {role} arm {name_of(arm)}{signature} is called with (task, seed): {error}"
            ) from None
    if _same(baseline, candidate):
        raise BiteError("the change did not bite: baseline and candidate are the same function")


def listed_tasks(tasks: Any) -> list[Any]:
    """Return a user's tasks as a list; a text is one task, not many."""
    if tasks is None:
        return []
    if isinstance(tasks, str | bytes):
        raise ArmError(f"tasks={tasks!r}: accepted is a sequence of tasks, such as a list")
    try:
        return list(tasks)
    except TypeError:
        raise ArmError(f"tasks={tasks!r}: accepted is a sequence of tasks, such as a list") from None


def is_async(arm: Any) -> bool:
    """Whether calling an arm gives something to await, as far as can be told without calling it."""
    return inspect.iscoroutinefunction(arm) or inspect.iscoroutinefunction(getattr(arm, "__call__", None))  # noqa: B004


def name_of(arm: Any) -> str:
    """Return what a report calls an arm."""
    if isinstance(arm, functools.partial):
        return f"partial of {name_of(arm.func)}"
    return str(getattr(arm, "__qualname__", None) or type(arm).__name__).rpartition("<locals>.")[2]


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, functools.partial) and isinstance(second, functools.partial):
        return (
            _same(first.func, second.func) and first.args == second.args and first.keywords == second.keywords
        )
    return bool(first is second or first == second)


def _active(active: Callable[[Any], bool] | None, task: Any) -> bool | None:
    if active is None:
        return None
    try:
        return bool(active(task))
    except Exception as error:
        raise ArmError(f"active=... raised {where_raised(error)} on task {task!r}") from error


def _unit(name: str, active: bool | None, outcomes: list[PairOutcome]) -> Unit:
    mine = [outcome for outcome in outcomes if outcome.task_id == name]
    baseline = tuple(outcome.baseline for outcome in mine)
    candidate = tuple(outcome.candidate for outcome in mine)
    return Unit(name, (Cell(name, baseline, candidate, active=active),))
