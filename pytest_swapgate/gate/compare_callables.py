"""Two functions of a user: checked before anything is spent, sized by the marker, played, filed by task."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pytest_swapgate.gate.sequential import Looks
from pytest_swapgate.gate.task_planning import TaskPlan, plan_tasks
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.runner import ArmError, CallableArm, Stage, play_callables
from pytest_swapgate.runner.callables import PairOutcome, task_content, task_ids
from pytest_swapgate.runner.errors import where_raised
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.shortening import written
from pytest_swapgate.stats.pass_hat_k import MIN_ACTIVE_TASKS
from pytest_swapgate.studies.paired import Cell, PairedResult, Unit
from pytest_swapgate.studies.partial import partial_result
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

    Where a cap is reached, the result is that of the pairs that were finished.

    Raises
    ------
    GateError, ArmError
        Before anything is played, if the gate cannot decide; while it is played, if an arm breaks.
    """
    _refuse_doubles(tasks)
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
    trials = max(plan.trials for plan in plans)
    halt = Halt(stage.purse)
    outcomes = await play_callables(
        stage,
        *arms,
        tasks,
        trials=trials,
        seed=seed,
        looks=looks.plan.sizes if looks else (),
        stop=looks,
        halt=halt,
    )
    played: dict[str, list[PairOutcome]] = {}
    for outcome in outcomes:
        played.setdefault(outcome.task_id, []).append(outcome)
    result = PairedResult(
        baseline=names[0],
        candidate=names[1],
        units=tuple(_unit(name, shared[name], played[name]) for name in ids if name in played),
        unit_word="task",
        planned=len(outcomes),
    )
    if looks is not None:
        interval = looks.last.interval if looks.last else None
        result = replace(result, look=len(looks.taken), looks=looks.plan.sizes, look_interval=interval)
    if halt.reached is None:
        return result
    planned = looks.plan.sizes[-1] if looks else trials * len(tasks)
    return partial_result(replace(result, planned=planned), str(halt.reached))


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


def _refuse_doubles(tasks: Sequence[Any]) -> None:
    """Refuse a task that is given twice: tasks are the independent units, and a copy is not another one."""
    seen: dict[str, int] = {}
    for index, task in enumerate(tasks):
        content = task_content(task)
        if content is None:  # an object that nothing is known of
            continue
        if content in seen:
            raise GateError(
                f"tasks {seen[content]} and {index} are the same: tasks are the independent units, so give each once; "
                "the plan runs a task several times where that is needed, and trials=... says how often"
            )
        seen[content] = index


def listed_tasks(tasks: Any) -> list[Any]:
    """Return a user's tasks as a list; a text is one task, not many."""
    if tasks is None:
        return []
    if isinstance(tasks, str | bytes):
        raise ArmError(f"tasks={written(tasks)}: accepted is a sequence of tasks, such as a list")
    try:
        return list(tasks)
    except TypeError:
        raise ArmError(f"tasks={written(tasks)}: accepted is a sequence of tasks, such as a list") from None


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
        raise ArmError(f"active=... raised {where_raised(error)} on task {written(task)}") from error


def _unit(name: str, active: bool | None, outcomes: list[PairOutcome]) -> Unit:
    baseline = tuple(outcome.baseline for outcome in outcomes)
    candidate = tuple(outcome.candidate for outcome in outcomes)
    return Unit(name, (Cell(name, baseline, candidate, active=active),))
