"""One metric of a paired result against its tolerance: the row of a report."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from pytest_swapgate.gate.passk import pass_k_estimate, pass_k_of_baseline
from pytest_swapgate.gate.planning import fail_alpha, planned_sd
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError, Row
from pytest_swapgate.stats import (
    HarmEstimate,
    Interval,
    Verdict,
    binary_harm,
    continuous_harm,
    decide,
    deciding_multiplier,
    detectable_effect_pairs,
    noise_floor_units,
    pairs_to_decide,
)
from pytest_swapgate.stats.harm import MIN_UNITS, alike
from pytest_swapgate.stats.p_values import harm_p_value
from pytest_swapgate.studies.paired import FloatArray, PairedResult

Estimator = Callable[[float], HarmEstimate]
"""From a one-sided level to the estimate at that level."""


def score_row(tolerance: SwapPenalty, result: PairedResult, level: float) -> Row:
    """Hold the drop of the score against its tolerance.

    Raises
    ------
    GateError
        When no candidate could fail, or the score tells nothing.
    """
    assert tolerance.score is not None
    _check_score_tells(result, tolerance.score)
    binary, floor, note = result.paired_binary, result.floor, ""
    if binary is not None:
        discordance = None
        if floor is not None and floor.paired_binary is not None:
            b, c, n = floor.paired_binary
            discordance = (b + c) / n
        estimate, interval = _both_sides(
            lambda a: binary_harm(*binary, alpha=a, discordance_aa=discordance, margin=tolerance.score),
            tolerance.alpha,
            level,
        )
        measured = estimate.floor if discordance is not None else None
        # After several looks the statistic of the last one is no longer standard normal under no harm: no p-value.
        p_harm = None if tolerance.sequential else harm_p_value(estimate)
        if result.look_interval is not None:
            interval = result.look_interval
            note = (
                f"stopped at look {result.look} of {len(result.looks)}"
                if result.look < len(result.looks)
                else ""
            )
    else:
        harms = result.score_harms
        estimate, interval, note = _over_units(tolerance, result, harms, "score", level)
        measured = _floor(None if floor is None else floor.score_harms, len(harms), tolerance.alpha)
        p_harm = _p_over_units(estimate, harms)
    verdict = decide(interval, tolerance.score)
    return Row(
        metric="score",
        harm=estimate.harm,
        low=interval.low,
        high=interval.high,
        tolerance=tolerance.score,
        floor=measured,
        verdict=verdict,
        detectable=_detectable(estimate, level, tolerance),
        note=note or _more(verdict, estimate, tolerance.score, (tolerance.alpha, level), result),
        p_harm=p_harm,
    )


def cost_row(tolerance: SwapPenalty, result: PairedResult, level: float) -> Row:
    """Hold the rise of the cost against its tolerance.

    Raises
    ------
    GateError
        When there is nothing to form a cost from.
    """
    assert tolerance.cost is not None
    try:
        harms = result.cost_harms
        estimate, interval, note = _over_units(tolerance, result, harms, "cost", level)
        floor = _floor(None if result.floor is None else result.floor.cost_harms, len(harms), tolerance.alpha)
    except ValueError as error:
        raise GateError(str(error)) from error
    margin = math.log1p(tolerance.cost)
    verdict = decide(interval, margin)
    detectable = _detectable(estimate, level, tolerance)
    return Row(
        metric="cost",
        harm=math.expm1(estimate.harm),
        low=math.expm1(interval.low),
        high=math.expm1(interval.high),
        tolerance=tolerance.cost,
        floor=None if floor is None else math.expm1(floor),
        verdict=verdict,
        detectable=None if detectable is None else math.expm1(detectable),
        note=note or _more(verdict, estimate, margin, (tolerance.alpha, level), result),
        p_harm=_p_over_units(estimate, harms),
    )


def pass_k_row(tolerance: ActivePassK, result: PairedResult) -> Row:
    """Hold the drop of active pass^k against its tolerance.

    Raises
    ------
    GateError
        When nobody says which trials were active, the common subset is empty, or no candidate could fail.
    """
    level = fail_alpha(tolerance, 1)
    try:
        estimate, interval = _both_sides(
            lambda a: pass_k_estimate(result, tolerance.k, alpha=a), tolerance.alpha, level
        )
    except ValueError as error:
        raise GateError(str(error)) from error
    before = pass_k_of_baseline(result, tolerance.k)
    if before < tolerance.drop and not result.stopped:
        raise GateError(
            f"the baseline's active pass^{tolerance.k} is {100 * before:.1f} %: no candidate can lose the tolerance "
            f"of {100 * tolerance.drop:g} pp, so a pass would say nothing; does an episode ever succeed "
            "(success=True, or a score of 1)? Else declare a smaller drop"
        )
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
        detectable=_detectable(estimate, level, tolerance),
        note=estimate.undecided_because
        or _more(verdict, estimate, tolerance.drop, (tolerance.alpha, level), result),
        p_harm=harm_p_value(estimate) if estimate.undecided_because is None else None,
    )


def _both_sides(estimator: Estimator, alpha: float, level: float) -> tuple[HarmEstimate, Interval]:
    """Return the estimate and the decision interval: its low end at the FAIL side's level, its high end at alpha."""
    upper = estimator(alpha)
    lower = upper if level == alpha else estimator(level)
    return upper, Interval(lower.interval.low, upper.interval.high)


