"""Stopping early at planned looks: the plan for two functions whose outcome is a success."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.runner.callables import PairOutcome
from pytest_swapgate.shortening import written
from pytest_swapgate.stats import Look, LookPlan, take_look


@dataclass
class Looks:
    """Takes the looks of one gate while its pairs are played; between looks nothing is decided.

    Attributes
    ----------
    plan
        Sizes and critical values.
    tell
        Is told what each look said, for whoever follows the run.
    taken
        The looks so far.
    """

    plan: LookPlan
    tell: Callable[[str], None]
    taken: list[Look] = field(default_factory=list)

    @property
    def last(self) -> Look | None:
        """The latest look."""
        return self.taken[-1] if self.taken else None

    def __call__(self, played: Sequence[PairOutcome]) -> bool:
        """Look at the pairs played so far and return whether to stop.

        Raises
        ------
        GateError
            If an outcome is no success, or was lost: a sequential gate counts successes.
        """
        b = c = 0
        for pair in played:
            if not (pair.baseline.counts and pair.candidate.counts):
                raise GateError(
                    f"sequential=True needs every pair, and task {written(pair.task_id)} was lost to an infrastructure "
                    "error: run again, what was played is kept"
                )
            scores = (pair.baseline.score, pair.candidate.score)
            broken = [score for score in scores if score not in (0.0, 1.0)]
            if broken:
                raise GateError(
                    f"sequential=True needs successes, got the score {broken[0]:g} on task {written(pair.task_id)}: "
                    "return True or False from both arms, or leave sequential out"
                )
            b += scores == (1.0, 0.0)
            c += scores == (0.0, 1.0)
        look = take_look(self.plan, len(self.taken) + 1, b, c)
        self.taken.append(look)
        low, high = (100 * limit for limit in look.interval)
        forming = "undecided" if look.verdict is None else str(look.verdict)
        self.tell(
            f"look {len(self.taken)} of {len(self.plan.sizes)}: harm [{low:+.1f}, {high:+.1f}] pp, {forming}"
        )
        return look.verdict is not None
