"""What a test calls: two arms in, a paired result out, sized by the marker and kept for the verdict."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_swapgate.gate.compare_callables import (
    UserArm,
    check_callables,
    compare_callables,
    is_async,
    listed_tasks,
    name_of,
)
from pytest_swapgate.gate.compare_teams import compare_teams
from pytest_swapgate.gate.this_thread import ThisThread
from pytest_swapgate.gate.tolerances import Tolerance
from pytest_swapgate.runner import ArmError, CallableArm, Purse, Stage
from pytest_swapgate.runner.blocking import inside_event_loop, run_blocking
from pytest_swapgate.runner.episodes import plays_in_threads
from pytest_swapgate.studies.arms import TeamArm
from pytest_swapgate.studies.formed import FormedTeams
from pytest_swapgate.studies.paired import PairedResult
from pytest_swapgate.teams import Usage

Identify = Callable[[str, UserArm, int, str | None], str | None]
"""From a role, a user's function, the number of the comparison in its test and a fingerprint to what its outcomes are
kept under; None plays it anew in every run."""


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
    asking
        Called whenever a comparison is asked for, before anything else; raises to refuse it.
    asked
        How many comparisons were asked for.
    results
        What was measured, for the verdict; a gate with fewer results than were asked for is broken.
    pending
        Comparisons that were asked for in an event loop; each must have been awaited.
    """

    tolerances: tuple[Tolerance, ...]
    stage: Stage
    seed: int
    gate: str
    identify: Identify
    asking: Callable[[], None] = field(default=lambda: None, repr=False)
    asked: int = 0
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
            Episode, a score in [0, 1] or a success. Plain functions run in the thread of the test.
        tasks
            For functions: any sequence of tasks, at least 3. Teams are measured on their environment's held-out
            tasks.
        active
            For ``active_pass_k`` over functions: task -> whether its coordination store is non-empty in the
            state that both arms share.
        fingerprint
            Identity of the system behind the functions, such as a commit and model versions. With it, a later
            run of this test reads the stored outcomes, and it is your word that nothing else has changed; without
            it they are read only while the project's files, the installed packages, and the environment variables
            and options that are not known to be harmless are unchanged.

        Returns
        -------
        PairedResult
            In a running event loop an awaitable of it.
        """
        __tracebackhide__ = True
        self.asking()
        self.asked += 1
        number = self.asked
        inside = inside_event_loop()
        plain = not any(isinstance(arm, TeamArm) or is_async(arm) for arm in (baseline, candidate))
        here = ThisThread(self.stage.purse) if plain and not inside else None

        async def work() -> PairedResult:
            result = await self._compare(number, baseline, candidate, tasks, active, fingerprint, here)
            self.results.append(result)
            return result

        if inside:
            run = PairedRun(work)
            self.pending.append(run)
            return run
        if here is not None:
            return here.run(work)
        leaving = isinstance(baseline, TeamArm) and plays_in_threads(baseline.cohort.stage)
        return run_blocking(work, leaving_threads=leaving)

    async def _compare(
        self,
        number: int,
        baseline: Any,
        candidate: Any,
        tasks: Sequence[Any] | None,
        active: Callable[[Any], bool] | None,
        fingerprint: str | None,
        here: ThisThread | None,
    ) -> PairedResult:
        started = time.perf_counter()
        if isinstance(baseline, TeamArm) and isinstance(candidate, TeamArm):
            if tasks is not None:
                raise ArmError(
                    "tasks=... goes with two functions; formed teams are measured on held-out tasks"
                )
            baseline, candidate = _as_of_now(baseline, candidate)
            stage = baseline.cohort.stage
            compare = compare_teams(self.tolerances, baseline, candidate)
        else:
            _refuse_mixture(baseline, candidate)
            check_callables(baseline, candidate)
            arms = [
                CallableArm(
                    role,
                    self.gate,
                    call if here is None else here.arm(call),
                    self.identify(role, call, number, fingerprint),
                )
                for role, call in (("baseline", baseline), ("candidate", candidate))
            ]
            stage = self.stage
            compare = compare_callables(
                self.tolerances,
                stage,
                (arms[0], arms[1]),
                listed_tasks(tasks),
                names=_names(baseline, candidate),
                active=active,
                seed=self.seed,
            )
        purse = stage.purse
        before = (purse.played, purse.read, purse.usage)
        result = await compare
        # A replay is faster than its recording, and both must report the same.
        seconds = None if hasattr(stage.models, "tape") else time.perf_counter() - started
        return replace(result, seconds=seconds, **_spent(purse, before))


def _as_of_now(baseline: TeamArm, candidate: TeamArm) -> tuple[TeamArm, TeamArm]:
    """Return both arms with what surrounds them now: a fixture may have set another variable since they were formed."""
    if baseline.cohort is not candidate.cohort:
        return baseline, candidate  # refused when they are played
    cohort = baseline.cohort.anew()
    return replace(baseline, cohort=cohort), replace(candidate, cohort=cohort)


def _refuse_mixture(baseline: Any, candidate: Any) -> None:
    for role, arm in (("baseline", baseline), ("candidate", candidate)):
        if isinstance(arm, FormedTeams):
            raise ArmError(
                f"the {role} is formed_teams itself: name a condition, such as formed_teams.swap()"
            )
        if isinstance(getattr(arm, "__self__", None), FormedTeams):
            raise ArmError(f"the {role} is a method: call it, formed_teams.{arm.__name__}(...)")
    if isinstance(baseline, TeamArm) or isinstance(candidate, TeamArm):
        raise ArmError("both arms must come from formed_teams, or both must be functions arm(task, seed)")


def _names(baseline: UserArm, candidate: UserArm) -> tuple[str, str]:
    first, second = name_of(baseline), name_of(candidate)
    return (first, second) if first != second else (f"{first} (baseline)", f"{second} (candidate)")


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
