"""Exact probabilities of a binary plan's verdicts, and of the tests, by enumerating every table."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from pytest_swapgate.stats import _special as special

from ._check import FloatArray, IntArray, both_levels, choice, count, fraction, probability, real
from .harm import gate_limits
from .paired_tests import exact_sign_test, midp_mcnemar
from .verdict import rule

NEGLIGIBLE = 1e-15  # tables less likely than this are left out


class VerdictRates(NamedTuple):
    """Probabilities of the three verdicts; they add up to 1."""

    passed: float
    failed: float
    inconclusive: float


def trinomial(harm: float, discordance: float) -> tuple[float, float, float]:
    """Probabilities of a harm-discordant, a benefit-discordant and a concordant pair (checked)."""
    pd = probability("discordance", discordance)
    h = real("harm", harm, at_least=-1.0, at_most=1.0)
    if abs(h) > pd:
        raise ValueError(f"harm must be at most the discordance {pd:g} in size, got {h:g}")
    return (pd + h) / 2, (pd - h) / 2, 1 - pd


def tables(n: int, probabilities: tuple[float, float, float]) -> tuple[IntArray, IntArray, FloatArray]:
    """Every likely (b, c) of n pairs and its probability."""
    p, q, _ = probabilities
    m = np.arange(n + 1)
    weight = _binomial(m, n, p + q)
    m = m[weight > NEGLIGIBLE]
    b = np.concatenate([np.arange(k + 1) for k in m])
    total = np.repeat(m, m + 1)
    share = p / (p + q) if p + q > 0 else 0.0
    weight = _binomial(total, n, p + q) * _binomial(b, total, share)
    keep = weight > NEGLIGIBLE
    return b[keep], (total - b)[keep], weight[keep]


def _binomial(k: IntArray, n: IntArray | int, p: float) -> FloatArray:
    n = np.asarray(n)
    log_choose = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    result: FloatArray = np.exp(log_choose + special.xlogy(k, p) + special.xlog1py(n - k, -p))
    return result


def verdict_rates(
    n: int,
    *,
    harm: float,
    discordance: float,
    tolerance: float,
    alpha: float = 0.05,
    fail_alpha: float | None = None,
    tau2: float = 0.0,
    sessions: int = 1,
) -> VerdictRates:
    """Exact probabilities of PASS, FAIL and INCONCLUSIVE of a binary gate at a true harm.

    Parameters
    ----------
    n : int
        Pairs, >= 1.
    harm : float
        True harm, at most the discordance in size.
    discordance : float
        True share of discordant pairs, in [0, 1].
    tolerance : float
        Declared tolerance M, in (0, 1].
    alpha : float
        One-sided level, in (0, 0.5).
    fail_alpha : float, optional
        Level of the FAIL side where a family shares alpha; in (0, alpha], alpha if left out.
    tau2, sessions : float, int
        Session variance (>= 0) that the gate allows for, and its sessions (>= 1). (The enumerated pairs themselves do
        not drift.)

    Returns
    -------
    VerdictRates
        ``failed`` at ``harm = tolerance`` is the power, ``passed`` there the false-PASS rate, ``failed`` at
        ``harm = 0`` the false-alarm rate.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    The gate's own rule; docs/statistics.md, "How often it is wrong". Tango (1998), Statistics in Medicine 17,
    891-908 (the interval).
    """
    n = count("n", n, minimum=1)
    margin = real("tolerance", tolerance, above=0.0, at_most=1.0)
    alpha, side = both_levels(alpha, fail_alpha)
    drift = real("tau2", tau2, at_least=0.0) / count("sessions", sessions, minimum=1)
    b, c, weight = tables(n, trinomial(harm, discordance))
    passed, failed = rule(
        *gate_limits(b, c, n, alpha=alpha, fail_alpha=side, margin=margin, drift=drift), margin
    )
    yes, no = float(weight[passed].sum()), float(weight[failed].sum())
    return VerdictRates(yes, no, max(0.0, 1 - yes - no))


def exact_test_power(
    n: int,
    *,
    harm: float,
    discordance: float,
    alpha: float = 0.05,
    test: Literal["midp", "sign"] = "midp",
) -> float:
    """Exact power of a two-sided test of no harm over n pairs.

    Parameters
    ----------
    n, harm, discordance
        As in `verdict_rates`.
    alpha : float
        Two-sided level, in (0, 1).
    test : {'midp', 'sign'}
        `midp_mcnemar` or `exact_sign_test`.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91 (power by complete enumeration).
    """
    n = count("n", n, minimum=1)
    alpha = fraction("alpha", alpha)
    p_value = midp_mcnemar if choice("test", test, ("midp", "sign")) == "midp" else exact_sign_test
    b, c, weight = tables(n, trinomial(harm, discordance))
    total = b + c
    power = 0.0
    for m in np.unique(total):
        # The p-value falls with |b - c|: find the smallest rejected majority of this number of discordant pairs
        majority = int(m) + 1
        while majority - 1 >= m - (majority - 1) and p_value(majority - 1, int(m) - majority + 1) <= alpha:
            majority -= 1
        here = total == m
        power += float(weight[here][np.maximum(b, c)[here] >= majority].sum())
    return power