def _over_units(
    tolerance: SwapPenalty,
    result: PairedResult,
    harms: FloatArray,
    metric: Literal["score", "cost"],
    level: float,
) -> tuple[HarmEstimate, Interval, str]:
    """Return estimate and decision interval over units, and what the interval rests on where no noise was seen."""
    word = result.unit_word
    if len(harms) < MIN_UNITS:
        raise GateError(f"{len(harms)} {word}(s) measured, at least {MIN_UNITS} are needed for any interval")
    planned = planned_sd(tolerance, metric, word=word, trials=result.trials)
    note = ""
    if alike(harms):
        if metric == "score":
            what, spread = f"harm on the score, {100 * harms[0]:+.3g} pp", f"{100 * planned:.1f} pp"
        else:
            what, spread = (
                f"change of the cost, {100 * math.expm1(harms[0]):+.3g} %",
                f"{100 * planned:.0f} %",
            )
        note = (
            f"every {word} shows the same {what}: its noise was not seen, and the planned spread of {spread} between "
            f"{word}s stands in for it"
        )
    estimate, interval = _both_sides(
        lambda a: continuous_harm(harms, alpha=a, sd_if_alike=planned), tolerance.alpha, level
    )
    return estimate, interval, note


def _p_over_units(estimate: HarmEstimate, harms: FloatArray) -> float | None:
    # A planned spread that stands in for an unseen one gives a cautious interval, but no test of what was measured.
    return None if alike(harms) else harm_p_value(estimate)


def _check_score_tells(result: PairedResult, tolerance: float) -> None:
    """Refuse scores that could not have shown a loss of the size of the tolerance."""
    if result.stopped:
        return
    mean = result.mean_score("baseline")
    if mean < tolerance:
        raise GateError(
            f"the baseline scores {100 * mean:.1f} % on average: no candidate can lose the tolerance of "
            f"{100 * tolerance:g} pp, so a pass would say nothing; check the tasks and what judges them, or declare a "
            "smaller tolerance"
        )
    scores = {episode.score for cell in result.cells for pair in cell.valid for episode in pair}
    if len(scores) == 1 and mean < 1:
        raise GateError(
            f"every episode of both arms scored {mean:.3g}: a score that never varies cannot show a loss; check what "
            "judges them"
        )


def _floor(harms: FloatArray | None, units: int, alpha: float) -> float | None:
    if harms is None or len(harms) < 2:
        return None
    return noise_floor_units(units, sd=float(np.std(harms, ddof=1)), alpha=alpha)


def _detectable(estimate: HarmEstimate, level: float, tolerance: Tolerance) -> float | None:
    if estimate.sd <= 0:
        return None
    if estimate.df is None:
        discordance = min(estimate.sd**2 + estimate.harm**2, 1.0)
        try:
            return detectable_effect_pairs(
                estimate.n, discordance=discordance, alpha=level, power=tolerance.power
            )
        except ValueError:
            return None  # so few discordant pairs that no harm is large enough
    multiplier = deciding_multiplier(
        estimate.n, alpha=tolerance.alpha, fail_alpha=level, power=tolerance.power
    )
    return multiplier * estimate.sd


def _more(
    verdict: Verdict,
    estimate: HarmEstimate,
    margin: float,
    levels: tuple[float, float],
    result: PairedResult,
) -> str:
    """Say how many units would decide an inconclusive row, if the estimate stayed as it is."""
    word = result.unit_word
    # Stopped: the rest of the plan comes first. Looks: a new run has looks of its own.
    if verdict is not Verdict.INCONCLUSIVE or result.stopped or result.looks:
        return ""
    needed = pairs_to_decide(estimate, margin, alpha=levels[0], fail_alpha=levels[1])
    if needed is None:
        return f"no number of {word}s decides this estimate"
    unit = "pairs" if estimate.df is None else f"{word}s"
    return f"about {max(needed - estimate.n, 1)} more {unit} decide it in a new run, if the estimate stays"
