"""The swap test: all conditions of a cohort, and what a swap costs beside what experience is worth.

Source: the swap-test paper, section 3.3, equations (1) to (5). Contrasts are formed inside a team, averaged in its
swap pair, with an interval by t over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_swapgate.environments.base import score_unit
from pytest_swapgate.runner import ArmError
from pytest_swapgate.shortening import shortened
from pytest_swapgate.stats import Interval, t_interval
from pytest_swapgate.stats.harm import alike
from pytest_swapgate.stats.p_values import mean_p_value
from pytest_swapgate.stats.ratio import ratio_interval
from pytest_swapgate.studies.arms import PlayedArm, TeamArm, play_arms
from pytest_swapgate.studies.formation import LOST_SHARE, Cohort
from pytest_swapgate.teams import Condition

CONDITIONS = (
    Condition.INTACT,
    Condition.PLACEBO,
    Condition.SWAP,
    Condition.SWAP_CLEARED,
    Condition.AMNESIA,
    Condition.NAIVE,
)
NOT_INTERPRETABLE = "not interpretable"
MIN_PAIRS = 3


@dataclass(frozen=True)
class Contrast:
    """One quantity of the swap test.

    Attributes
    ----------
    name
        ``V``, ``Pi``, ``W``, ``Sigma`` or ``rho``.
    value
        Mean over pairs (rho: ratio of means); None where it is not interpretable.
    interval
        Two-sided, by t over pairs (rho: Fieller); None where it is not interpretable, or where all pairs show
        the same value, so that nothing was measured about their spread.
    p
        Two-sided p-value of "no effect", by t over pairs, not adjusted; None without an interval, and for rho, which
        is 0 where Pi is.
    """

    name: str
    value: float | None
    interval: Interval | None
    p: float | None = None


@dataclass(frozen=True)
class SwapStudy:
    """Result of the swap test.

    Attributes
    ----------
    unit, scale
        The benchmark's own unit of score, and what a full score is in it.
    score_means, cost_means
        Condition -> mean over teams: score in the benchmark's unit; messages per completed sub-task.
    score, cost
        V, Pi, rho, W, Sigma on the score (in [0, 1]; larger is a larger loss) and on the cost (messages per
        completed sub-task; larger is a larger rise).
    pairs
        Number of swap pairs J.
    confidence
        Of the intervals.
    played
        The played arms, for whoever wants to look further.
    """

    unit: str
    scale: float
    score_means: dict[Condition, float]
    cost_means: dict[Condition, float]
    score: tuple[Contrast, ...]
    cost: tuple[Contrast, ...]
    pairs: int
    confidence: float
    played: tuple[PlayedArm, ...]

    def __getitem__(self, name: str) -> Contrast:
        """Return a contrast by name: ``V``, ``Pi``, ``rho``, ``W``, ``Sigma``, or with ``_C`` for the cost."""
        side = self.cost if name.endswith("_C") else self.score
        for contrast in side:
            if contrast.name == name.removesuffix("_C"):
                return contrast
        raise KeyError(f"{name!r}: accepted are V, Pi, rho, W, Sigma, each also with _C")


async def run_swap_study(cohort: Cohort, *, seat: str | None = None, confidence: float = 0.9) -> SwapStudy:
    """Play all six conditions and form the quantities.

    Parameters
    ----------
    seat
        Trade this seat in every pair; None trades the seat that each pair drew.
    confidence
        Of the two-sided intervals, in (0, 1).

    Raises
    ------
    ArmError, BiteError
        If the cohort cannot be paired, gives too few pairs, or a condition did not bite.
    ValueError
        If a team has no episode that counts, or no completed sub-task, under some condition; if more than 5 % of a
        condition's episodes were lost.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number in (0, 1), got {confidence!r}")
    if len(cohort.pairs(seat)) < MIN_PAIRS:
        raise ArmError(
            f"the swap study needs at least {2 * MIN_PAIRS} teams ({MIN_PAIRS} swap pairs) for any interval, "
            f"got {len(cohort.teams)}: set --swapgate-teams"
        )
    arms = [TeamArm(cohort, condition, seat) for condition in CONDITIONS]
    played = await play_arms(arms)
    for arm in played:
        episodes = [episode for team in arm.episodes for episode in team]
        lost = [episode for episode in episodes if not episode.counts]
        if len(lost) > LOST_SHARE * len(episodes):
            raise ValueError(
                f"{len(lost)} of {len(episodes)} episodes of {arm.arm.label} were lost, the last one to "
                f"{lost[-1].failure}: {shortened(lost[-1].error) or 'no reason given'}; run again, what was "
                "played is kept"
            )
    return form_swap_study(cohort, played, seat=seat, confidence=confidence)


