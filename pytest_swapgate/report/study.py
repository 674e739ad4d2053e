"""A swap study as a table: condition means, then V, Pi, rho, W, Sigma."""

from __future__ import annotations

from pytest_swapgate.studies.swap import NOT_INTERPRETABLE, Contrast, SwapStudy

ALIKE = "all pairs alike"


def render_study(study: SwapStudy) -> str:
    """Return the two tables of the swap test as text."""
    lines = [
        f"{'condition':<14}{study.unit + ' of ' + format(study.scale, 'g'):>12}{'messages per sub-task':>24}"
    ]
    for condition, score in study.score_means.items():
        lines.append(f"{condition.value:<14}{score:>12.1f}{study.cost_means[condition]:>24.3f}")
    level = f"{100 * study.confidence:.0f} %"
    lines += ["", f"{'quantity':<10}{'score ' + level:>30}{'cost ' + level:>34}"]
    for score_side, cost_side in zip(study.score, study.cost, strict=True):
        name = score_side.name
        points = study.scale if name != "rho" else 1.0
        of_score, of_cost = _cell(score_side, study["V"], points), _cell(cost_side, study["V_C"], 1.0)
        lines.append(f"{name:<10}{of_score:>30}{of_cost:>34}")
    lines.append(
        f"intervals by t over {study.pairs} swap pairs; V, Pi, W: larger is worse for the changed team; rho = Pi / V"
    )
    if any(ALIKE in line for line in lines):
        lines.append(f"{ALIKE}: every swap pair shows this value; without any spread there is no interval")
    return "\n".join(lines)


def _cell(contrast: Contrast, value: Contrast, scale: float) -> str:
    """Write one quantity; V, which rho is a ratio to, says why there is no rho."""
    if contrast.value is None:
        return "V has no interval" if value.value and value.interval is None else NOT_INTERPRETABLE
    digits = 1 if scale > 1 else 3 if contrast.name != "rho" else 2
    shown = f"{scale * contrast.value:+.{digits}f}"
    if contrast.interval is None:
        return f"{shown}, {ALIKE}"
    low, high = contrast.interval
    return f"{shown} [{scale * low:+.{digits}f}, {scale * high:+.{digits}f}]"
