"""Coordination-active pass^k of a paired result, over the tasks that both arms share."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.shortening import shortened
from pytest_swapgate.stats import HarmEstimate, active_pass_hat_k_difference, continuous_harm, pass_hat_k
from pytest_swapgate.stats.pass_hat_k import MIN_ACTIVE_TASKS
from pytest_swapgate.studies.paired import Cell, PairedResult
from pytest_swapgate.teams import Episode


def pass_k_estimate(result: PairedResult, k: int, *, alpha: float) -> HarmEstimate:
    """Return the drop of active pass^k, baseline minus candidate.

    Over two callables, tasks are the units. Over formed teams, every task of a team is one task of T_k and the
    differences are averaged inside the independent unit (swap pair or team).

    Raises
    ------
    GateError
        If nobody says which trials were active, or the arms disagree about it.
    ValueError
        From the statistics: an empty subset, too few trials of a task.
    """
    if result.unit_word == "task":
        return _over_tasks(result, k, alpha)
    return _over_units(result, k, alpha)


def pass_k_of_baseline(result: PairedResult, k: int) -> float:
    """Return the baseline's active pass^k over the tasks that count for both arms."""
    if result.unit_word == "task":
        cells = [cell for cell in result.cells if _active_count(cell) >= k]
        values = [pass_hat_k(_successes(cell, 0), _active_count(cell), k) for cell in cells]
    else:
        values = [
            pass_hat_k(sum(b.success for b, _ in pairs), len(pairs), k)
            for cell in result.cells
            for pairs in _tasks(cell, k).values()
        ]
    return float(np.mean(values))


def common_size(result: PairedResult, k: int) -> int:
    """Return |T_k|, the number of tasks that are common to both arms and active often enough."""
    if result.unit_word == "task":
        return sum(_active_count(cell) >= k for cell in result.cells)
    return sum(len(_tasks(cell, k)) for cell in result.cells)


def _active_count(cell: Cell) -> int:
    """Return the active trials of a task; the arms must agree, for the subset is fixed before they fork."""
    if cell.active is not None:
        return len(cell.valid) if cell.active else 0
    flags = [(b.active, c.active) for b, c in cell.valid]
    if any(b is None or c is None for b, c in flags):
        raise GateError(
            "nobody says which trials began with a non-empty coordination store: return an "
            "Episode with active=True/False, or pass active=... (task -> bool) to paired_runner"
        )
    if any(b != c for b, c in flags):
        raise GateError(
            f"the arms disagree on which trials of {shortened(cell.name)} were coordination-active: the subset must be "
            "fixed from the state both share before they fork; pass active=... (task -> bool) to paired_runner"
        )
    return sum(bool(b) for b, _ in flags)


def _successes(cell: Cell, arm: int) -> int:
    return sum(
        pair[arm].success for pair in cell.valid if cell.active or (cell.active is None and pair[arm].active)
    )


def _over_tasks(result: PairedResult, k: int, alpha: float) -> HarmEstimate:
    cells = result.cells
    active = np.array([_active_count(cell) for cell in cells])
    return active_pass_hat_k_difference(
        np.array([_successes(cell, 0) for cell in cells]),
        active,
        np.array([_successes(cell, 1) for cell in cells]),
        active,
        k,
        common=active >= k,
        alpha=alpha,
    )


def _tasks(cell: Cell, k: int) -> dict[str, list[tuple[Episode, Episode]]]:
    """Return task -> its active pairs, where there are k at least."""
    if not _active_count(cell):
        return {}
    by_task: dict[str, list[tuple[Episode, Episode]]] = defaultdict(list)
    for baseline, candidate in cell.valid:
        if cell.active is None and not baseline.active:
            continue
        by_task[baseline.task_id].append((baseline, candidate))
    return {task: pairs for task, pairs in by_task.items() if len(pairs) >= k}


def _over_units(result: PairedResult, k: int, alpha: float) -> HarmEstimate:
    size = common_size(result, k)
    if size == 0:
        raise GateError(
            f"no task of any team was played {k} times with a non-empty coordination store: "
            "form teams that keep partner notes, or raise --swapgate-trials"
        )
    drops = []
    for unit in result.units:
        inside = [
            pass_hat_k(sum(b.success for b, _ in pairs), len(pairs), k)
            - pass_hat_k(sum(c.success for _, c in pairs), len(pairs), k)
            for cell in unit.cells
            for pairs in _tasks(cell, k).values()
        ]
        if inside:
            drops.append(float(np.mean(inside)))
    if len(drops) >= 3 and np.ptp(drops) == 0.0 and drops[0] == 0.0:
        from pytest_swapgate.stats import binary_harm

        estimate = binary_harm(0, 0, len(drops), alpha=alpha)
    else:
        estimate = continuous_harm(drops, alpha=alpha)
    if size < MIN_ACTIVE_TASKS:
        from dataclasses import replace

        reason = (
            f"only {size} coordination-active tasks are common to both arms, {MIN_ACTIVE_TASKS} are needed"
        )
        return replace(estimate, undecided_because=reason)
    return estimate
