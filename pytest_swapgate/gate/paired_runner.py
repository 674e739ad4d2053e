"""What a test calls: two arms in, a paired result out, sized by the marker and kept for the verdict."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from pytest_swapgate.gate.planning import plan_tasks, plan_teams
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.runner import ArmError, BudgetReachedError, CallableArm, Purse, Stage, play_callables
from pytest_swapgate.runner.blocking import inside_event_loop
from pytest_swapgate.runner.callables import PairOutcome, task_ids
from pytest_swapgate.studies.arms import PlayedArm, TeamArm, play_arms
from pytest_swapgate.studies.formed import PlaceboBaseline
from pytest_swapgate.studies.paired import Cell, PairedResult, Unit, models_of, pair_teams
from pytest_swapgate.teams import BiteError, Usage

UserArm = Callable[[Any, int], Any]
Identify = Callable[[str, UserArm], str | None]
"""From a role and a user's function to what its outcomes are kept under; None plays it anew in every run."""


class PairedRun(Awaitable[PairedResult]):
    """A comparison that was asked for inside an event loop: ``result = await paired_runner(...)``."""

    def __init__(self, work: Callable[[], Awaitable[PairedResult]]) -> None:
        self._work = work
        self.awaited = False

    def __await__(self) -> Generator[Any, Any, PairedResult]:
        """Play, and return the result."""
        self.awaited = True
        return self._work().__await__()

    def __getattr__(self, name: str) -> Any:
        """Explain what is missing when the result is used without ``await``."""
        raise AttributeError(f"{name}: this comparison has not been played; write 'await paired_runner(...)'")


@dataclass
class PairedRunner:
    """Callable fixture: ``paired_runner(baseline, candidate, tasks=None)``.

    In plain tests it plays and returns the result; in a running event loop (asyncio, trio) it returns an awaitable.

    Attributes
    ----------
    tolerances
        What the test's markers declare.
    stage
        For callables: evidence, purse, concurrency.
    seed
        Root of the seeds given to callables.
    gate
        Name of the gate, a label in the evidence file.
    identify
        Gives a user's function its identity.
    results
        What was measured, for the verdict.
    pending
        Comparisons that were asked for in an event loop; each must have been awaited.
    """

    tolerances: tuple[Tolerance, ...]
    stage: Stage
    seed: int
    gate: str
    identify: Identify
    results: list[PairedResult] = field(default_factory=list)
    pending: list[PairedRun] = field(default_factory=list)

    def __call__(
        self,
        baseline: TeamArm | UserArm,
        candidate: TeamArm | UserArm,
        tasks: Sequence[Any] | None = None,
        *,
        active: Callable[[Any], bool] | None = None,
        fingerprint: str | None = None,
    ) -> Any:
        """Compare two arms.

        Parameters
        ----------
        baseline, candidate
            Two arms of `formed_teams`, or any two functions ``arm(task, seed)``, plain or async, that return an
            Episode, a score in [0, 1] or a success.
        tasks
            For functions: any sequence of tasks, at least 3. Teams are measured on held-out tasks.
        active
            For ``active_pass_k`` over functions: task -> whether its coordination store is non-empty in the
            state that both arms share.
        fingerprint
            Identity of the system behind the functions, such as a commit and model versions. With it, a later
            run reads the stored outcomes; without it they are read only while the project's code, its
            environment variables and the command line are unchanged.

        Returns
        -------
        PairedResult
            In a running event loop an awaitable of it.
        """

        async def work() -> PairedResult:
            result = await self._compare(baseline, candidate, tasks, active, fingerprint)
            self.results.append(result)
            return result

        if inside_event_loop():
            run = PairedRun(work)
            self.pending.append(run)
            return run
        return anyio.run(work)

    async def _compare(
        self,
        baseline: Any,
        candidate: Any,
        tasks: Sequence[Any] | None,
        active: Callable[[Any], bool] | None,
        fingerprint: str | None,
    ) -> PairedResult:
        started = time.perf_counter()
        teams = [isinstance(arm, TeamArm) for arm in (baseline, candidate)]
        if all(teams):
            if tasks is not None:
                raise ArmError(
                    "tasks=... goes with two functions; formed teams are measured on held-out tasks"
                )
            purse, compare = baseline.cohort.stage.purse, self._compare_teams(baseline, candidate)
        elif any(teams):
            raise ArmError("both arms must come from formed_teams, or both must be functions arm(task, seed)")
        else:
            purse = self.stage.purse
            compare = self._compare_callables(baseline, candidate, tasks, active, fingerprint)
        before = (purse.played, purse.read, purse.usage)
        try:
            result = await compare
        except BudgetReachedError as reached:
            result = PairedResult("", "", (), "task", planned=0, stopped=str(reached))
        return replace(result, seconds=time.perf_counter() - started, **_spent(purse, before))

    # Two arms of formed teams.

    async def _compare_teams(self, baseline: TeamArm, candidate: TeamArm) -> PairedResult:
        for tolerance in self.tolerances:
            seat = getattr(tolerance, "seat", None)
            if seat is not None:
                candidate = candidate if candidate.seat is not None else replace(candidate, seat=seat)
            if isinstance(tolerance, SwapPenalty):
                swaps = candidate.condition.needs_donor
                plan_teams(tolerance, teams=len(candidate.cohort.teams), swaps=swaps)
        baseline = baseline.beside(candidate)
        if baseline.seat is not None and candidate.seat is None:
            candidate = candidate.beside(baseline)
        arms = [baseline, candidate]
        if isinstance(baseline, PlaceboBaseline):
            arms.append(baseline.repeated())
        played = await play_arms(arms)
        _audit_payloads(played[0], played[1])
        units, word = pair_teams(played[0], played[1])
        floor = None
        if len(played) > 2:
            floor = _floor(played[0], played[2], candidate)
        return PairedResult(
            baseline=baseline.label,
            candidate=candidate.label,
            units=units,
            unit_word=word,
            planned=len(candidate.cohort.teams) * candidate.cohort.trials,
            models=models_of(played),
            floor=floor,
        )

    # Two functions of a user.

    async def _compare_callables(
        self,
        baseline: Any,
        candidate: Any,
        tasks: Sequence[Any] | None,
        active: Callable[[Any], bool] | None,
        fingerprint: str | None,
    ) -> PairedResult:
        for role, arm in (("baseline", baseline), ("candidate", candidate)):
            if not callable(arm):
                raise ArmError(
                    f"the {role} must be an arm of formed_teams or a function arm(task, seed), got {arm!r}"
                )
        if baseline is candidate or baseline == candidate:
            raise BiteError("the change did not bite: baseline and candidate are the same function")
        listed = [] if tasks is None else list(tasks)
        plans = [
            plan_tasks(t, tasks=len(listed))
            for t in self.tolerances
            if isinstance(t, SwapPenalty | ActivePassK)
        ]
        trials = max(plan.trials for plan in plans)
        arms = [
            CallableArm(role, self.gate, call, fingerprint or self.identify(role, call))
            for role, call in (("baseline", baseline), ("candidate", candidate))
        ]
        outcomes = await play_callables(self.stage, arms[0], arms[1], listed, trials=trials, seed=self.seed)
        names = task_ids(listed)
        shared = {
            name: None if active is None else bool(active(task))
            for name, task in zip(names, listed, strict=True)
        }
        return PairedResult(
            baseline=_name(baseline),
            candidate=_name(candidate),
            units=tuple(_unit(name, shared[name], outcomes) for name in names),
            unit_word="task",
            planned=len(names) * trials,
        )