def form_swap_study(
    cohort: Cohort, played: list[PlayedArm], *, seat: str | None, confidence: float
) -> SwapStudy:
    """Form the quantities from played conditions."""
    by_condition = {arm.arm.condition: arm for arm in played}
    pairs = [(first, second) for first, second, _ in cohort.pairs(seat)]
    scores = {condition: _scores(arm) for condition, arm in by_condition.items()}
    costs = {condition: _costs(arm) for condition, arm in by_condition.items()}
    unit, scale = score_unit(cohort.stage.environment)
    return SwapStudy(
        unit=unit,
        scale=scale,
        score_means={condition: float(x.mean()) * scale for condition, x in scores.items()},
        cost_means={condition: float(x.mean()) for condition, x in costs.items()},
        score=_contrasts(scores, pairs, sign=1.0, confidence=confidence),
        cost=_contrasts(costs, pairs, sign=-1.0, confidence=confidence),
        pairs=len(pairs),
        confidence=confidence,
        played=tuple(played),
    )


def _scores(arm: PlayedArm) -> NDArray[np.float64]:
    means = []
    for team, episodes in zip(arm.arm.cohort.teams, arm.episodes, strict=True):
        scores = [e.score for e in episodes if e.counts]
        if not scores:
            raise ValueError(
                f"score cannot be formed: {team.id} has no episode that counts under {arm.arm.label}"
            )
        means.append(np.mean(scores))
    return np.array(means)


def _costs(arm: PlayedArm) -> NDArray[np.float64]:
    costs = []
    for team, episodes in zip(arm.arm.cohort.teams, arm.episodes, strict=True):
        valid = [e for e in episodes if e.counts]
        subtasks = sum(e.subtasks for e in valid)
        if subtasks == 0:
            raise ValueError(f"cost cannot be formed: {team.id} completed no sub-task under {arm.arm.label}")
        costs.append(sum(len(e.messages) for e in valid) / subtasks)
    return np.array(costs)


def _contrasts(
    means: dict[Condition, NDArray[np.float64]],
    pairs: list[tuple[int, int]],
    *,
    sign: float,
    confidence: float,
) -> tuple[Contrast, ...]:
    def per_pair(better: Condition, worse: Condition) -> NDArray[np.float64]:
        inside = sign * (means[better] - means[worse])
        return np.array([(inside[i] + inside[j]) / 2 for i, j in pairs])

    value = per_pair(Condition.PLACEBO, Condition.NAIVE)
    penalty = per_pair(Condition.PLACEBO, Condition.SWAP)
    found = {
        "V": value,
        "Pi": penalty,
        "W": per_pair(Condition.PLACEBO, Condition.AMNESIA),
        "Sigma": per_pair(Condition.SWAP_CLEARED, Condition.SWAP),
    }
    contrasts = {name: _contrast(name, x, confidence) for name, x in found.items()}
    spread = contrasts["V"].interval
    if spread is not None and (spread.low > 0 or spread.high < 0):
        rho = Contrast(
            "rho", float(penalty.mean() / value.mean()), ratio_interval(penalty, value, confidence=confidence)
        )
    else:
        rho = Contrast("rho", None, None)
    return (contrasts["V"], contrasts["Pi"], rho, contrasts["W"], contrasts["Sigma"])


def _contrast(name: str, values: NDArray[np.float64], confidence: float) -> Contrast:
    mean = float(values.mean())
    if alike(values):
        return Contrast(name, mean, None)
    return Contrast(name, mean, t_interval(values, confidence=confidence), mean_p_value(values))
