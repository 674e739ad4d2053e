"""The decision: a paired result and a declared tolerance become a report."""

from __future__ import annotations

from functools import partial

from pytest_swapgate.gate import wording
from pytest_swapgate.gate.losses import uneven_losses
from pytest_swapgate.gate.planning import fail_alpha
from pytest_swapgate.gate.rows import cost_row, pass_k_row, score_row
from pytest_swapgate.gate.stopped import MakeRow, report_stopped
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError, GateReport
from pytest_swapgate.models.registry import is_simulated
from pytest_swapgate.stats import Verdict, require_valid_trials
from pytest_swapgate.studies.paired import PairedResult


def judge(tolerance: Tolerance, result: PairedResult, *, nodeid: str) -> GateReport:
    """Decide one gate.

    Raises
    ------
    GateError
        When there is no honest outcome: too many lost trials, no units, nothing to form a cost from. A result that was
        stopped before its plan is inconclusive instead.
    """
    if result.stopped:
        return report_stopped(tolerance, result, _row_makers(tolerance, result), nodeid=nodeid)
    check_coverage(result)
    result = result.complete()
    rows = [make(result) for make in _row_makers(tolerance, result).values()]
    verdict = worst([row.verdict for row in rows])
    reason, lines = wording.reason(verdict, rows), wording.lines(tolerance, result, rows)
    uneven = uneven_losses(result)
    if uneven and verdict is Verdict.PASS:
        verdict, reason, lines = Verdict.INCONCLUSIVE, uneven, (uneven, *lines)
    return GateReport(
        gate=tolerance.marker,
        nodeid=nodeid,
        verdict=verdict,
        reason=reason,
        rows=tuple(rows),
        baseline=result.baseline,
        candidate=result.candidate,
        lines=lines,
        simulated=any(map(is_simulated, result.models)),
        alpha=tolerance.alpha,
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


def _row_makers(tolerance: Tolerance, result: PairedResult) -> dict[str, MakeRow]:
    """Return metric -> what forms its row; a cost only where messages were exchanged."""
    if isinstance(tolerance, ActivePassK):
        return {f"pass^{tolerance.k}": partial(pass_k_row, tolerance)}
    if not isinstance(tolerance, SwapPenalty):
        raise TypeError(f"no rule for {type(tolerance).__name__}")
    gates_cost = tolerance.cost is not None and not tolerance.sequential
    if gates_cost and not result.measures_cost:
        if not result.stopped and (tolerance.score is None or tolerance.explicit("cost")):
            raise GateError(
                "cost was declared but no messages were exchanged: return an Episode with messages and subtasks "
                "from both arms, or declare cost=None"
            )
        gates_cost = False
    level = fail_alpha(tolerance, max(1, (tolerance.score is not None) + gates_cost))
    makers: dict[str, MakeRow] = {}
    if tolerance.score is not None:
        makers["score"] = partial(score_row, tolerance, level=level)
    if gates_cost:
        makers["cost"] = partial(cost_row, tolerance, level=level)
    return makers
