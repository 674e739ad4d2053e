"""Tests of no harm in paired binary outcomes: mid-p McNemar, exact sign test, asymptotic McNemar."""

from __future__ import annotations

import numpy as np

from pytest_swapgate.stats import _special as special

from ._check import choice, count, fail
from ._quantiles import chi2_tail

_ALTERNATIVES = ("two-sided", "greater", "less")

MAX_DISCORDANT = 10**12
"""Largest count of discordant pairs that is accepted."""


def _counts(b: int, c: int, alternative: str) -> tuple[int, int]:
    choice("alternative", alternative, _ALTERNATIVES)
    found = count("b", b), count("c", c)
    for name, number in zip("bc", found, strict=True):
        if number > MAX_DISCORDANT:
            raise fail(name, number, f"a whole number <= {MAX_DISCORDANT}")
    return found


def _tail(k: int, m: int, *, mid: bool) -> float:
    """P(X >= k), or P(X > k) + P(X = k) / 2, for X binomial(m, 1/2)."""
    at_least = _at_least(k, m)
    return 0.5 * (at_least + _at_least(k + 1, m)) if mid else at_least


def _at_least(k: int, m: int) -> float:
    if k <= 0 or k > m:
        return 1.0 if k <= 0 else 0.0
    # not special.bdtrc: its counts are 32-bit integers
    return float(special.betainc(float(k), float(m - k + 1), 0.5))


def _p_value(b: int, c: int, alternative: str, *, mid: bool) -> float:
    m = b + c
    if alternative == "greater":
        return _tail(b, m, mid=mid)
    if alternative == "less":
        return _tail(c, m, mid=mid)
    return min(1.0, 2 * _tail(max(b, c), m, mid=mid))


def midp_mcnemar(b: int, c: int, *, alternative: str = "two-sided") -> float:
    """Mid-p McNemar test: the p-value of no harm.

    Parameters
    ----------
    b, c : int
        Harm-discordant and benefit-discordant pairs, >= 0 and at most 10^12 each.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for harm.

    Returns
    -------
    float
        The exact sign-test p-value with half the probability of the observed table; 1 without discordant pairs.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91.
    """
    b, c = _counts(b, c, alternative)
    return 1.0 if b + c == 0 else _p_value(b, c, alternative, mid=True)


def exact_sign_test(b: int, c: int, *, alternative: str = "two-sided") -> float:
    """Exact conditional (binomial) test of no harm; conservative, kept for reproduction.

    Parameters
    ----------
    b, c : int
        Harm-discordant and benefit-discordant pairs, >= 0 and at most 10^12 each.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for harm.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Dixon and Mood (1946), Journal of the American Statistical Association 41, 557-566; Fagerland, Lydersen and
    Laake (2013), BMC Medical Research Methodology 13:91.
    """
    b, c = _counts(b, c, alternative)
    return _p_value(b, c, alternative, mid=False)


def mcnemar(b: int, c: int, *, correction: bool = False) -> float:
    """Asymptotic McNemar test (two-sided): chi-square of ``(b - c)^2 / (b + c)``.

    Parameters
    ----------
    b, c : int
        Discordant pairs, >= 0 and at most 10^12 each.
    correction : bool
        Edwards' continuity correction, ``(|b - c| - 1)^2``.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157.
    """
    b, c = _counts(b, c, "two-sided")
    if not isinstance(correction, (bool, np.bool_)):
        raise fail("correction", correction, "True or False")
    if b + c == 0:
        return 1.0
    gap = max(abs(b - c) - (1 if correction else 0), 0)
    return chi2_tail(gap * gap / (b + c), 1)