def _spent(purse: Purse, before: tuple[int, int, Usage]) -> dict[str, Any]:
    played, read, usage = before
    now = purse.usage
    return {
        "played": purse.played - played,
        "read": purse.read - read,
        "usage": Usage(
            calls=now.calls - usage.calls,
            prompt_tokens=now.prompt_tokens - usage.prompt_tokens,
            completion_tokens=now.completion_tokens - usage.completion_tokens,
            usd=None if now.usd is None or usage.usd is None else max(0.0, now.usd - usage.usd),
        ),
    }


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


def _audit_payloads(baseline: PlayedArm, candidate: PlayedArm) -> None:
    """Check on the wire that the new occupant was really asked: its first request differs from the incumbent's."""
    for index, team in enumerate(candidate.arm.cohort.teams):
        seat = candidate.seats[index]
        first = [arm.episodes[index][0].payloads.get(seat) for arm in (baseline, candidate)]
        if first[0] is not None and first[0] == first[1]:
            raise BiteError(
                f"the change did not bite: in {team.id} the first request to the {seat} seat is the same, byte for "
                f"byte, under {baseline.arm.label} and {candidate.arm.label}; does play() use the notebook and model "
                "of the team it is handed?"
            )


def _unit(name: str, active: bool | None, outcomes: list[PairOutcome]) -> Unit:
    mine = [outcome for outcome in outcomes if outcome.task_id == name]
    baseline = tuple(outcome.baseline for outcome in mine)
    candidate = tuple(outcome.candidate for outcome in mine)
    return Unit(name, (Cell(name, baseline, candidate, active=active),))


def _name(arm: Any) -> str:
    return str(getattr(arm, "__qualname__", None) or type(arm).__name__)
