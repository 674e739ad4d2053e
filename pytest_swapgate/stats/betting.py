"""Betting e-process: a verdict that may be looked at after every pair, for open-ended runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ._check import FloatArray, fail, real, reals
from .verdict import Verdict

_BETS = np.arange(1, 7) / 10  # shares of the largest admissible stake


class Bets(NamedTuple):
    """Evidence after each pair, and where it reached a verdict."""

    against_no_harm: FloatArray
    """Capital won against "harm <= 0", after each pair."""

    against_intolerable: FloatArray
    """Capital won against "harm >= tolerance", after each pair."""

    pairs: int | None
    """Pairs at the first crossing of 1 / alpha; None if neither capital reached it."""

    verdict: Verdict
    """FAIL or PASS at that crossing, else INCONCLUSIVE."""


def betting_e_process(differences: ArrayLike, *, tolerance: float, alpha: float = 0.05) -> Bets:
    """Bet on harm and on its absence, pair after pair; stop when one capital reaches 1 / alpha.

    Parameters
    ----------
    differences : array_like, shape (n,)
        Baseline minus candidate of independent pairs in the order played, each in [-1, 1].
    tolerance : float
        Declared tolerance M, in (0, 1).
    alpha : float
        Level of each side, in (0, 0.5): it holds at any stopping time (Ville's inequality).

    Returns
    -------
    Bets
        Capitals are means over a grid of stakes lambda of ``prod (1 + lambda X_i)``, with ``X = d`` against
        "harm <= 0" and ``X = M - d`` against "harm >= M".

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Journal of the Royal Statistical Society B 86, 1-27.
    """
    d = reals("differences", differences, what="differences in [-1, 1]")
    if not bool((np.abs(d) <= 1).all()):
        raise fail("differences", differences, "numbers in [-1, 1]")
    margin = real("tolerance", tolerance, above=0.0, below=1.0)
    alpha = real("alpha", alpha, above=0.0, below=0.5)
    harm = capital(d, 1.0)
    safe = capital(margin - d, 1.0 - margin)
    reached = (harm >= 1 / alpha) | (safe >= 1 / alpha)
    if not bool(reached.any()):
        return Bets(harm, safe, None, Verdict.INCONCLUSIVE)
    first = int(np.argmax(reached))
    verdict = Verdict.PASS if safe[first] >= harm[first] else Verdict.FAIL
    return Bets(harm, safe, first + 1, verdict)


def capital(winnings: FloatArray, largest_loss: float) -> FloatArray:
    """Mean over stakes of the capital after each bet, along the last axis; no bet loses more than the stake."""
    stakes = _BETS / largest_loss
    growth = np.cumsum(np.log1p(winnings[..., None, :] * stakes[:, None]), axis=-1)
    top = growth.max(axis=-2, keepdims=True)
    log_mean = top[..., 0, :] + np.log(np.exp(growth - top).mean(axis=-2))
    result: FloatArray = np.exp(np.minimum(log_mean, 700.0))
    return result
