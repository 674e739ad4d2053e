"""A user's own two arms, side by side over tasks and trials."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
import numpy as np

from pytest_swapgate.evidence import content_key
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.litellm_model import closing_clients
from pytest_swapgate.runner.blocking import interruptible
from pytest_swapgate.runner.episodes import play_until_it_counts, timed_out
from pytest_swapgate.runner.errors import ArmError, BudgetReachedError, leading, where_raised
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.runner.outages import outage
from pytest_swapgate.runner.side_by_side import side_by_side
from pytest_swapgate.runner.stage import Stage
from pytest_swapgate.shortening import shortened, written
from pytest_swapgate.teams.episode import Episode, FailureClass, Task
from pytest_swapgate.teams.outcome import OutcomeError, as_episode

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
    names: dict[str, None] = {}
    for index, task in enumerate(tasks):
        own = task if isinstance(task, str) else _own_name(task)
        whole = isinstance(own, int) and not isinstance(own, bool)
        name = str(own) if whole or (isinstance(own, str) and own) else f"task-{index}"
        while name in names:
            name = f"{name}#{index}"
        names[name] = None
    return list(names)


def _own_name(task: Any) -> Any:
    own = [task.get(n) if isinstance(task, dict) else getattr(task, n, None) for n in ("id", "name")]
    return own[0] if own[0] not in (None, "") else own[1]


def _is_async(call: Arm) -> bool:
    """Whether a function, or an object that is called like one, is async."""
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


async def play_callables(
    stage: Stage,
    baseline: CallableArm,
    candidate: CallableArm,
    tasks: Sequence[Any],
    *,
    trials: int,
    seed: int,
    looks: Sequence[int] = (),
    stop: Callable[[list[PairOutcome]], bool] | None = None,
    halt: Halt | None = None,
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
    looks, stop
        Numbers of pairs at which ``stop`` is handed all pairs so far and may end the run; never in between.
        The last number is the most pairs that are played.
    halt
        Remembers a cap that is reached; the pairs that both arms have finished are then returned. None raises the
        cap instead. Either way what is in flight may finish, and nothing else is played.

    Raises
    ------
    ArmError
        When an arm raises or returns something that is no outcome.
    BudgetReachedError
        When a cap is reached and there is no ``halt``.
    """
    names = task_ids(tasks)
    seeds = np.random.default_rng([seed, 1]).integers(2**31, size=(trials, len(tasks)))
    order = np.random.default_rng([seed, 2])
    plan = [(trial, index) for trial in range(trials) for index in order.permutation(len(tasks))]
    swapped = np.random.default_rng([seed, 3]).integers(2, size=len(plan))
    outcomes: dict[tuple[int, int], PairOutcome] = {}
    cap = Halt(stage.purse) if halt is None else halt
    finished: list[Episode] = []

    async def play_pair(slot: int) -> None:
        trial, index = plan[slot]
        arms = (candidate, baseline) if swapped[slot] else (baseline, candidate)
        played = {}
        with cap.catching():
            for arm in arms:
                key = _key(arm, tasks[index], names[index], trial, int(seeds[trial, index]))
                played[arm.role] = await _read_or_play(
                    stage, arm, tasks[index], Task(id=names[index]), int(seeds[trial, index]), key, cap
                )
                finished.append(played[arm.role])
            outcomes[trial, index] = PairOutcome(names[index], trial, played["baseline"], played["candidate"])

    both_async = all(_is_async(arm.call) for arm in (baseline, candidate))
    ends = list(looks) if stop is not None else [len(plan)]
    asked = 2 * min(ends[-1] if ends else 0, len(plan))
    stage.progress.plan(asked)
    done = 0
    async with closing_clients():
        for end in ends:
            slots = range(done, min(end, len(plan)))
            if both_async:
                await side_by_side(play_pair, slots, stage.concurrency)
            else:
                for slot in slots:
                    await anyio.lowlevel.checkpoint()  # plain functions may never wait for anything
                    await play_pair(slot)
            done = slots.stop
            if cap.reached is not None:  # no look is taken at pairs that are not all there
                break
            if stop is not None and stop([outcomes[trial, index] for trial, index in plan[:done]]):
                break
    stage.progress.plan(len(finished) - asked)
    if cap.reached is not None and halt is None:
        raise cap.reached
    return [outcomes[key] for key in sorted(outcomes, key=lambda key: (key[1], key[0]))]


def task_content(task: Any) -> str | None:
    """Return what a task says, equal for equal tasks; None for an object that does not say what it is."""
    return task.model_dump_json() if isinstance(task, Task) else _plain(task)


def _key(arm: CallableArm, task: Any, name: str, trial: int, seed: int) -> str | None:
    if arm.identity is None:
        return None
    content = task_content(task)
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
    stage: Stage, arm: CallableArm, task: Any, noun: Task, seed: int, key: str | None, halt: Halt
) -> Episode:
    store = stage.store
    if store is not None and key is not None and not stage.fresh:
        found = store.get(key)
        if found is not None:
            stage.purse.found()
            stage.progress.finish(found, read=True)
            return found
    halt.check()
    with halt.cutting():
        played = await play_until_it_counts(stage, lambda _: _play(stage, arm, task, noun.id, seed))
    episode = played.replayed_as(task_id=noun.id, seed=seed)
    if store is not None and episode.counts:
        # Without an identity the row is for reports only: no later run may read it.
        kept = key or content_key(run=stage.run, gate=arm.gate, role=arm.role, task=noun.id, seed=seed)
        store.put(kept, episode, study=arm.gate, unit=noun.id, arm=arm.role, run=stage.run)
    stage.progress.finish(episode)
    return episode


async def _play(stage: Stage, arm: CallableArm, task: Any, name: str, seed: int) -> Episode:
    try:
        with anyio.move_on_after(stage.episode_timeout) as limit:
            with interruptible():
                outcome = arm.call(task, seed)
            if inspect.isawaitable(outcome):
                outcome = await outcome
        if limit.cancel_called:  # whether or not it was swallowed
            return timed_out(stage.episode_timeout)
        episode = as_episode(outcome, f"the {arm.role} arm on task {written(name)}")
    except OutcomeError as error:
        raise ArmError(str(error)) from error
    except Exception as error:
        cause = leading(error)
        if isinstance(cause, ArmError | BudgetReachedError):
            raise cause from None
        lost = cause if isinstance(cause, ModelError) else outage(cause, f"the {arm.role} arm")
        if lost is None:
            raise ArmError(
                f"the {arm.role} arm raised {where_raised(cause)} on task {written(name)}"
            ) from error
        episode = Episode(score=0.0, failure=lost.failure, error=str(lost), usage=lost.usage)
    if episode.failure is FailureClass.CONFIGURATION:
        raise ArmError(f"the {arm.role} arm: {shortened(episode.error)}", failure=FailureClass.CONFIGURATION)
    return episode
