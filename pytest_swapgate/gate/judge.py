"""The decision: a paired result and a declared tolerance become a report."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from pytest_swapgate.gate import wording
from pytest_swapgate.gate.passk import pass_k_estimate
from pytest_swapgate.gate.planning import fail_alpha
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError, GateReport, Row
from pytest_swapgate.models.registry import is_simulated
from pytest_swapgate.stats import (
    HarmEstimate,
    Interval,
    Verdict,
    binary_harm,
    continuous_harm,
    decide,
    detectable_effect_pairs,
    detectable_effect_units,
    noise_floor_units,
    pairs_to_decide,
    require_valid_trials,
)
from pytest_swapgate.studies.paired import FloatArray, PairedResult

Estimator = Callable[[float], HarmEstimate]
"""From a one-sided level to the estimate at that level."""


def judge(tolerance: Tolerance, result: PairedResult, *, nodeid: str) -> GateReport:
    """Decide one gate.

    Raises
    ------
    GateError
        When there is no honest outcome: too many lost trials, no units, nothing to form a cost from.
    """
    if result.stopped:
        return GateReport(
            gate=tolerance.marker,
            nodeid=nodeid,
            verdict=Verdict.INCONCLUSIVE,
            reason=result.stopped,
            baseline=result.baseline,
            candidate=result.candidate,
        )
    check_coverage(result)
    if isinstance(tolerance, SwapPenalty):
        rows = _swap_penalty_rows(tolerance, result)
    elif isinstance(tolerance, ActivePassK):
        rows = [_pass_k_row(tolerance, result)]
    else:
        raise TypeError(f"no rule for {type(tolerance).__name__}")
    verdict = worst([row.verdict for row in rows])
    return GateReport(
        gate=tolerance.marker,
        nodeid=nodeid,
        verdict=verdict,
        reason=wording.reason(verdict, rows),
        rows=tuple(rows),
        baseline=result.baseline,
        candidate=result.candidate,
        lines=wording.lines(tolerance, result, rows),
        simulated=any(map(is_simulated, result.models)),
    )


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return FAIL if any fails, else INCONCLUSIVE if any is, else PASS: every metric must pass."""
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return Verdict.PASS


def check_coverage(result: PairedResult) -> None:
    """Refuse a result with under 95 % of its planned pairs, and say which failure class ate them."""
    try:
        require_valid_trials(result.valid, result.planned)
    except ValueError as error:
        classes = (
            ", ".join(f"{n} {name.value}" for name, n in sorted(result.losses.items())) or "none on record"
        )
        raise GateError(
            f"only {result.valid} of {result.planned} planned pairs of episodes count (95 % are needed); "
            f"lost to: {classes}; run again: what counts was kept, and only what was lost is played"
        ) from error
    empty = [cell.name for cell in result.cells if not cell.valid]
    if empty:
        raise GateError(f"{', '.join(empty)} has no pair of episodes that counts")


def _swap_penalty_rows(tolerance: SwapPenalty, result: PairedResult) -> list[Row]:
    gates_cost = tolerance.cost is not None and not tolerance.sequential
    if gates_cost and not result.measures_cost:
        if tolerance.score is None or tolerance.explicit("cost"):
            raise GateError(
                "cost was declared but no messages were exchanged: return an Episode with messages and subtasks "
                "from both arms, or declare cost=None"
            )
        gates_cost = False
    level = fail_alpha(tolerance, (tolerance.score is not None) + gates_cost)
    rows = []
    if tolerance.score is not None:
        rows.append(_score_row(tolerance, result, level))
    if gates_cost:
        rows.append(_cost_row(tolerance, result, level))
    return rows


def _score_row(tolerance: SwapPenalty, result: PairedResult, level: float) -> Row:
    assert tolerance.score is not None
    binary, floor, note = result.paired_binary, result.floor, ""
    if binary is not None:
        discordance = None
        if floor is not None and floor.paired_binary is not None:
            b, c, n = floor.paired_binary
            discordance = (b + c) / n
        estimate, interval = _both_sides(
            lambda a: binary_harm(*binary, alpha=a, discordance_aa=discordance), tolerance.alpha, level
        )
        measured = estimate.floor if discordance is not None else None
        if result.look_interval is not None:
            interval = result.look_interval
            note = (
                f"stopped at look {result.look} of {len(result.looks)}"
                if result.look < len(result.looks)
                else ""
            )
    else:
        harms = result.score_harms
        _check_units(harms, result)
        if np.ptp(harms) == 0.0:
            worse, better = len(harms) * int(harms[0] == 1.0), len(harms) * int(harms[0] == -1.0)
            if harms[0] and not (worse or better):
                raise GateError(_no_spread(result, f"the same harm on the score, {100 * harms[0]:+.3g} pp"))
            every = "all the difference there can be in every" if harms[0] else "no difference in any"
            note = f"{every} {result.unit_word}: bounded by the number of {result.unit_word}s"
            # A mean difference in [-1, 1] is at most the share of units that differ at all.
            estimate, interval = _both_sides(
                lambda a: binary_harm(worse, better, len(harms), alpha=a), tolerance.alpha, level
            )
        else:
            estimate, interval = _both_sides(
                lambda a: continuous_harm(harms, alpha=a), tolerance.alpha, level
            )
        measured = _floor(None if floor is None else floor.score_harms, len(harms), tolerance.alpha)
    verdict = decide(interval, tolerance.score)
    return Row(
        metric="score",
        harm=estimate.harm,
        low=interval.low,
        high=interval.high,
        tolerance=tolerance.score,
        floor=measured,
        verdict=verdict,
        detectable=_detectable(estimate, level, tolerance.power),
        note=note or _more(verdict, estimate, tolerance.score, tolerance.alpha, result.unit_word),
    )


