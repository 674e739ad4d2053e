"""Infrastructure failures that fall on one arm: perhaps no outage, but the change itself."""

from __future__ import annotations

from pytest_swapgate.studies.paired import PairedResult

_LEVEL = 0.001
_SHARE = 0.05
"""Difference of the shares of lost attempts that matters, if it is also too large for chance."""


def uneven_losses(result: PairedResult) -> str:
    """Say that one arm was lost to the infrastructure far more often than the other; empty if it was not.

    Lost episodes are played again, so a candidate that times out where the baseline does not would be measured on its
    lucky attempts only.
    """
    played, lost = zip(*(result.attempts(arm) for arm in ("baseline", "candidate")), strict=True)
    if not sum(lost):
        return ""
    shares = [part / whole for part, whole in zip(lost, played, strict=True)]
    if abs(shares[1] - shares[0]) < _SHARE:
        return ""
    from scipy.stats import fisher_exact  # slow to import, and rarely needed

    table = [[lost[0], played[0] - lost[0]], [lost[1], played[1] - lost[1]]]
    if fisher_exact(table).pvalue >= _LEVEL:
        return ""
    worse, other = ("candidate", "baseline") if shares[1] > shares[0] else ("baseline", "candidate")
    high, low = max(shares), min(shares)
    return (
        f"{100 * high:.0f} % of the {worse}'s attempts were lost to timeouts and failing services, "
        f"{100 * low:.0f} % of the {other}'s: what falls on one arm may be the change itself, so no pass is given; "
        "run again when the services are well, or let the arm return a failure where it is at fault"
    )
