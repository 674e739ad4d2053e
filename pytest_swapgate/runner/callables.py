"""A user's own two arms, side by side over tasks and trials."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import anyio
import numpy as np

from pytest_swapgate.evidence import content_key
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.runner.errors import ArmError, BudgetReachedError, where_raised
from pytest_swapgate.runner.stage import Stage
from pytest_swapgate.teams.episode import Episode, FailureClass, Task

Arm = Callable[[Any, int], Any]
"""``arm(task, seed)``, plain or async, returning an `Episode`, a score in [0, 1] or a success."""


@dataclass(frozen=True)
class CallableArm:
    """One arm of a user.

    Attributes
    ----------
    role
        ``baseline`` or ``candidate``.
    gate
        The gate it is played for; a label in the evidence file.
    call
        The user's function.
    identity
        What its outcomes are kept under; None plays them anew in every run.
    """

    role: str
    gate: str
    call: Arm
    identity: str | None


@dataclass(frozen=True)
class PairOutcome:
    """Both arms on one task and trial."""

    task_id: str
    trial: int
    baseline: Episode
    candidate: Episode


def task_ids(tasks: Sequence[Any]) -> list[str]:
    """Return a name for every task, each once: its own id, name or text, else its position."""
    names: list[str] = []
    for index, task in enumerate(tasks):
        own = task if isinstance(task, str) else _own_name(task)
        name = own if isinstance(own, str) and own else f"task-{index}"
        names.append(f"{name}#{index}" if name in names else name)
    return names


def _own_name(task: Any) -> Any:
    if isinstance(task, dict):
        return task.get("id") or task.get("name")
    return getattr(task, "id", None) or getattr(task, "name", None)


async def play_callables(
    stage: Stage,
    baseline: CallableArm,
    candidate: CallableArm,
    tasks: Sequence[Any],
    *,
    trials: int,
    seed: int,
) -> list[PairOutcome]:
    """Play both arms on every task and trial, in the same session, one beside the other.

    Plain functions run one after the other in this thread, tasks in random order, the arm that goes first
    drawn for each pair; pairs of async functions run side by side.

    Parameters
    ----------
    trials
        Trials of each task, >= 1.
    seed
        Root of the seeds that the arms are given; both arms of a pair get the same.

    Raises
    ------
    ArmError
        When an arm raises or returns something that is no outcome.
    """
    names = task_ids(tasks)
    seeds = np.random.default_rng([seed, 1]).integers(2**31, size=(trials, len(tasks)))
    order = np.random.default_rng([seed, 2])
    plan = [(trial, index) for trial in range(trials) for index in order.permutation(len(tasks))]
    swapped = np.random.default_rng([seed, 3]).integers(2, size=len(plan))
    outcomes: dict[tuple[int, int], PairOutcome] = {}
    failed: list[BaseException] = []

    async def play_pair(slot: int) -> None:
        trial, index = plan[slot]
        arms = (candidate, baseline) if swapped[slot] else (baseline, candidate)
        played = {}
        for arm in arms:
            key = _key(arm, tasks[index], names[index], trial, int(seeds[trial, index]))
            played[arm.role] = await _read_or_play(
                stage, arm, tasks[index], Task(id=names[index]), int(seeds[trial, index]), key
            )
        outcomes[trial, index] = PairOutcome(names[index], trial, played["baseline"], played["candidate"])

    if all(inspect.iscoroutinefunction(arm.call) for arm in (baseline, candidate)):
        limiter = anyio.CapacityLimiter(stage.concurrency)

        async def limited(slot: int) -> None:
            async with limiter:
                if failed:
                    return
                try:
                    await play_pair(slot)
                except Exception as error:
                    failed.append(error)
                    group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for slot in range(len(plan)):
                group.start_soon(limited, slot)
        if failed:
            raise failed[0]
    else:
        for slot in range(len(plan)):
            await play_pair(slot)
    return [outcomes[trial, index] for index in range(len(tasks)) for trial in range(trials)]


def _key(arm: CallableArm, task: Any, name: str, trial: int, seed: int) -> str | None:
    if arm.identity is None:
        return None
    content = task.model_dump_json() if isinstance(task, Task) else _plain(task)
    if content is None:
        return None
    return content_key(arm=arm.identity, role=arm.role, task=name, content=content, trial=trial, seed=seed)


def _plain(task: Any) -> str | None:
    """Return a task as text that means the same in another run, or None if it has no such text."""
    try:
        return json.dumps(task, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError):
        text = repr(task)
        return None if " at 0x" in text else text


async def _read_or_play(
    stage: Stage, arm: CallableArm, task: Any, noun: Task, seed: int, key: str | None
) -> Episode:
    store = stage.store
    if store is not None and key is not None and not stage.fresh:
        found = store.get(key)
        if found is not None:
            stage.purse.found()
            return found
    stage.purse.start()
    episode = (await _play(arm, task, noun.id, seed)).replayed_as(task_id=noun.id, seed=seed)
    stage.purse.finish(episode.usage)
    if store is not None and episode.counts:
        # Without an identity the row is for reports only: no later run may read it.
        kept = key or content_key(run=stage.run, gate=arm.gate, role=arm.role, task=noun.id, seed=seed)
        store.put(kept, episode, study=arm.gate, unit=noun.id, arm=arm.role, run=stage.run)
    return episode


async def _play(arm: CallableArm, task: Any, name: str, seed: int) -> Episode:
    try:
        outcome = arm.call(task, seed)
        if inspect.isawaitable(outcome):
            outcome = await outcome
    except (ArmError, BudgetReachedError):
        raise
    except ModelError as error:
        if error.failure is FailureClass.CONFIGURATION:
            raise ArmError(f"the {arm.role} arm: {error}", failure=error.failure) from error
        return Episode(score=0.0, failure=error.failure, error=str(error))
    except Exception as error:
        raise ArmError(f"the {arm.role} arm raised {where_raised(error)} on task {name!r}") from error
    return as_episode(outcome, f"the {arm.role} arm on task {name!r}")


def as_episode(outcome: Any, who: str) -> Episode:
    """Take what an arm returned for an episode.

    Raises
    ------
    ArmError
        If it is not an Episode, a success, or a score in [0, 1]; NaN is none.
    """
    if isinstance(outcome, Episode):
        return outcome
    if inspect.iscoroutine(outcome):
        outcome.close()
        raise ArmError(f"{who} returned a coroutine that was not awaited: write 'return await ...'")
    accepted = "accepted are an Episode, a score in [0, 1] or True/False"
    if isinstance(outcome, bool | np.bool_):
        return Episode(score=float(outcome), success=bool(outcome))
    if isinstance(outcome, Real):
        score = float(outcome)
        if math.isfinite(score) and 0 <= score <= 1:
            return Episode(score=score, success=score == 1)
        raise ArmError(f"{who} returned {score!r}: {accepted}")
    hint = " (no return statement?)" if outcome is None else ""
    raise ArmError(f"{who} returned {type(outcome).__name__}{hint}: {accepted}")