def _cost_row(tolerance: SwapPenalty, result: PairedResult, level: float) -> Row:
    assert tolerance.cost is not None
    try:
        harms = result.cost_harms
        _check_units(harms, result)
        if np.ptp(harms) <= 1e-12 * np.abs(harms).max():
            raise GateError(
                _no_spread(result, f"the same change of the cost, {100 * math.expm1(harms[0]):+.3g} %")
                + " If its cost cannot vary, declare cost=None"
            )
        estimate, interval = _both_sides(lambda a: continuous_harm(harms, alpha=a), tolerance.alpha, level)
        floor = _floor(None if result.floor is None else result.floor.cost_harms, len(harms), tolerance.alpha)
    except ValueError as error:
        raise GateError(str(error)) from error
    margin = math.log1p(tolerance.cost)
    verdict = decide(interval, margin)
    detectable = _detectable(estimate, level, tolerance.power)
    return Row(
        metric="cost",
        harm=math.expm1(estimate.harm),
        low=math.expm1(interval.low),
        high=math.expm1(interval.high),
        tolerance=tolerance.cost,
        floor=None if floor is None else math.expm1(floor),
        verdict=verdict,
        detectable=None if detectable is None else math.expm1(detectable),
        note=_more(verdict, estimate, margin, tolerance.alpha, result.unit_word),
    )


def _pass_k_row(tolerance: ActivePassK, result: PairedResult) -> Row:
    level = fail_alpha(tolerance, 1)
    try:
        estimate, interval = _both_sides(
            lambda a: pass_k_estimate(result, tolerance.k, alpha=a), tolerance.alpha, level
        )
    except ValueError as error:
        raise GateError(str(error)) from error
    verdict = decide(interval, tolerance.drop)
    if estimate.undecided_because is not None:
        verdict = Verdict.INCONCLUSIVE
    return Row(
        metric=f"pass^{tolerance.k}",
        harm=estimate.harm,
        low=interval.low,
        high=interval.high,
        tolerance=tolerance.drop,
        verdict=verdict,
        detectable=_detectable(estimate, level, tolerance.power),
        note=estimate.undecided_because
        or _more(verdict, estimate, tolerance.drop, tolerance.alpha, result.unit_word),
    )


def _both_sides(estimator: Estimator, alpha: float, level: float) -> tuple[HarmEstimate, Interval]:
    """Return the estimate and the decision interval: its low end at the FAIL side's level, its high end at alpha."""
    upper = estimator(alpha)
    lower = upper if level == alpha else estimator(level)
    return upper, Interval(lower.interval.low, upper.interval.high)


def _no_spread(result: PairedResult, what: str) -> str:
    return (
        f"every {result.unit_word} shows {what}: its noise was not measured, so no interval is honest; were the same "
        "episodes counted twice, or does the system answer alike whatever the seed?"
    )


def _check_units(harms: FloatArray, result: PairedResult) -> None:
    if len(harms) < 3:
        raise GateError(
            f"{len(harms)} {result.unit_word}(s) measured, at least 3 are needed for any interval"
        )


def _floor(harms: FloatArray | None, units: int, alpha: float) -> float | None:
    if harms is None or len(harms) < 2:
        return None
    return noise_floor_units(units, sd=float(np.std(harms, ddof=1)), alpha=alpha)


def _detectable(estimate: HarmEstimate, level: float, power: float) -> float | None:
    if estimate.sd <= 0:
        return None
    if estimate.df is None:
        discordance = min(estimate.sd**2 + estimate.harm**2, 1.0)
        try:
            return detectable_effect_pairs(estimate.n, discordance=discordance, alpha=level, power=power)
        except ValueError:
            return None  # so few discordant pairs that no harm is large enough
    return detectable_effect_units(estimate.n, sd=estimate.sd, alpha=level, power=power)


def _more(
    verdict: Verdict,
    estimate: HarmEstimate,
    margin: float,
    alpha: float,
    word: Literal["swap pair", "team", "task"],
) -> str:
    """Say how many units would decide an inconclusive row, if the estimate stayed as it is."""
    if verdict is not Verdict.INCONCLUSIVE:
        return ""
    needed = pairs_to_decide(estimate, margin, alpha=alpha)
    if needed is None:
        return f"no number of {word}s decides this estimate"
    unit = "pairs" if estimate.df is None else f"{word}s"
    return f"about {max(needed - estimate.n, 1)} more {unit} decide it in a new run, if the estimate stays"
