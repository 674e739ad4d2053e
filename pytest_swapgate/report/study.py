"""A swap study as a table: condition means, then V, Pi, rho, W, Sigma."""

from __future__ import annotations

from pytest_swapgate.report.family import shown_p
from pytest_swapgate.stats import benjamini_hochberg
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
    adjusted = _adjusted(study)
    head = f"{'p (BH)':>9}" if adjusted else ""
    lines += ["", f"{'quantity':<10}{'score ' + level:>28}{head}{'cost ' + level:>32}{head}"]
    for score_side, cost_side in zip(study.score, study.cost, strict=True):
        name = score_side.name
        points = study.scale if name != "rho" else 1.0
        of_score, of_cost = _cell(score_side, study["V"], points), _cell(cost_side, study["V_C"], 1.0)
        p_score, p_cost = (
            f"{adjusted.get((side, name), '-'):>9}" if adjusted else "" for side in ("score", "cost")
        )
        lines.append(f"{name:<10}{of_score:>28}{p_score}{of_cost:>32}{p_cost}")
    lines.append(
        f"intervals by t over {study.pairs} swap pairs; V, Pi, W: larger is worse for the changed team; rho = Pi / V"
    )
    if adjusted:
        effects = "the one effect" if len(adjusted) == 1 else f"the {len(adjusted)} effects"
        lines.append(
            f"p (BH): two-sided, by t over the same pairs, Benjamini-Hochberg over {effects}; decides nothing"
        )
    if any(ALIKE in line for line in lines):
        lines.append(f"{ALIKE}: every swap pair shows this value; without any spread there is no interval")
    return "\n".join(lines)


def _adjusted(study: SwapStudy) -> dict[tuple[str, str], str]:
    """Return (side, name) -> adjusted p-value as text, of every effect that has one."""
    sides = (("score", study.score), ("cost", study.cost))
    found = {
        (side, contrast.name): contrast.p
        for side, contrasts in sides
        for contrast in contrasts
        if contrast.p is not None
    }
    if not found:
        return {}
    adjusted = benjamini_hochberg(list(found.values()))
    return {key: shown_p(float(p)).removeprefix("= ") for key, p in zip(found, adjusted, strict=True)}


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
